"""Tables as factories have them do not mislead the messages of training."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from command_line import run, run_json
from flower_tables import Write

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


def test_weighted_classes_are_compared_with_a_constant_by_mean_recall(
    write: Write, tmp_path: Path
) -> None:
    options = ("-o", tmp_path / "m.npz", "--classifier", "linear", "--class-weight")
    learned = write(parts(400, 20), HEADER, name="learned.csv")
    printed = run_json("train", learned, *options, "balanced")
    assert printed["train_accuracy"] < 0.95  # less than always answering 'good'
    assert "chance" not in {each["kind"] for each in printed["notices"]}
    noise = [[*row[:1], row[2], row[2], row[3]] for row in parts(400, 20)]
    done = run("train", write(noise, HEADER, name="noise.csv"), *options, "balanced")
    assert "correctly, as a mean over the classes, which is not clearly better" in done.stderr
    assert "(50.00 %)" in done.stderr
