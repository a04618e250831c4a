"""Write the golden files anew: ``python tests/audio/renew_golden.py``; read the difference."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))

from audio_factory import audio_of
from model_factory import tiny_integer_model

from protonn_edge.codegen import render_c
from protonn_edge.codegen.planner import plan_of
from protonn_edge.stages.input_quantizer.quantizer import InputQuantizer
from protonn_edge.system.files import write_atomically


def rendered() -> dict[str, str]:
    """Return the files of the tiny model for two frames of three bands."""
    inputs = InputQuantizer(zero=np.zeros(6), step=np.ones(6), maximum=127)
    model = replace(tiny_integer_model(), inputs=inputs, feature_stage=audio_of(3, 2, 128))
    plan = plan_of(model, {"feeding": "streamed", "projection": "columns"})
    return render_c(model, plan)


if __name__ == "__main__":
    folder = Path(__file__).parent / "golden"
    folder.mkdir(exist_ok=True)
    for name, text in rendered().items():
        write_atomically(folder / name, text)
