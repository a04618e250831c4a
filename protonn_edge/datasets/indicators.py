"""Indicators: columns of two numbers, of which exactly one has the higher in each row."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from protonn_edge.datasets.cells import is_gap
from protonn_edge.datasets.columns import Column

_FEWEST_ROWS = 8  # fewer rows prove little
_MOST_INDICATORS = 300
_MOST_TRIALS = 2_000


def exclusive(columns: Sequence[Column]) -> Iterator[list[Column]]:
    """Yield sets of columns, with names, of which exactly one has the higher of two numbers."""
    alike: dict[tuple[float, ...], list[tuple[Column, NDArray[np.bool_]]]] = {}
    for column in columns:
        if column.name and (marks := _marks(column)) is not None:
            two = () if column.values is None else (column.values.min(), column.values.max())
            alike.setdefault(two, []).append((column, marks))
    for marked in alike.values():
        for indices in exclusive_sets(np.stack([marks for _, marks in marked], axis=1)):
            yield [marked[index][0] for index in indices]


def codes_of(indicators: Sequence[Column]) -> NDArray[np.int64]:
    """Return which of these columns has the 1 of each row (n,)."""
    marks = [_marks(column) for column in indicators]
    codes: NDArray[np.int64] = np.stack([m for m in marks if m is not None], axis=1).argmax(axis=1)
    return codes


def _marks(column: Column) -> NDArray[np.bool_] | None:
    """Return where a column of two numbers, or of marks and gaps, has the higher one (n,)."""
    if column.texts is None or column.kind not in ("number", "text"):
        return None
    if column.kind == "number" and column.values is not None:
        low, high = column.values.min(initial=np.inf), column.values.max(initial=-np.inf)
        is_binary = low < high and bool(np.isin(column.values, (low, high)).all())  # no NaN
        return column.values == high if is_binary else None
    filled = np.array([not is_gap(text) for text in column.texts.texts], np.bool_)
    return filled[column.texts.codes] if filled.sum() == 1 < len(filled) else None


def exclusive_sets(indicators: NDArray[np.bool_]) -> Iterator[list[int]]:
    """Yield disjoint sets of at least two columns (n, k) of which each row has exactly one."""
    n, k = indicators.shape
    if n < _FEWEST_ROWS or not 1 < k <= _MOST_INDICATORS:
        return
    ones = indicators.astype(np.float32)
    apart = (ones.T @ ones) == 0
    free = [index for index in range(k) if 0 < ones[:, index].sum() < n]
    while found := _cover(indicators, apart, free):
        yield sorted(found)
        free = [index for index in free if index not in found]


def _cover(
    indicators: NDArray[np.bool_], apart: NDArray[np.bool_], free: Sequence[int]
) -> list[int]:
    """Return columns that together have exactly one in each row, found by backtracking."""
    trials = _MOST_TRIALS
    stack = [(list[int](), np.zeros(len(indicators), np.bool_))]
    while stack and trials:
        trials -= 1
        chosen, covered = stack.pop()
        if covered.all():
            return chosen
        row = int(np.argmin(covered))
        stack += [
            ([*chosen, index], covered | indicators[:, index])
            for index in free
            if indicators[row, index] and apart[index, chosen].all()
        ]
    return []
