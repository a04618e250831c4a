"""Numbers inside texts, as in a column of numbers with something attached that is not read."""

from __future__ import annotations

import re
from collections import Counter

import numpy as np
from numpy.typing import NDArray

from protonn_edge.data.behaviour import behaviour_of
from protonn_edge.data.cells import is_gap
from protonn_edge.data.columns import Column
from protonn_edge.data.naming import quoted

_MOST_TEXTS = 4_000  # that are searched for numbers
_FEW = 20  # texts, which may be names
_ALIKE = 0.9  # share of cells of text with such numbers
_INSIDE = re.compile(r"\d+(?:[.,]\d+)?")


def numbers_inside(column: Column, begins: NDArray[np.bool_]) -> str:
    """Return a clause on cells of text that have fractions or, in the same place, a number.

    Names that end in a counter, such as ``frame_0001``, are no measurements.
    """
    assert column.texts is not None
    texts = column.texts.texts[:_MOST_TEXTS]
    if len(texts) <= _FEW:
        return ""
    cells = [_skeleton_of(text) for text in texts]
    counts = np.bincount(column.texts.codes, minlength=len(texts))[: len(texts)].tolist()
    there, fractions, alike = 0, 0, Counter[str]()
    for (skeleton, numbers), text, count in zip(cells, texts, counts, strict=True):
        if not is_gap(text):
            there += count
            fractions += count * any(not number.isdecimal() for number in numbers)
            alike[skeleton] += count * (len(numbers) == 1)
    skeleton, rows = max(alike.items(), key=lambda each: each[1], default=("", 0))
    if max(rows, fractions) < _ALIKE * there:
        return ""
    if fractions < _ALIKE * there:
        found = [numbers[0] if each == skeleton else "nan" for each, numbers in cells]
        values = np.array([*found, "nan"], np.float64)  # the last one for texts not searched
        if behaviour_of(values[np.minimum(column.texts.codes, len(texts))], begins).kind:
            return ""
    return (
        f"has {max(rows, fractions):,} cells such as {quoted(column.example)}, which may be "
        "numbers with something attached, or times, but are not read; write plain numbers"
    )


def _skeleton_of(cell: str) -> tuple[str, list[str]]:
    """Return the text around the numbers in a cell, and the numbers."""
    return _INSIDE.sub("0", cell), _INSIDE.findall(cell)
