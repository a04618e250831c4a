"""Tables with answers that `predict` wrote, and with units in the names of a model's columns."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from chains import replace
from command_line import refusal, run, run_json
from model_factory import random_model, random_points

from protonn_edge.model.file import save_model


@pytest.fixture
def model(tmp_path: Path) -> Path:
    """Return the file of a model of the features a, b and c."""
    path, names = tmp_path / "m.npz", ("a", "b", "c")
    save_model(replace(random_model(4, features=3, classes=3), feature_names=names), path)
    return path


def test_names_with_units_are_no_samples_of_windows(model: Path, tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_text("a (V),b (V),c (V)\n1,2,3\n2,3,5\n")
    assert "rename columns" in refusal(run("predict", model, tmp_path / "x.csv"))


def test_answers_of_before_are_no_labels(model: Path, tmp_path: Path) -> None:
    """The accuracy of a model on its own answers was 100 %."""
    X = random_points(4, 40, 3)
    np.savetxt(tmp_path / "x.csv", X, delimiter=",", header="a,b,c", comments="")
    run_json("predict", model, tmp_path / "x.csv", "-o", tmp_path / "y.csv")
    again = run_json("predict", model, tmp_path / "y.csv", "-o", tmp_path / "z.csv")
    assert "accuracy" not in again
    assert (tmp_path / "z.csv").read_text().startswith("a,b,c,predicted_class,predicted_class_2\n")
