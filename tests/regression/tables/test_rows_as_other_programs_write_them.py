"""A comma after each row, R's row names, comments and blanks as delimiters were refused."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from refusals import refused_by

from protonn_edge.datasets import load_dataset

NOISE = np.random.default_rng(0).normal(0, 9, (40, 2)).round(2)
ROWS = [f"{x},{y},{'ab'[row % 2]}" for row, (x, y) in enumerate(NOISE)]


def read(tmp_path: Path, *lines: str) -> tuple[str, ...]:
    """Check that all numbers of a table are read; return the names of the features."""
    (tmp_path / "t.csv").write_text("\n".join(lines) + "\n", "utf-8")
    dataset = load_dataset(tmp_path / "t.csv")
    assert np.array_equal(dataset.X_train, NOISE.astype(np.float32))
    assert dataset.classes == ("a", "b")
    return dataset.feature_names


@pytest.mark.parametrize("header", ["x,y,label", "x,y,label,"])
def test_a_delimiter_after_each_row_is_no_column(tmp_path: Path, header: str) -> None:
    assert read(tmp_path, header, *(f"{row}," for row in ROWS)) == ("x", "y")


def test_a_delimiter_after_the_header_alone_is_no_column(tmp_path: Path) -> None:
    assert read(tmp_path, "x,y,label,", *ROWS) == ("x", "y")


@pytest.mark.parametrize("quote", ["", '"'])
def test_names_of_rows_need_none_in_the_header(tmp_path: Path, quote: str) -> None:
    rows = (f"{quote}{place}{quote},{row}" for place, row in enumerate(ROWS, start=1))
    assert read(tmp_path, "x,y,label", *rows) == ("x", "y")


def test_comments_above_the_header_are_skipped(tmp_path: Path) -> None:
    lines = ("# logger 3, firmware 1.2", "# 50 Hz", "x,y,label", *ROWS)
    assert read(tmp_path, *lines) == ("x", "y")


def test_a_header_in_the_middle_is_no_row(tmp_path: Path) -> None:
    assert read(tmp_path, "x,y,label", *ROWS[:20], "x,y,label", *ROWS[20:]) == ("x", "y")


@pytest.mark.parametrize("blanks", [" ", "   "])
def test_blanks_may_divide_columns(tmp_path: Path, blanks: str) -> None:
    assert read(tmp_path, *(row.replace(",", blanks) for row in ["x,y,label", *ROWS])) == ("x", "y")


@pytest.mark.parametrize("cell", ["7", "x"])
def test_a_filled_cell_after_a_row_is_refused_with_its_line(tmp_path: Path, cell: str) -> None:
    rows = [f"{row}," for row in ROWS * 6]
    rows[230] += cell
    with refused_by("datasets.tables"):
        read(tmp_path, "x,y,label", *rows)
