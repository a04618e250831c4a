"""Values that recur in a column where all others hardly do: of a stuck sensor, or in filled gaps.

Such a value lies among the others, as a mean or a last sample does. At the ends of a range, values
are cut off or stand for gaps.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

_FEWEST_CELLS = 10
_SHARE = 0.02  # of all cells, at least
_TIMES = 10  # as often as the next value
_MOST_VALUES = 5  # that recur
_AMONG = (5, 95)  # percentiles of the other cells, between which it lies
_DISTINCT = 0.2  # of the other cells; a coarse sensor has fewer, and any of them may recur
_TEXT = (
    "{} has {:g} in {:,} rows, but most values in at most {:,}{}; if a sensor was stuck, leave "
    "these rows out, and if a program filled gaps with it, empty these cells"
)


def recurring(ordered: NDArray[np.float64]) -> Iterator[tuple[str, tuple[float, int, int]]]:
    """Yield a text about the value of ordered ones (n,) that recurs most, and its figures.

    These are the value, how often it is there, and how often most others are.
    """
    values, counts = np.unique(ordered, return_counts=True)
    if not (values % 1).any():  # counts
        return
    order = np.argsort(-counts, kind="stable")
    ranked = counts[order]
    for few in range(1, min(_MOST_VALUES, len(ranked) - 1) + 1):
        least, most, others = ranked[few - 1], ranked[few], ranked[few:]
        if least < max(_FEWEST_CELLS, _SHARE * ranked.sum() / few, _TIMES * most):
            continue
        own = values[order[:few]]
        low, high = np.percentile(np.repeat(values[order[few:]], others), _AMONG)
        if (own != 0).all() and low < own.min() and own.max() < high:
            if len(others) >= _DISTINCT * others.sum():  # or the sensor is coarse
                yield _TEXT, (float(own[0]), int(ranked[0]), int(most))
            return
