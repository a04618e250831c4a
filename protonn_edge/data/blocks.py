"""Rows of a table that have nothing special, many at once, as pandas parses them."""

from __future__ import annotations

import csv
import re
from collections.abc import Collection, Sequence
from io import StringIO
from typing import Any

import numpy as np
from numpy.typing import NDArray

from protonn_edge.data.cells import FLOAT32_MAX

Cells = Sequence[str] | NDArray[np.float64]

_LONGEST = csv.field_size_limit()  # characters of a cell that the csv module reads
_MARK_OF_ORDER = "\N{ZERO WIDTH NO-BREAK SPACE}"  # which pandas leaves out
_TRUTH = re.compile("true|false", re.IGNORECASE)


def parsed(
    lines: Sequence[str], delimiter: str, width: int, numeric: Collection[int], decimal: str
) -> list[Cells] | None:
    """Return the cells of each column: numbers (n,) in numeric ones, and texts in all others.

    Empty cells among numbers are NaN. None if a line has a quote, another number of cells or none
    that is filled, or is very long, or if a numeric column has another cell than a number of 32-bit
    floats.
    """
    # Imported here, since small tables do without.
    from pandas import read_csv

    if not all(_is_plain(line, delimiter, width) for line in lines):
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
    if any(map(_may_be_truths, numbers)) and any(map(_TRUTH.search, lines)):
        return None
    return [x if index in numeric else x.tolist() for index, x in enumerate(columns)]


def _may_be_truths(numbers: NDArray[np.float64]) -> bool:
    """Whether pandas may have read words: it takes a column of true and false for 1 and 0."""
    return bool(((numbers == 0) | (numbers == 1) | np.isnan(numbers)).all())


def _is_plain(line: str, delimiter: str, width: int) -> bool:
    """Whether a line has `width` cells, not all of them empty, and nothing that is special."""
    if line.count(delimiter) != width - 1 or '"' in line or len(line) > _LONGEST:
        return False
    return _MARK_OF_ORDER not in line and bool(line.replace(delimiter, " ").strip())
