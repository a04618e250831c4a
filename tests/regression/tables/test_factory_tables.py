"""Tables as factories and laboratories have them mislead neither training nor its messages."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from command_line import run, run_json, succeed
from flower_tables import Write
from refusals import refuses

from protonn_edge.datasets import load_dataset

HEADER = ("No.", "pressure", "force", "result")


def parts(n: int = 120, faults: int = 6) -> list[list[object]]:
    """Return numbered rows, of which some, with other pressures, are faults."""
    generator = np.random.default_rng(0)
    rows: list[list[object]] = []
    for row in range(n):
        fault = row % (n // faults) == 0
        values = generator.normal([8 if fault else 6, 50], 1).round(2).tolist()
        rows.append([row + 1, *values, "fault" if fault else "good"])
    return rows


def test_the_rows_of_a_part_are_still_numbered(write: Write) -> None:
    keep = np.random.default_rng(0).random(120) < 0.7
    for part in (keep, ~keep):
        rows = [row for row, kept in zip(parts(), part, strict=True) if kept]
        assert load_dataset(write(rows, HEADER)).feature_names == HEADER[1:3]


def test_another_month_may_go_on_counting(write: Write) -> None:
    later = [[row + 1200, *rest] for row, (_, *rest) in enumerate(parts())]
    assert load_dataset(write(later, HEADER)).feature_names == HEADER[1:3]


@pytest.mark.parametrize("step", [10, -1])
def test_a_first_column_may_count_in_any_steps(write: Write, step: int) -> None:
    rows = [[500 + step * row, *rest] for row, (_, *rest) in enumerate(parts())]
    assert load_dataset(write(rows, HEADER)).feature_names == HEADER[1:3]


def test_a_first_column_that_does_not_count_is_a_feature(write: Write) -> None:
    for step in (0, 7):
        rows = [[500 + step * row % 11, *rest] for row, (_, *rest) in enumerate(parts())]
        assert load_dataset(write(rows, HEADER)).feature_names == HEADER[:3]


@pytest.mark.parametrize("value", [-999, 9999])
def test_a_number_that_may_stand_for_gaps_is_reported(write: Write, value: int) -> None:
    rows = parts()
    for row in rows[10:13]:
        row[1] = value
    printed = run_json("data", write(rows, HEADER))
    texts = [each["text"] for each in printed["notices"] if each["kind"] == "stand_in"]
    assert len(texts) == 1
    assert texts[0].startswith(f"column 'pressure' has 3 cells with {value}, but otherwise only ")


def test_a_number_near_others_stands_for_itself(write: Write) -> None:
    rows = [[row, 90 + row % 10, -row % 1000, "ab"[row % 2]] for row in range(200)]
    printed = run_json("data", write(rows, HEADER))
    assert "stand_in" not in {each["kind"] for each in printed["notices"]}


def test_weighted_classes_are_compared_with_a_constant_by_mean_recall(
    write: Write, tmp_path: Path
) -> None:
    options = ("-o", tmp_path / "m.npz", "--classifier", "linear", "--set")
    learned = write(parts(400, 20), HEADER, name="learned.csv")
    printed = run_json("train", learned, *options, "class_weight=balanced")
    assert printed["train_accuracy"] < 0.95  # less than always answering 'good'
    assert "chance" not in {each["kind"] for each in printed["notices"]}
    noise = [[*row[:1], row[2], row[2], row[3]] for row in parts(400, 20)]
    done = run("train", write(noise, HEADER, name="noise.csv"), *options, "class_weight=balanced")
    assert "correctly, as a mean over the classes, which is not clearly better" in done.stderr
    assert "(50.00 %)" in done.stderr


def test_a_class_that_the_model_does_not_know_is_not_another_column(
    write: Write, tmp_path: Path
) -> None:
    model = tmp_path / "m.npz"
    succeed("train", write(parts(), HEADER), "-o", model, "--classifier", "linear")
    rows = parts()
    rows[7][-1] = "scratch"
    refused = run("inspect", model, "--data", write(rows, HEADER)).stderr
    assert "; correct the label, or leave out the rows with it" in refused
    other = [[*row[:3], f"operator {row[0]}"] for row in rows]
    refused = run("inspect", model, "--data", write(other, HEADER)).stderr
    assert "; correct the label, or leave out the rows with it" in refused


def test_a_single_class_is_one_for_anomaly_detection(write: Write, tmp_path: Path) -> None:
    path = write([[*row[:3], "good"] for row in parts()], HEADER)
    refuses(run("train", path, "-o", tmp_path / "m.npz"), "datasets.dataset")
