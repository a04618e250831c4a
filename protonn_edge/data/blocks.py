"""Rows of a table that have nothing special, many at once, as pandas parses them."""

from __future__ import annotations

import csv
from collections.abc import Collection, Sequence
from io import StringIO
from typing import Any

import numpy as np
from numpy.typing import NDArray

from protonn_edge.data.cells import FLOAT32_MAX

Cells = Sequence[str] | NDArray[np.float64]


def parsed(
    lines: Sequence[str], delimiter: str, width: int, numeric: Collection[int], decimal: str
) -> list[Cells] | None:
    """Return the cells of each column: numbers (n,) in numeric ones, and texts in all others.

    Empty cells among numbers are NaN. None if a line has a quote, another number of cells or none
    that is filled, or if a numeric column has another cell than a number of 32-bit floats.
    """
    # Imported here, since small tables do without.
    from pandas import read_csv

    blank = f"{delimiter} \t\r\n"
    for line in lines:
        if line.count(delimiter) != width - 1 or '"' in line or not line.strip(blank):
            return None
    types: dict[Any, Any] = dict.fromkeys(range(width), object)
    types |= dict.fromkeys(numeric, np.float64)
    try:
        frame = read_csv(
            StringIO("".join(lines)),
            sep=delimiter,
            decimal=decimal,
            header=None,
            dtype=types,
            keep_default_na=False,
            na_values={index: [""] for index in numeric},
            quoting=csv.QUOTE_NONE,
            low_memory=False,
        )
    except ValueError:
        return None
    columns = [frame[index].to_numpy() for index in range(width)]
    numbers = [columns[index] for index in numeric]
    if len(frame) != len(lines) or any((np.abs(x) > FLOAT32_MAX).any() for x in numbers):
        return None
    return [x if index in numeric else x.tolist() for index, x in enumerate(columns)]
