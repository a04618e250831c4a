"""The training part of data was left out without a word by `predict`."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from chains import replace
from command_line import run_json
from model_factory import random_model

from protonn_edge.model.file import save_model


def notices(*arguments: object) -> dict[str, str]:
    """Return the texts of a command's notices, by their kinds."""
    return {each["kind"]: each["text"] for each in run_json(*arguments).get("notices", [])}


@pytest.mark.parametrize("in_a_folder", [True, False])
def test_predict_reports_that_it_reads_only_the_test_part(
    tmp_path: Path, *, in_a_folder: bool
) -> None:
    model, data = tmp_path / "m.npz", tmp_path / "data"
    save_model(replace(random_model(4, features=3, classes=2), classes=("a", "b")), model)
    if in_a_folder:
        data.mkdir()
        (data / "train.txt").write_text("a\t1\t2\t4\nb\t2\t3\t5\n")
        (data / "test.txt").write_text("a\t1\t2\t4\n")
    else:
        data = data.with_suffix(".npz")
        X, y = np.ones((2, 3)), np.array(["a", "b"])
        np.savez(data, X_train=X, y_train=y, X_test=X, y_test=y)
    assert "only the points of the test part" in notices("predict", model, data)["test_part"]
    np.savez(tmp_path / "alone.npz", X=np.ones((2, 3)))
    assert "test_part" not in notices("predict", model, tmp_path / "alone.npz")
