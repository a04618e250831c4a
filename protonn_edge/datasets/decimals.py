"""Cells of a table as numbers, with decimal points or decimal commas."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from protonn_edge.datasets.cells import is_number, with_point
from protonn_edge.datasets.columns import Column
from protonn_edge.datasets.dataset import FLOAT32_MAX, Float32
from protonn_edge.errors import InputError


@dataclass
class Decimals:
    """Whether the numbers of a file have decimal points or decimal commas, but not both."""

    point: bool = False
    comma: bool = False


def numbers_of(cells: Sequence[str], delimiter: str, decimals: Decimals) -> Float32 | None:
    """Return cells as numbers, or None if one of them is not a number."""
    joined = "".join(cells)
    if "_" in joined:
        return None
    if delimiter != ",":
        decimals.point = decimals.point or "." in joined
        decimals.comma = decimals.comma or "," in joined
        if decimals.comma and decimals.point:
            return None
        if decimals.comma:
            cells = [with_point(cell) for cell in cells]
    try:
        values = np.fromiter(map(float, cells), dtype=np.float64, count=len(cells))
    except ValueError:
        return None
    if values.size and not np.abs(values).max() <= FLOAT32_MAX:  # false for NaN, too
        return None
    numbers: Float32 = values.astype(np.float32)
    return numbers


def first_bad(cells: Sequence[str], delimiter: str) -> int:
    """Return which cell is not a number; if all are, which has a point where others have commas."""
    read = str if delimiter == "," else with_point
    for index, cell in enumerate(cells):
        if not is_number(read(cell)):
            return index
    return next((index for index, cell in enumerate(cells) if "." in cell), 0)


def bad_cell(where: str, cell: str, column: Column, decimals: Decimals) -> InputError:
    """Return the error for a cell that is not a number."""
    if decimals.comma and decimals.point and is_number(with_point(cell)):
        return InputError(
            f"{where} has {cell[:40]!r} in column {column.index + 1}, but the table has decimal "
            "points and decimal commas; write all numbers in the same way"
        )
    return InputError(
        f"{where} has {cell[:40]!r} in column {column.index + 1}, which is not a finite number; "
        "fix or drop the row"
    )
