"""Columns that give the label away: copies of it, in any unit or scale, and other outputs.

A device does not know such a column, so a model that uses it is good at its desk only. The check is
the same for classes, numbers and sets of labels: which columns determine the label. A measurement
may do so, too, so columns are named, and not left out.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from protonn_edge.datasets.dataset import Dataset
from protonn_edge.datasets.naming import Notice, listed, title

Float64 = NDArray[np.float64]

_FEWEST_ROWS = {"class": 50, "labels": 50, "value": 20}  # with fewer, a feature may agree by chance
_MOST_FEATURES = 500  # that are compared with the label
_MOST_ROWS = 20_000
_MOST_COUNTS = 2_000_000
_GIVEN_AWAY, _ROWS_PER_VALUE = 0.995, 5
_TIMES_BETTER = 10  # than a constant
_MOST_LABELS, _ROWS_OF_SETS = 100, 2_000

_RANKED_ROWS = 4_000
_BETTER = 5  # times less is left unexplained than by all other columns
_FITTED_COLUMNS, _ROWS_PER_COLUMN = 100, 4
_ROUNDED = 1.5  # times the deviation that rounding of all columns explains
_MOST_DECIMALS = 6
_ALIKE = 0.9  # share of a label that a column with a similar name explains
_WORD = re.compile(r"[^\W\d_]+")


@dataclass(frozen=True, eq=False)
class _Column:
    """A feature or a column of text, with its values (n,)."""

    name: str
    number: int  # from 1
    option: str  # its name or number as the value of ``--read drop``; empty if that is not possible
    values: NDArray[Any]

    @property
    def key(self) -> str:
        return self.name or str(self.number)


def leaks(dataset: Dataset) -> Iterator[Notice]:
    """Yield warnings about columns that alone or together determine the label."""
    n, width = dataset.X_train.shape
    if n < _FEWEST_ROWS[dataset.predicts] or width > _MOST_FEATURES:
        return
    columns = list(_columns(dataset))
    found = [*_CHECKS[dataset.predicts](columns, dataset), *_other_outputs(columns, dataset)]
    for text, leaking, remedy in found:
        which = title(leaking[0].name, leaking[0].number)
        others = f" (likewise {listed(each.key for each in leaking[1:])})" if leaking[1:] else ""
        drop = ",".join(each.option for each in leaking)
        how = f" with --read drop={drop}" if all(each.option for each in leaking) else ""
        keys = tuple(each.key for each in leaking)
        yield Notice("leak", f"{text.format(which, others)}; {remedy}{how}", True, keys)


_Found = Iterator[tuple[str, list[_Column], str]]
"""Sentences with places for a column and for others, the columns, and the remedy."""


def _columns(dataset: Dataset) -> Iterator[_Column]:
    """Yield each feature, and each column of text, which a user may be about to encode."""
    names = dataset.feature_names or [""] * dataset.n_features
    in_table = {each.feature: (each.index + 1, each.flag_value) for each in dataset.columns}
    for index, values in enumerate(dataset.X_train.T):
        yield _Column(names[index], *in_table.get(index, (index + 1, "")), values)
    for each in dataset.columns:
        if each.role == "text" and each.texts and len(each.texts) == len(dataset.y_train):
            texts = np.array(list(each.texts))
            yield _Column(each.name, each.index + 1, each.flag_value, texts)


def _sampled(n: int, most: int) -> NDArray[np.intp]:
    return np.sort(np.random.default_rng(0).permutation(n)[:most])


# --- classes and sets of labels -------------------------------------------------------------------

_LEAVE_OUT = "if the column is derived from the label, leave it out"


def _of_classes(columns: list[_Column], dataset: Dataset) -> _Found:
    """Yield columns that determine the class by a threshold or by value."""
    rows = _sampled(len(dataset.y_train), _MOST_ROWS)
    y = dataset.y_train[rows]
    given, following = dict[str, tuple[str, list[_Column]]](), list[_Column]()
    for column in columns:
        values = column.values[rows]
        share, how = _given_away(values, y, dataset.n_classes)
        if share > _GIVEN_AWAY:
            text = f"{{}} alone determines the label of {100 * share:.2f} % of the rows ({how}){{}}"
            given.setdefault(how, (text, []))[1].append(column)
        elif _follows(values, y):
            following.append(column)
    yield from ((text, each, _LEAVE_OUT) for text, each in given.values())
    if following:
        text = "{} has the same value in all rows of a class, but not in all classes{}"
        yield text, following, _LEAVE_OUT


def _of_sets(columns: list[_Column], dataset: Dataset) -> _Found:
    """Yield columns that determine whether points have a label."""
    rows = _sampled(len(dataset.y_train), _ROWS_OF_SETS)
    Y = dataset.y_train[rows].astype(np.float64)
    rarer = np.minimum(Y.sum(axis=0), (1 - Y).sum(axis=0))
    some = np.argsort(-rarer, kind="stable")[:_MOST_LABELS]
    some = some[rarer[some] >= _ROWS_PER_VALUE]
    wrong = np.array([_wrong_of_sets(each.values[rows], Y[:, some]) for each in columns])
    for place, label in enumerate(some.tolist()):
        few = min((1 - _GIVEN_AWAY) * len(Y), rarer[label] / _TIMES_BETTER)
        if found := _those(columns, wrong[:, place] <= few):
            text = (
                f"{{}} alone determines which points have the label {dataset.classes[label]!r}{{}}"
            )
            yield text, found, _LEAVE_OUT


def _wrong_of_sets(values: NDArray[Any], Y: Float64) -> Float64:
    """Return how many of the n points the best threshold of a column gets wrong, by label (L,)."""
    order = np.argsort(values)
    begins = 1 + np.flatnonzero(np.diff(values[order]))
    if not len(begins):
        return np.full(Y.shape[1], np.inf)
    below = Y[order].cumsum(axis=0)[begins - 1]
    without_above = len(Y) - begins[:, None] - (Y.sum(axis=0) - below)
    wrong: Float64 = below + without_above  # of the points above as those with the label
    return np.minimum(wrong, len(Y) - wrong).min(axis=0)


def _given_away(values: NDArray[Any], y: NDArray[np.int64], classes: int) -> tuple[float, str]:
    """Return the share of labels that values determine, and how; 0 if it proves nothing."""
    distinct, places = np.unique(values, return_inverse=True)
    if not 1 < len(distinct) <= _MOST_COUNTS // classes:
        return 0.0, ""
    flat = np.bincount(places * classes + y, minlength=len(distinct) * classes)
    counts = flat.reshape(len(distinct), classes)
    total = counts.sum(axis=0)
    below = counts.cumsum(axis=0)
    split = (below.max(axis=1) + (total - below).max(axis=1)).max()
    shares = [(0.0 if values.dtype.kind == "U" else float(split) / len(y), "with one threshold")]
    if _ROWS_PER_VALUE * len(distinct) <= len(y):
        shares.append((float(counts.max(axis=1).sum()) / len(y), "value by value"))
    share, how = max(shares)
    constant = float(total.max()) / len(y)
    return (share, how) if _TIMES_BETTER * (1 - share) <= 1 - constant > 0 else (0.0, "")


def _follows(values: NDArray[Any], y: NDArray[np.int64]) -> bool:
    """Whether values differ between some classes, but not in a class, of which none is rare."""
    counts = np.bincount(y)
    first = np.zeros(len(counts), np.intp)
    first[y[::-1]] = np.arange(len(y))[::-1]
    of_class = values[first][counts > 0]
    if counts[counts > 0].min() < _ROWS_PER_VALUE or (of_class == of_class[0]).all():
        return False
    return bool((values == values[first][y]).all())


# --- numbers --------------------------------------------------------------------------------------

_LEAVE_OUT_NUMBERS = "if the device does not measure it, leave it out"


def _of_numbers(columns: list[_Column], dataset: Dataset) -> _Found:
    """Yield columns of which the number is a function, and those of which it is a sum."""
    rows = _sampled(len(dataset.y_train), _RANKED_ROWS)
    y = dataset.y_train[rows, 0]
    features = [each for each in columns if each.values.dtype.kind == "f"]
    X = np.stack([each.values[rows] for each in features], axis=1).astype(np.float64)
    shares = explained_shares(X, y)
    best = shares >= 1 - _BETTER * max(1 - shares.max(), (1 - _GIVEN_AWAY) / _BETTER)
    rest = _explained_together(X[:, ~best], y, shares[~best])
    alone = np.zeros(len(features), np.bool_)
    if shares.max() > _GIVEN_AWAY and not best.all() and _BETTER * (1 - shares.max()) < 1 - rest:
        alone = best
        text = (
            f"{{}} alone determines the label{{}}: R2 is {shares.max():.3f}, and {rest:.3f} with "
        )
        text += "all other columns together"
        yield text, _those(features, alone), _LEAVE_OUT_NUMBERS
    formula = _formula(X[:, ~alone], y)
    if not len(formula):
        return
    chosen = np.zeros(len(features), np.bool_)
    chosen[np.flatnonzero(~alone)[formula]] = True
    terms = _those(features, chosen)
    text = "{} alone determines the label, which is a multiple of it and a constant{}"
    if terms[1:]:
        names = listed(each.key for each in terms)
        text = f"columns {names} together determine the label, which is a sum of their multiples"
    yield text, terms, "if the device does not measure them, leave them out"


def _those(columns: list[_Column], chosen: NDArray[np.bool_]) -> list[_Column]:
    return [each for each, is_one in zip(columns, chosen, strict=True) if is_one]


def explained_shares(X: Float64, y: Float64) -> Float64:
    """Return which share (D,) of the variance of y's ranks (n,) each column of X (n, D) explains.

    In the order of a column, ranks are compared with the mean of both neighbours, so a share is 1
    for any monotone function, nearly 1 for any other smooth one, and about 0 for noise.
    """
    ranks = _ranks(y[:, None])[:, 0]
    order = np.random.default_rng(0).permutation(len(y))  # rows of equal values are in any order
    ordered = ranks[order][np.argsort(X[order], axis=0, kind="stable")]
    apart = ordered[1:-1] - (ordered[:-2] + ordered[2:]) / 2
    usual = 1.5 * ranks.var()  # of one value less the mean of two others
    return 1 - np.square(apart).mean(axis=0) / usual if usual else np.zeros(X.shape[1])


def _ranks(X: Float64) -> Float64:
    """Return the ranks of values in each column (n, D), of equal ones their mean."""
    ranks = np.empty(X.shape)
    for place, values in enumerate(X.T):
        _, codes, counts = np.unique(values, return_inverse=True, return_counts=True)
        ranks[:, place] = (counts.cumsum() - (counts - 1) / 2)[codes]
    return ranks


def _explained_together(X: Float64, y: Float64, alone: Float64) -> float:
    """Return the share of the variance of y's ranks that columns X (n, D) explain together.

    This is by a linear model of ranks, adjusted for the number of columns, or by the best one.
    """
    most = min(_FITTED_COLUMNS, len(y) // _ROWS_PER_COLUMN)
    X = X[:, np.argsort(-alone, kind="stable")[:most]]
    ranks = _ranks(y[:, None])[:, 0]
    left = _residuals(_ranks(X), ranks).var() / (ranks.var() or 1.0)
    together = 1 - left * (len(y) - 1) / (len(y) - 1 - X.shape[1])
    return float(max(together, *alone, 0.0))


def _residuals(X: Float64, y: Float64) -> Float64:
    """Return what a linear model of X (n, D), with a constant, leaves of y (n,)."""
    spread = X.std(axis=0)
    A = np.column_stack([np.ones(len(X)), (X - X.mean(axis=0)) / np.where(spread, spread, 1.0)])
    residuals: Float64 = y - A @ np.linalg.lstsq(A, y, rcond=None)[0]
    return residuals


def _formula(X: Float64, y: Float64) -> NDArray[np.intp]:
    """Return the columns of X (n, D) of which y (n,) is a linear function but for rounding."""
    places = np.flatnonzero(np.ptp(X, axis=0) > 0)
    if not 0 < len(places) <= min(_FITTED_COLUMNS, len(y) // _ROWS_PER_COLUMN):
        return places[:0]
    if not _is_exact(X[:, places], y):
        return places[:0]
    for place in places[::-1].tolist():
        fewer = places[places != place]
        if len(fewer) and _is_exact(X[:, fewer], y):
            places = fewer
    return places


def _is_exact(X: Float64, y: Float64) -> bool:
    """Whether y (n,) is a linear function of X (n, D) but for the rounding of all of them."""
    left = float(np.sqrt(np.square(_residuals(X, y)).mean()))
    if left > np.sqrt(1 - _GIVEN_AWAY) * y.std():
        return False
    A = np.column_stack([np.ones(len(X)), X])
    factors = np.linalg.lstsq(A, y, rcond=None)[0][1:]
    steps = np.array([_step(x) for x in X.T])
    rounded = np.sqrt((np.square(factors * steps).sum() + _step(y) ** 2) / 12)
    return left <= _ROUNDED * rounded


def _step(values: Float64) -> float:
    """Return to what step values (n,), read as float32, are rounded."""
    of_floats = float(np.spacing(np.float32(np.abs(values).max(initial=0))))
    for decimals in range(_MOST_DECIMALS):
        if np.abs(np.round(values, decimals) - values).max(initial=0) <= of_floats:
            return max(10.0**-decimals, of_floats)
    return of_floats


# --- other outputs --------------------------------------------------------------------------------


def _other_outputs(columns: list[_Column], dataset: Dataset) -> _Found:
    """Yield columns that are called like the label, as another output is, and most others are not.

    Names that differ by a number, such as y1 and y2, are enough; if they share a word, the column
    must also explain a number.
    """
    label = next((each.name for each in dataset.columns if each.role == "label"), "")
    words = _words(label)
    others = [each for each in columns if each.values.dtype.kind == "f"]
    alike = [each for each in others if words and _words(each.name) == words]
    if not alike and dataset.predicts == "value":
        near = [each for each in others if words & _words(each.name)]
        y = dataset.y_train[:, 0]
        alike = [
            each
            for each in near
            if explained_shares(each.values[:, None].astype(np.float64), y)[0] > _ALIKE
        ]
    if alike and 2 * len(alike) <= len(others):
        text = f"{{}} is called like the label, {title(label, 1)}{{}}"
        yield text, alike, "if it is another output, leave it out"


def _words(name: str) -> frozenset[str]:
    return frozenset(_WORD.findall(name.lower()))


_CHECKS: Mapping[str, Callable[[list[_Column], Dataset], _Found]] = {
    "class": _of_classes,
    "labels": _of_sets,
    "value": _of_numbers,
}
