"""Numbers far from all others of their feature: strays, and numbers that stand for gaps.

Programs and sensors write -999, 0, 65535 or -127 where they have no value. Such a number recurs at
an end of the range, farther from all others than these are from one another.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from protonn_edge.data.naming import Notice, title, warning_about
from protonn_edge.data.points.dataset import Dataset, Float32
from protonn_edge.system.arrays import Array
from protonn_edge.system.errors import counted

_JUDGED_POINTS = 20
_JUDGED_VALUES = 1_000
_MOST_COUNTS = 2_000_000
_FAR = 1_000  # times the range of all values but a few
_FAR_LABEL = 100  # times the range of the middle half of the labels

_FAR_IN_MOST = 20  # times the range of half of the values,
_MOST, _FEWEST_FEATURES = 0.75, 3  # in this share of the features that vary
_MOST_FEATURES = 500

_USUAL = [sign * (10**digits - 1) for sign in (-1, 1) for digits in (2, 3, 4, 5)]  # for gaps
_NOTHING = [0, -1]  # for gaps, too; these may also be nearer to the others
_FEWEST_EQUAL = 3  # cells with any other number,
_FEWEST_OTHERS = 8  # and different numbers beside it
_OF_A_CLASS = 0.9  # of its points have the number: a state, such as a motor that is off


def about_far_values(dataset: Dataset) -> Iterator[Notice]:
    """Yield warnings about the training points' features."""
    X, names = dataset.X_train, dataset.feature_names
    if len(X) < 2 or dataset.pixels:
        return
    least, most = np.fmin.reduce(X, axis=0), np.fmax.reduce(X, axis=0)
    stand_ins = {}
    for index in _apart(X, least, most):
        known = ~np.isnan(X[:, index])
        y = dataset.y_train[known] if dataset.predicts == "class" else None
        if known.any() and (found := _stand_ins(X[known, index].astype(float), y)):
            stand_ins[index] = found
    strays = {}
    for index in _far_out(X, least, most):
        if index not in stand_ins and (stray := _stray(X[~np.isnan(X[:, index]), index])):
            strays[index] = stray
    if strays:
        text = (
            "{} has a value of {:g}, but most lie between {:g} and {:g}{}; in equal steps, "
            "most become one integer; correct or drop mistakes, or else train with --clip auto"
        )
        yield warning_about("stray", text, strays, names)
    yield from _about_totals(dataset, np.flatnonzero(least < most))
    if stand_ins:
        text = (
            "{} has {} with {}, but otherwise only values from {:g} to {:g}{}; if such a cell "
            "stands for a missing value, empty it"
        )
        yield warning_about("stand_in", text, stand_ins, names)


def about_far_label(dataset: Dataset) -> Iterator[Notice]:
    """Yield a warning about a number to predict that is far from all others."""
    if dataset.predicts != "value":
        return
    y = dataset.y_train[:, 0]
    low, middle, high = np.quantile(y, (0.25, 0.5, 0.75))
    far = int(np.abs(y - middle).argmax())
    if abs(y[far] - middle) > _FAR_LABEL * (high - low) > 0:
        text = (
            f"the label {y[far]:g} in row {far:,} is far from all others, of which half differ by "
            f"at most {high - low:.3g}; correct or drop the row if it is an error"
        )
        yield Notice("far_label", text, warning=True)


def _far_out(X: Float32, least: Float32, most: Float32) -> list[int]:
    """Return the features whose ends (D,) are far apart, compared with half of some values."""
    rows, width = X.shape
    if rows < _JUDGED_POINTS:
        return []
    step = max(1, rows * width // _MOST_COUNTS, rows // _JUDGED_VALUES)
    some = np.sort(X[::step], axis=0)
    low, high = (some[share * len(some) // 4].astype(float) for share in (1, 3))
    spread = most.astype(float) - least
    return np.flatnonzero((high > low) & (spread > _FAR * (high - low))).tolist()


def _stray(x: Float32) -> tuple[float, ...] | None:
    """Return a value so far out that all others become one, and the range of most of these."""
    values = np.sort(x.astype(float))
    few = max(1, len(values) // 100)
    usual = values[few:-few]
    limit = _FAR * np.ptp(usual) if len(usual) else 0.0
    far = values[np.abs(values - np.median(values)) > limit]
    return (float(far[0]), float(usual[0]), float(usual[-1])) if limit and len(far) else None


def _about_totals(dataset: Dataset, varied: NDArray[np.intp]) -> Iterator[Notice]:
    """Yield a warning about rows far from all others in most features that vary, as totals are."""
    X, names = dataset.X_train, dataset.feature_names
    n, width = len(X), len(varied)
    few = not _FEWEST_FEATURES <= width <= _MOST_FEATURES
    if n < _JUDGED_POINTS or few or len(dataset.point_shape) > 1:
        return
    far = np.zeros((n, width), np.bool_)
    for place, column in enumerate(varied.tolist()):
        x = X[:, column]
        low, middle, high = np.nanpercentile(x, (25, 50, 75))
        far[:, place] = (low < high) & (np.abs(x - middle) > _FAR_IN_MOST * (high - low))
    rows = np.flatnonzero(far.sum(axis=1) >= _MOST * width)
    if not 0 < len(rows) <= max(1, n // 100):
        return
    place = int(varied[far[rows[0]]][0])
    value, which = X[rows[0], place], title(names[place] if names else "", place + 1)
    text = (
        f"{counted(len(rows), 'row')} of {n:,} {'is' if len(rows) == 1 else 'are'} far from all "
        f"others in most columns, such as with {value:g} in {which}; if these are "
        "totals or mistakes, delete them"
    )
    yield Notice("far_rows", text, warning=True)


def _apart(X: Float32, least: Float32, most: Float32) -> list[int]:
    """Return the features that may have stand-ins, judged by some of their values."""
    some = X[:: max(1, len(X) // _JUDGED_VALUES)].astype(float)
    some[(some == least) | (some == most)] = np.nan
    low, high = np.fmin.reduce(some, axis=0), np.fmax.reduce(some, axis=0)
    gaps = np.array([low - least, most - high])
    nothing = np.isin((least, most), _NOTHING) & (gaps > (high - low) / _FEWEST_OTHERS)
    apart = ~(gaps.max(axis=0) <= high - low) | nothing.any(axis=0)
    apart[apart] = ~((X[:, apart] == least[apart]) | (X[:, apart] == most[apart])).all(axis=0)
    return np.flatnonzero(apart | np.isin((least, most), _USUAL).any(axis=0)).tolist()


def _stand_ins(x: NDArray[np.float64], y: Array | None) -> tuple[object, ...] | None:
    """Return how many cells stand for gaps, with which numbers, and the range of all others."""
    found: list[float] = []
    others = x
    for _ in range(2):
        ends = (others.min(), others.max())
        for numbers in (ends, ends[:1], ends[1:]):
            rest = others[~np.isin(others, numbers)]
            if len(rest) and all(_stands_for_gaps(each, x, rest, y) for each in numbers):
                found, others = [*found, *numbers], rest
                break
    if not found:
        return None
    cells = counted(len(x) - len(others), "cell")
    shown = " or ".join(f"{each:g}" for each in sorted(found))
    return cells, shown, others.min(), others.max()


def _stands_for_gaps(
    number: float, x: NDArray[np.float64], others: NDArray[np.float64], y: Array | None
) -> bool:
    gap, spread = np.abs(others - number).min(), np.ptp(others)
    if number in _USUAL:
        return bool(gap > spread)
    equal = x == number
    most = len(x) if number == -1 else len(x) / 2  # a 0 may be the usual state
    if not _FEWEST_EQUAL <= equal.sum() <= most:
        return False
    if number in _NOTHING:
        spread = np.subtract(*np.percentile(others, (75, 25)))
    if not gap > spread > 0 or len(np.unique(others)) < _FEWEST_OTHERS:
        return False
    if y is None:
        return True
    shares = np.bincount(y, equal) / np.maximum(np.bincount(y), 1)
    return bool(shares.max() < _OF_A_CLASS)
