"""A typo in two labels became a class of its own without a word."""

from __future__ import annotations

from pathlib import Path

import pytest
from command_line import run, run_json
from flower_tables import Write
from refusals import refuses

HEAD = ["x", "y", "label"]
ROWS = [[0.5 * row, row % 7, ("idle", "running")[row % 2]] for row in range(60)]


@pytest.mark.parametrize(
    ("label", "rows", "question"),
    [
        ("runing", 2, "class 'runing' has only 2 points; did you mean 'running'?"),
        ("idel", 1, "class 'idel' has only 1 point; did you mean 'idle'?"),
        ("runing", 9, None),
        ("stopped", 2, None),
        ("running 2", 2, None),
    ],
)
def test_a_rare_label_that_resembles_another_is_questioned(
    write: Write, label: str, rows: int, question: str | None
) -> None:
    path = write(ROWS + [[1, 2, label]] * rows, HEAD)
    found = [each["text"] for each in run_json("data", path)["notices"]]
    assert [text for text in found if "did you mean" in text] == ([question] if question else [])


def test_a_table_in_place_of_a_model_is_called_one(write: Write, tmp_path: Path) -> None:
    path = write(ROWS, HEAD)
    refuses(run("build", path, "-o", tmp_path / "project"), "cli.paths")
