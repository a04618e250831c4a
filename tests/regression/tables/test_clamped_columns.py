"""A whole column in another unit was only a share of clamped values, without its name.

Nor was a constant one named.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from command_line import succeed
from flower_tables import Write

NAMES = ("heat", "speed", "label")


def points(write: Write, factor: float, rows: int = 60) -> Path:
    heat, speed = np.random.default_rng(0).uniform(1, 2, (2, rows))
    table = [
        [f"{a * factor:.4f}", f"{b:.4f}", "ab"[int(a > 1.5)]]
        for a, b in zip(heat, speed, strict=True)
    ]
    return write(table, NAMES)


def test_a_column_in_another_unit_is_named(write: Write, tmp_path: Path) -> None:
    model = tmp_path / "m.npz"
    succeed("train", points(write, 1), "-o", model, "--classifier", "linear")
    assert "most values" not in succeed("predict", model, points(write, 1)).stderr
    done = succeed("predict", model, points(write, 1000))
    assert "warning: most values of 1 of 2 features are outside" in done.stderr
    assert "are clamped: 'heat'; check the units" in done.stderr
    assert "most values" not in succeed("predict", model, points(write, 1000, rows=4)).stderr


def test_a_column_that_is_constant_in_new_data_alone_is_named(write: Write, tmp_path: Path) -> None:
    model, new = tmp_path / "m.npz", tmp_path / "new.csv"
    succeed("train", points(write, 1), "-o", model, "--classifier", "linear")
    for heat, is_said in (("1.42", True), ("1.0", False)):  # nearly the least heat in training
        new.write_text("heat,speed\n" + "".join(f"{heat},1.{n}\n" for n in range(10, 40)))
        done = succeed("predict", model, new)
        assert is_said == ("1 of 2 features have the same value in all 30" in done.stderr)
