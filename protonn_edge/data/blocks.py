"""Read many rows of a table at once, as long as they have nothing special.

SciPy reads plain decimal numbers, and NumPy all others, several times as fast as Python converts
them cell by cell. All three round correctly, so the same numbers result.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from io import BytesIO
from typing import NamedTuple

import numpy as np

from protonn_edge.data.cells import ColumnCells, Float64
from protonn_edge.data.text import Lines

_MOST_FAILURES = 5
_MATRIX = b"%%%%MatrixMarket matrix array real general\n%d %d\n%s"
_DIGITS = b"0123456789"


class _Block(NamedTuple):
    """Some rows: their numbers (n, columns of numbers), and the cells of each other column."""

    numbers: Float64
    texts: Mapping[int, Sequence[str]]


def add_block(cells: Sequence[ColumnCells], lines: Lines, at_once: int, delimiter: str) -> int:
    """Add the next rows to all columns, if they have nothing special; return their number.

    The columns of numbers must be known.
    """
    numeric = [index for index, each in enumerate(cells) if each.has_numbers]
    if not numeric or len(lines.given_back) >= _MOST_FAILURES:
        return 0
    taken = lines.take(at_once)
    rows = [line.rstrip("\r\n") for line in taken]
    side_by_side = len(numeric) == numeric[-1] - numeric[0] + 1
    block = _plain(rows, delimiter, numeric, len(cells)) if rows and side_by_side else None
    block = block or _any_numbers(rows, delimiter, numeric, len(cells))
    if block is None or not np.isfinite(block.numbers).all():
        lines.give_back(taken)
        return 0
    for index, column in zip(numeric, block.numbers.T, strict=True):
        cells[index].add_numbers(column)
    for index, texts in block.texts.items():
        cells[index].add(texts)
    return len(taken)


def _plain(
    rows: Sequence[str], delimiter: str, numeric: Sequence[int], width: int
) -> _Block | None:
    """Read numbers without exponents, in columns side by side; None for others.

    SciPy ignores characters behind a number, so a cell may only have digits, a point and a minus
    sign at its begin. It reads -0 as 0.
    """
    from scipy.io import mmread

    first, last = numeric[0], numeric[-1]
    line = delimiter.encode() * (last - first) + b"\n"
    try:
        *left, inner = zip(*(row.split(delimiter, first) for row in rows), strict=True)
        inner, *right = zip(
            *(row.rsplit(delimiter, width - 1 - last) for row in inner), strict=True
        )
        written = "\n".join(inner).encode() + b"\n"
        signs = np.flatnonzero(np.frombuffer(written, np.uint8) == ord("-"))
        if (
            written.translate(None, _DIGITS + b".-") != line * len(rows)
            or b".." in written.translate(None, _DIGITS)
            or not np.isin(np.frombuffer(written, np.uint8)[signs - 1], list(line)).all()
            or any('"' in cell for column in (*left, *right) for cell in column)
        ):
            return None
        written = written.replace(delimiter.encode(), b"\n")
        numbers = mmread(BytesIO(_MATRIX % (len(numeric), len(rows), written))).T
    except ValueError:
        return None
    return _Block(numbers, dict(enumerate(left)) | dict(enumerate(right, last + 1)))


def _any_numbers(
    rows: Sequence[str], delimiter: str, numeric: Sequence[int], width: int
) -> _Block | None:
    """Read all numbers that NumPy reads, in any columns; None for others."""
    if not rows or '"' in "".join(rows) or any(row.count(delimiter) + 1 != width for row in rows):
        return None
    try:
        numbers = np.loadtxt(
            rows, delimiter=delimiter, usecols=numeric, comments=None, ndmin=2, max_rows=len(rows)
        )
    except ValueError:
        return None
    texts = dict[int, Sequence[str]]()
    for index in set(range(width)).difference(numeric):
        if 2 * index < width:
            texts[index] = [row.split(delimiter, index + 1)[index] for row in rows]
        else:
            texts[index] = [row.rsplit(delimiter, width - index)[index - width] for row in rows]
    return _Block(numbers, texts) if len(numbers) == len(rows) else None
