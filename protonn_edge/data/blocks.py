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

    None if a line has a quote or another number of cells, or if a numeric column has another cell
    than a number of 32-bit floats.
    """
    # Imported here, since small tables do without.
    from pandas import read_csv

    if any(line.count(delimiter) != width - 1 or '"' in line for line in lines):
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
            na_filter=False,
            quoting=csv.QUOTE_NONE,
            low_memory=False,
        )
    except ValueError:
        return None
    columns = [frame[index].to_numpy() for index in range(width)]
    numbers = [columns[index] for index in numeric]
    if len(frame) != len(lines) or not all((np.abs(x) <= FLOAT32_MAX).all() for x in numbers):
        return None
    return [x if index in numeric else x.tolist() for index, x in enumerate(columns)]
