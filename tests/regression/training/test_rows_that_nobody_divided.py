"""Groups of rows, and which of them were held out, of data that no training divided."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
from command_line import run
from sklearn.datasets import load_iris

from protonn_edge.chain.file import save_model
from protonn_edge.datasets.row_sketch import RowSketch
from protonn_edge.kinds.protonn.train.classifier import ProtoNNClassifier


def test_groups_of_more_rows_are_counted(tmp_path: Path) -> None:
    X, y = load_iris(return_X_y=True)
    np.savez(tmp_path / "data.npz", X=X, y=y)
    (tmp_path / "names.txt").write_text("ann\n" * 200)
    model = ProtoNNClassifier(epochs=1, random_state=0).fit(X, y).to_model()
    rows = RowSketch(np.arange(3, dtype=np.uint64), np.packbits(np.arange(200) < 60))
    save_model(replace(model, training_rows=rows), tmp_path / "model.npz")
    teaching = "--teach", 1, "--groups", tmp_path / "names.txt"
    done = run("inspect", tmp_path / "model.npz", "--data", tmp_path / "data.npz", *teaching)
    assert "the groups have the shape (200,) for 150 points" in done.stderr


def test_a_record_of_other_data_holds_out_no_rows() -> None:
    rows = RowSketch(np.arange(3, dtype=np.uint64), np.zeros(0, np.uint8))
    assert rows.held_out_rows(203) is None
