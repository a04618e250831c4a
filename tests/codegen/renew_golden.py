"""Write the golden files anew: ``python tests/codegen/renew_golden.py``; read the difference."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from model_factory import tiny_integer_model, tiny_reduced_model

from protonn_edge.codegen import render_c
from protonn_edge.files import write_atomically

MODELS = {"golden": tiny_integer_model, "golden_reduced": tiny_reduced_model}

if __name__ == "__main__":
    for folder, model in MODELS.items():
        for name, text in render_c(model()).items():
            write_atomically(Path(__file__).parent / folder / name, text)
