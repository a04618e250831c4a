"""Model files of every format that there was are built, and answer as their integers do."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from avr_tools import needs_emulated_avr
from command_line import run_json

from protonn_edge.chain.file import load_model
from protonn_edge.quantization import quantize

FILES = Path(__file__).parents[1] / "model"
SAME_INTEGERS = {"format_1": ("format_2", "format_3", "format_4")}


def test_formats_that_added_nothing_to_a_model_have_the_same_integers() -> None:
    for name, others in SAME_INTEGERS.items():
        hashes = {
            quantize(load_model(FILES / f"{each}.npz")).model_sha256 for each in (name, *others)
        }
        assert len(hashes) == 1


@needs_emulated_avr
@pytest.mark.parametrize("name", ["format_1", "format_5", "format_6"])
def test_a_model_in_an_old_file_has_no_mismatches(tmp_path: Path, name: str) -> None:
    model = load_model(FILES / f"{name}.npz")
    rng = np.random.default_rng(0)
    spread = model.inputs.upper.max() - model.inputs.lower.min()
    X = model.inputs.lower.min() + spread * rng.random((20, model.n_features))
    y = np.array(model.classes)[np.arange(20) % model.n_classes]
    points = tmp_path / "points.npz"
    np.savez(points, X_train=X[:0], y_train=y[:0], X_test=X.astype(np.float32), y_test=y)
    record = run_json("verify", FILES / f"{name}.npz", points)
    assert [each["mismatches"] for each in record["executions"]] == [0, 0]
