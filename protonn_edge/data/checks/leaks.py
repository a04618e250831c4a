"""Columns that give the label away: copies of it, what it was made from, and other outputs.

A device does not know such a column, so a model that uses it is good only at a desk. One idea finds
them for classes, numbers and sets of labels: the order of the column, or of a column made of a few.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from protonn_edge.data.checks.determination import (
    CUT,
    LEAST,
    share_near_limits,
    together,
    unlike_neighbours,
)
from protonn_edge.data.naming import Notice, listed, title
from protonn_edge.data.points.dataset import Dataset
from protonn_edge.data.roles.behaviour import is_copy
from protonn_edge.data.tables.cells import decimals_of
from protonn_edge.system.arrays import Array

Float64 = NDArray[np.float64]
Chosen = Array  # which columns

_MOST_FEATURES = 500  # that are compared with the label
_FEWEST_ROWS = {"class": 50, "labels": 50, "value": 20}  # with fewer, labels may agree by chance
_MOST_ROWS = {"class": 10_000, "labels": 2_000, "value": 4_000}
_MOST_LABELS, _FEWEST_POINTS = 100, 5  # of sets, the most frequent ones; of a class
_SEVERAL = 5  # columns; if most of these determine the label, they are measurements
_LEAST = 0.005  # unlike neighbours, of numbers
_BETTER = 5  # times fewer than by any other column
_NEARLY = 0.1  # unlike neighbours by another output, or by a measurement
_MOST_TOGETHER, _FEWEST_TOGETHER = 50, 100  # columns and rows that are searched
_FITTED_COLUMNS, _ROWS_PER_COLUMN = 100, 4
_ROUNDED = 1.5  # times the deviation that follows from rounding
_JITTER, _FINE_JITTER = 0.2, 0.05  # the noise of codes of two classes, and of more
_BY_CHANCE = 0.003  # that means of classes are whole
_WORD = re.compile(r"[^\W\d_]+")


@dataclass(frozen=True, eq=False)
class _Candidate:
    """A feature or a column of text, with its values in some rows (n,)."""

    name: str
    number: int  # from 1
    option: str  # its name or number as the value of ``--drop``; empty if that is not possible
    values: Array


def leaks(dataset: Dataset) -> Iterator[Notice]:
    """Yield warnings about columns that alone or together determine the label.

    Samples of a window are no columns. If most columns determine the label, it is easy to learn,
    and only copies are warned of.
    """
    kind, (n, width) = dataset.predicts, dataset.X_train.shape
    if n < _FEWEST_ROWS[kind] or width > _MOST_FEATURES or len(dataset.point_shape) > 1:
        return
    rows = np.random.default_rng(0).permutation(n)[: _MOST_ROWS[kind]]  # equal values in any order
    columns = list(_columns(dataset, rows))
    labels, names = _labels(dataset, rows)
    X = np.stack([each.values for each in columns], axis=1).astype(np.float64)
    unlike = np.vstack([unlike_neighbours(x[None], labels, kind) for x in X.T])
    if kind == "value":
        copies, given = unlike == 0, _far_better(unlike)
    else:
        copies, given = _made_of_labels(X, labels, unlike)
    alone: Chosen = np.asarray(given.any(axis=1))
    if len(alone) >= _SEVERAL and 2 * alone.sum() > len(alone):
        given &= copies
        alone = np.asarray(given.any(axis=1))
        if not alone.any():
            return
    name = f" {names[int(given.any(axis=0).argmax())]!r}" if len(names) > 1 else ""
    yield from _notice(f"{{}} alone determines the label{name}{{}}", columns, alone)
    if kind == "class":
        follows = np.array([_follows(each.values, labels[:, 0]) for each in columns])
        text = "{} has the same value in all rows of a class, but not in all classes{}"
        yield from _notice(text, columns, ~alone & follows)
    if not alone.any():
        yield from _about_several(columns, X, labels, names, unlike, dataset.y_train[rows])
    alike = _called_alike(columns, unlike.min(axis=1, initial=1), dataset) & ~alone
    yield from _notice("{} is called like the label, as another output is{}", columns, alike)


def _about_several(
    columns: Sequence[_Candidate],
    X: Float64,
    labels: Array,
    names: Sequence[str],
    unlike: Float64,
    y: Array,
) -> Iterator[Notice]:
    """Yield a warning about columns that together determine the label, perhaps of a line."""
    kind = "class" if y.ndim == 1 else "labels" if names else "value"
    used, how = [], ""
    if kind == "value":
        used, how = np.flatnonzero(_formula(X, y[:, 0])).tolist(), ", as a sum of multiples"
    if len(columns) == 1 and used:
        text = "the label follows from the only feature by a straight line, as in a calibration"
        yield Notice("line", f"{text}; a sketch can compute it without a model")
        return
    some = np.flatnonzero(np.ptp(X, axis=0) > 0)
    is_searched = len(y) >= _FEWEST_TOGETHER and 2 <= len(some) <= _MOST_TOGETHER
    if not used and is_searched and (found := together(X[:, some], labels, kind, unlike.min(0))):
        used, label = some[found[0]].tolist(), found[1]
        how = f" {names[label]!r}" if names else ""
    chosen = np.isin(np.arange(len(columns)), used)
    others = listed(columns[each].name or str(columns[each].number) for each in used[1:])
    together_with = f" together with {others}" if used[1:] else ""
    yield from _notice(f"{{}}{together_with} determines the label{how}", columns, chosen)


def _made_of_labels(X: Float64, labels: Array, unlike: Float64) -> tuple[Chosen, Chosen]:
    """Return which columns copy labels, perhaps with noise, and which determine them, (D, L).

    The latter have no gap, as numbers that were cut. Of two classes, or a label of sets, a column
    with a wide gap also counts if no other knows the label.
    """
    copies = np.asarray(unlike <= LEAST["class"])
    given = copies.copy()
    for place, label in np.argwhere(copies).tolist():
        x, y = X[:, place], _codes(labels[:, label])
        alone = np.delete(unlike[:, label], place).min(initial=1) > _NEARLY
        copies[place, label] = is_copy(_codes(x), y) or _is_coded(x, y)
        apart = copies[place, label] or (alone and _has_wide_gap(x, y))
        given[place, label] = apart or share_near_limits(x, y) >= CUT
    return copies, given


def _codes(x: Float64) -> NDArray[np.int64]:
    codes: NDArray[np.int64] = np.unique(x, return_inverse=True)[1]
    return codes


def _has_wide_gap(x: Float64, y: Array) -> bool:
    """Whether values of two classes (n,) are further apart than those of one; seldom measured."""
    classes = [x[y == each] for each in range(int(y.max()) + 1)]
    widest = max(np.ptp(each) for each in classes)
    return len(classes) == 2 and bool(np.ptp(x) - sum(map(np.ptp, classes)) > widest)


def _columns(dataset: Dataset, rows: NDArray[np.intp]) -> Iterator[_Candidate]:
    """Yield each feature, and each column of few texts, which may become some."""
    names = dataset.feature_names or [""] * dataset.n_features
    in_table = {each.feature: (each.index + 1, each.flag_value) for each in dataset.columns}
    for index, values in enumerate(dataset.X_train.T):
        yield _Candidate(names[index], *in_table.get(index, (index + 1, "")), values[rows])
    for each in dataset.columns:
        texts = each.texts if each.role == "text" else None
        if texts is None or len(texts) != len(dataset.X_train):
            continue
        if _FEWEST_POINTS * len(texts.texts) <= len(texts):
            yield _Candidate(each.name, each.index + 1, each.flag_value, texts.codes[rows])


def _labels(dataset: Dataset, rows: NDArray[np.intp]) -> tuple[Array, Sequence[str]]:
    """Return labels of some rows (n, L): classes, ranks of numbers, or the sets' frequent ones."""
    y = dataset.y_train[rows]
    if dataset.predicts == "class":
        return y[:, None], ()
    if dataset.predicts == "value":
        _, codes, counts = np.unique(y[:, 0], return_inverse=True, return_counts=True)
        return (counts.cumsum() - (counts - 1) / 2)[codes][:, None], ()
    rarer = np.minimum(y.sum(axis=0), len(y) - y.sum(axis=0))
    some = np.argsort(-rarer, kind="stable")[:_MOST_LABELS]
    some = some[rarer[some] >= _FEWEST_POINTS]
    return y[:, some], [dataset.classes[label] for label in some.tolist()]


def _notice(text: str, columns: Sequence[_Candidate], chosen: Chosen) -> Iterator[Notice]:
    """Yield a warning about the chosen columns, if there are some, with the option for all."""
    found = [columns[place] for place in np.flatnonzero(chosen).tolist()]
    if not found:
        return
    keys = tuple(each.name or str(each.number) for each in found)
    others = f" (likewise {listed(keys[1:])})" if keys[1:] else ""
    remedy = "if the device does not measure it, leave it out"
    if len(found) == len(columns):
        remedy = "if the device does not measure it, add other features"
    elif all(each.option for each in found):
        remedy += f" with --drop {','.join(each.option for each in found)}"
    which = text.format(title(found[0].name, found[0].number), others)
    yield Notice("leak", f"{which}; {remedy}", warning=True, columns=keys)


# --- one column -----------------------------------------------------------------------------------


def _is_coded(x: Float64, y: NDArray[np.int64]) -> bool:
    """Whether values are usual codes of classes (n,) with noise, which leaves their means whole."""
    counts = np.bincount(y)
    means = np.bincount(y, x) / counts
    codes, k = np.round(means), len(counts)
    usual = [np.arange(k), np.arange(1, k + 1), np.arange(-1, k, 2)]
    if not any(np.array_equal(np.sort(codes), each) for each in usual):
        return False
    noise = float((x - codes[y]).std())
    errors = 3 * noise / np.sqrt(counts)
    by_chance = np.minimum(2 * errors, 1).prod()
    are_whole = (np.abs(means - codes) <= errors).all()
    limit = _JITTER if k == 2 else _FINE_JITTER  # sizes may lie in a range for each of several
    return bool(noise <= limit and are_whole and by_chance <= _BY_CHANCE)


def _far_better(unlike: Float64) -> Chosen:
    """Return which columns (D, 1) are far better than all others; none if all are alike."""
    best: Chosen = unlike <= max(LEAST["value"], _BETTER * unlike.min())
    others = unlike[~best].min(initial=np.inf)
    is_clear = not best.all() and _BETTER * unlike[best].max() < others
    return best & is_clear & (unlike <= _LEAST)


def _follows(values: Array, y: NDArray[np.int64]) -> bool:
    """Whether values differ between some classes, but not in a class, of which none is rare."""
    order = np.argsort(y, kind="stable")
    changes = np.diff(values[order]) != 0
    few = min(np.bincount(y)[np.unique(y)]) < _FEWEST_POINTS
    return bool(not few and changes.any() and not changes[np.diff(y[order]) == 0].any())


def _called_alike(columns: Sequence[_Candidate], unlike: Float64, dataset: Dataset) -> Chosen:
    """Return which columns are called like the label, as y2 is like y1, but most others are not.

    A name that only shares a word with the label's must nearly determine a number.
    """
    label = next((each.name for each in dataset.columns if each.role == "label"), "")
    words = [{*_WORD.findall(name.lower())} for name in (label, *(each.name for each in columns))]
    same: Chosen = np.array([bool(each) and each == words[0] for each in words[1:]])
    if not same.any() and dataset.predicts == "value":
        same = np.array([bool(each & words[0]) for each in words[1:]]) & (unlike < _NEARLY)
    return same if 2 * same.sum() <= len(columns) else np.zeros(len(columns), np.bool_)


# --- several columns ------------------------------------------------------------------------------


def _formula(X: Float64, y: Float64) -> Chosen:
    """Return the columns of X (n, D) of which numbers y (n,) are a sum but for rounding."""
    used: Chosen = np.ptp(X, axis=0) > 0
    most = min(_FITTED_COLUMNS, len(y) // _ROWS_PER_COLUMN)
    if not 0 < used.sum() <= most or not _is_exact(X[:, used], y):
        return np.zeros(len(used), np.bool_)
    for place in np.flatnonzero(used):
        fewer = used & (np.arange(len(used)) != place)
        used = fewer if fewer.any() and _is_exact(X[:, fewer], y) else used
    return used


def _is_exact(X: Float64, y: Float64) -> bool:
    """Whether y (n,) is a linear function of X (n, D) but for the rounding of all of them."""
    spread = X.std(axis=0)
    A = np.column_stack([np.ones(len(X)), (X - X.mean(axis=0)) / spread])
    factors = np.linalg.lstsq(A, y, rcond=None)[0]
    left = np.sqrt(np.square(y - A @ factors).mean())
    steps = [_step(y), *(np.array([_step(x) for x in X.T]) * factors[1:] / spread)]
    rounded = np.sqrt(np.square(steps).sum() / 12)  # of numbers spread evenly over a step
    return bool(left <= min(_ROUNDED * rounded, np.sqrt(_LEAST) * y.std()))


def _step(values: Float64) -> float:
    """Return the step to which numbers (n,) were rounded, at least that of float32."""
    floats = values.astype(np.float32)
    decimals = decimals_of(floats)
    least = float(np.spacing(np.abs(floats).max()))
    return least if decimals is None else max(10.0**-decimals, least)
