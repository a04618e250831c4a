"""Columns whose values lie in two ranges, as two units or the signs of a number make them.

If a program or a person changed the unit between rows, the same values recur on another scale. If a
program wrote negative numbers without a sign, they follow the largest positive ones.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

Values = NDArray[np.float64]

_FEWEST_VALUES = 8  # different ones, in each range
_UNSIGNED = 1 << 16
_FACTORS = (("of which one is 1,000 times the other", 1000.0), ("g and m/s^2", 9.80665))
_FEWEST_OF_ALL = 0.05
_APART = 0.8  # as far as the logarithms of a range
_LIKE = 0.15, 0.5  # differences of logarithms, of their medians and of quartiles from these
_SPREAD = 0.9  # of temperatures, of which one class has less than several
_POSITIVE = 0.98  # of all values that are compared by their logarithms
_FAHRENHEIT = 1.8, 32.0


def two_ranges(values: Values) -> Iterator[tuple[str, tuple[str, str]]]:
    """Yield what ordered values (n,) in two ranges suggest, as a text, and both ranges."""
    for advice, *parts in _ranges(values):
        lower, upper = (f"{len(p)} values from {p[0]:g} to {p[-1]:g}" for p in parts)
        yield f"{{}} has {{}}, and {{}}{{}}; {advice}", (lower, upper)
        return


def _ranges(values: Values) -> Iterator[tuple[str, Values, Values]]:
    """Yield what ordered values (n,) in two ranges suggest, and both."""
    low, high, gap, widest = _parted(values)
    if gap > widest:
        if low[0] >= 0 and high[-1] < _UNSIGNED < 2 * gap and not (values % 1).any():
            yield f"if the latter are negative numbers, subtract {_UNSIGNED}", low, high
        factor, offset = _FAHRENHEIT
        if _is_same(low, (high - offset) / factor):
            yield _advice("degrees Celsius and Fahrenheit"), low, high
    positive = int((values > 0).sum())
    if positive < max(1, _POSITIVE * len(values)):  # near 0, sizes of either sign are far apart
        return
    low, high, gap, widest = _parted(np.log(values[values > 0]))
    if min(len(low), len(high)) < _FEWEST_OF_ALL * len(values) or gap <= _APART * widest:
        return
    for units, factor in _FACTORS:
        if _is_same(low, high - np.log(factor), *_LIKE):
            yield _advice(units), values[: -len(high)], values[-len(high) :]


def _advice(units: str) -> str:
    return f"these may be the same in two units, {units}; convert the ones of other rows"


def _parted(ordered: Values) -> tuple[Values, Values, float, float]:
    """Return values (n,) below and above the largest gap, this, and the width of the wider part.

    Without enough different values in each part, the gap is 0.
    """
    distinct = np.unique(ordered)
    steps = np.diff(distinct)[_FEWEST_VALUES - 1 : -_FEWEST_VALUES + 1]
    if not len(steps):
        return ordered, ordered[:0], 0.0, 0.0
    limit = distinct[_FEWEST_VALUES - 1 + int(steps.argmax())]
    place = int(np.searchsorted(ordered, limit, side="right"))
    low, high = ordered[:place], ordered[place:]
    return low, high, float(steps.max()), float(max(np.ptp(low), np.ptp(high)))


def _is_same(
    low: Values, moved: Values, near: float | None = None, spread: float = _SPREAD
) -> bool:
    """Whether converted values lie as others do: by medians and quartiles."""
    first, median, third = np.percentile(low, (25, 50, 75))
    start, middle, end = np.percentile(moved, (25, 50, 75))
    near = third - first if near is None else near
    if not (end > start and third > first and abs(middle - median) < near):
        return False
    return bool(abs(np.log((end - start) / (third - first))) < spread)
