"""Indicators: columns of two numbers, of which exactly one has the higher in each row."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from protonn_edge.data.tables.cells import is_gap
from protonn_edge.data.tables.columns import Column

_FEWEST_ROWS = 8  # fewer rows prove little
_MOST_INDICATORS = 300
_MOST_TRIALS = 2_000


def exclusive(columns: Sequence[Column]) -> Iterator[list[Column]]:
    """Yield sets of columns of which exactly one has the higher number in each row.

    Or one of two texts; at least three columns then, since the other text would be as good in two.
    """
    alike: dict[tuple[object, ...], list[tuple[Column, NDArray[np.bool_]]]] = {}
    for column in columns:
        for two, marks in _marks(column):
            alike.setdefault(two, []).append((column, marks))
    for two, marked in alike.items():
        for indices in exclusive_sets(np.stack([marks for _, marks in marked], axis=1)):
            if len(indices) > 2 or not (two and isinstance(two[0], str)):
                yield [marked[index][0] for index in indices]


def codes_of(indicators: Sequence[Column]) -> NDArray[np.int64]:
    """Return which of these columns has the higher number, or the mark, of each row (n,)."""
    found = [dict(_marks(column)) for column in indicators]
    sets = (np.stack([each[two] for each in found], axis=1) for two in found[0])
    one = next(marks for marks in sets if (marks.sum(axis=1) == 1).all())
    codes: NDArray[np.int64] = one.argmax(axis=1)
    return codes


def _marks(column: Column) -> Iterator[tuple[tuple[object, ...], NDArray[np.bool_]]]:
    """Yield two numbers, or a text and others, and where the higher one or the text is (n,)."""
    if column.texts is None or column.kind not in ("number", "text"):
        return
    if column.kind == "number" and column.values is not None:
        low, high = column.values.min(initial=np.inf), column.values.max(initial=-np.inf)
        if low < high and bool(np.isin(column.values, (low, high)).all()):  # no NaN
            yield (float(low), float(high)), column.values == high
        return
    texts = column.texts.texts
    filled = [code for code, text in enumerate(texts) if not is_gap(text)]
    if len(filled) == 1 < len(texts):
        yield (), column.texts.codes == filled[0]
    elif len(filled) == len(texts) == 2:
        for code, text in enumerate(texts):
            yield (text, texts[1 - code]), column.texts.codes == code


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
