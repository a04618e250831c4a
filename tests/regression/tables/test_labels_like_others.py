"""A table was read as a model."""

from __future__ import annotations

from pathlib import Path

from command_line import run
from flower_tables import Write
from refusals import refuses

HEAD = ["x", "y", "label"]
ROWS = [[0.5 * row, row % 7, ("idle", "running")[row % 2]] for row in range(60)]


def test_a_table_in_place_of_a_model_is_called_one(write: Write, tmp_path: Path) -> None:
    path = write(ROWS, HEAD)
    refuses(run("build", path, "-o", tmp_path / "project"), "cli.paths")
