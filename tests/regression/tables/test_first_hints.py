"""What commands print about tables that do not suit them, before anything else goes wrong."""

from __future__ import annotations

import random
from pathlib import Path

import numpy as np
import pytest
from chains import replace
from command_line import refusal, run, run_json, succeed
from flower_tables import Write
from model_factory import random_model
from refusals import refuses

from protonn_edge.model.file import save_model

VALUES = np.random.default_rng(0).normal(20, 5, 40).round(2).tolist()
ROWS = [[value, row % 7, "ab"[row % 2]] for row, value in enumerate(VALUES)]


def test_rows_that_are_in_both_parts_are_counted(write: Write, tmp_path: Path) -> None:
    model = tmp_path / "m.npz"
    path = write(ROWS + ROWS[:30], ["x", "y", "label"])
    done = run_json("train", path, "-o", model, "--classifier", "linear")
    (told,) = (each["text"] for each in done["notices"] if each["kind"] == "training_rows")
    assert "of the 14 held-out points are also training points" in told
    alone = run_json("train", write(ROWS, ["x", "y", "label"]), "-o", model, "--holdout", 0.3)
    assert "training_rows" not in {each["kind"] for each in alone["notices"]}


def test_features_of_one_name_are_matched_by_their_order(write: Write, tmp_path: Path) -> None:
    names = ("x", "x", "y")
    model = replace(random_model(features=3, classes=2), feature_names=names)
    save_model(model, tmp_path / "m.npz")
    rows = [[row % 9, row % 7, row % 5, "class 0"] for row in range(20)]
    first = run_json("predict", tmp_path / "m.npz", write(rows, [*names, "label"]))
    other = write([row[::-1] for row in rows], ["label", "y", "x", "x"])
    assert first["n"] == 20
    assert "several features named 'x'" in refusal(run("predict", tmp_path / "m.npz", other))


def test_inspect_refuses_points_before_it_prints(write: Write, tmp_path: Path) -> None:
    save_model(random_model(features=2, classes=2), tmp_path / "m.npz")
    refuses(run("inspect", tmp_path / "m.npz", "--data", write(ROWS)), "data.dataset")


@pytest.mark.parametrize("columns", ["", "80"])
def test_a_pipe_gets_tables_in_full_width(
    write: Write, monkeypatch: pytest.MonkeyPatch, columns: str
) -> None:
    monkeypatch.delenv("COLUMNS")
    if columns:
        monkeypatch.setenv("COLUMNS", columns)
    names = [f"class {random.Random(number).random()}" for number in range(12)]
    path = write([[row, row % 7, names[row % 12]] for row in range(120)], ["x", "y", "label"])
    (line,) = (each for each in succeed("data", path).stdout.splitlines() if "12 classes" in each)
    assert all(name in line for name in names) != bool(columns)
