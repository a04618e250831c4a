"""Several numbers in a cell, such as ``[12 -3 7]`` or ``1;2;3``, which become columns."""

from __future__ import annotations

import re
from collections.abc import Sequence

from protonn_edge.data.tables.cells import is_gap, is_number, number_in
from protonn_edge.data.tables.moments import moments_in

_BRACKETS = ("[]", "()", "{}")
_SEPARATORS = (re.compile(r"\s?[;|]\s?"), re.compile(r",?\s+"), re.compile(","))


def numbers_of(cell: str) -> list[str]:
    """Return the numbers in a cell that has several, or one in brackets; none of other cells."""
    text = cell.strip()
    if is_enclosed := text[:1] + text[-1:] in _BRACKETS:
        text = text[1:-1].strip()
    separator = next((each for each in _SEPARATORS if each.search(text)), None)
    if separator is None and not is_enclosed:
        return []
    parts = [text] if separator is None else separator.split(text)
    return parts if all(map(is_number, parts)) and (is_enclosed or len(parts) > 1) else []


def list_size(cells: Sequence[str]) -> int:
    """Return how many numbers each cell of a column has; 0 unless it has lists of equal length."""
    if not numbers_of(next((cell for cell in cells if not is_gap(cell)), "")):
        return 0
    there = [cell for cell in cells if not is_gap(cell)]
    sizes = {len(numbers_of(cell)) for cell in there}
    is_list = len(sizes) == 1 and min(sizes) > 1
    is_read = all(map(number_in, there)) or moments_in(there) is not None
    return min(sizes) if is_list and not is_read else 0
