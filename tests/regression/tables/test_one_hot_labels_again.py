"""One-hot labels as words, and the training file of one-hot labels, read again by `predict`."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from command_line import run_json

from protonn_edge.datasets import load_dataset

CLASSES = ("walk", "run", "idle")


def write(path: Path, marks: tuple[str, str]) -> Path:
    generator = np.random.default_rng(0)
    rows = [
        ",".join([*(f"{x:.3f}" for x in generator.normal(row % 3, 1, 2)),
                  *(marks[row % 3 == place] for place in range(3))])
        for row in range(90)
    ]  # fmt: skip
    path.write_text("\n".join([",".join(["x", "y", *CLASSES]), *rows]) + "\n")
    return path


@pytest.mark.parametrize(
    "marks", [("0", "1"), ("no", "yes"), ("ja", "nein"), ("", "x"), ("-1", "1")]
)
def test_the_columns_are_the_classes(tmp_path: Path, marks: tuple[str, str]) -> None:
    dataset = load_dataset(write(tmp_path / "d.csv", marks))
    assert dataset.feature_names == ("x", "y")
    assert [dataset.classes[y] for y in dataset.y_train[:3]] == [*CLASSES]


def test_the_held_out_rows_of_the_training_file_are_found(tmp_path: Path) -> None:
    data, model = write(tmp_path / "d.csv", ("0", "1")), tmp_path / "m.npz"
    run_json("train", data, "--classifier", "linear", "-o", model)
    predicted = run_json("predict", model, data)
    assert predicted["n"] == 18
    assert predicted["accuracy"] > 0.5


def test_one_of_the_columns_may_lack_a_name(tmp_path: Path) -> None:
    path = write(tmp_path / "d.csv", ("0", "1"))
    path.write_text(path.read_text().replace("walk,run", "walk,"))
    dataset = load_dataset(path)
    assert dataset.feature_names == ("x", "y")
    assert {*dataset.classes} == {"walk", "column 4", "idle"}
