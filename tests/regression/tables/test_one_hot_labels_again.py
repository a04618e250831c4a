"""The training file of one-hot labels is read again by `predict`."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from command_line import run_json

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


def test_the_held_out_rows_of_the_training_file_are_found(tmp_path: Path) -> None:
    data, model = write(tmp_path / "d.csv", ("0", "1")), tmp_path / "m.npz"
    run_json("train", data, "--classifier", "linear", "-o", model)
    predicted = run_json("predict", model, data)
    assert predicted["n"] == 18
    assert predicted["accuracy"] > 0.5
