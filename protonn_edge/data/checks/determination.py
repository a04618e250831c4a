"""How nearly a column determines the label, and columns made of a few others that do.

In the order of a column that determines the label, neighbouring rows have nearly the same one (von
Neumann, 1941; Chatterjee, 2021). An honest measurement of classes may do so, too, but where two of
its classes overlap, some rows are unlike, and where they do not, a gap is between them. If a label
was cut out of a number, rows lie next to the limit on both sides.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from protonn_edge.system.arrays import Array

Float64 = NDArray[np.float64]
Divider = tuple[int, float]
"""A column that divides rows at a limit or, if this is NaN, by each of its values."""

LEAST = {"class": 0.02, "labels": 0.02, "value": 0.001}  # unlike neighbours; these are noise
CUT = 0.08  # of all rows, at least, are near a limit; an eighth of evenly spread ones are
_SHARED = 0.8  # of all rows have the value of the next one, so only these are compared
_NEAR = 0.25  # of the usual distance to a row of another label
_FEWEST_IN_RUN = 3

_SCREENED, _SEARCHED = 256, 1_000  # rows
_TRIED = 4  # pairs of columns
_MOST_TOGETHER = 6
_MOST_VALUES = 12  # of a column that divides rows by each value
_LIMITS = (5, 20, 35, 50, 65, 80, 95)  # percentiles that a pair is tried with
_FINE = 32  # limits that are compared at once, for the exact one
_LESS = 0.9  # times as many unlike neighbours with one more column
_BETTER = 8  # times fewer than by any single column
_BY_FLAGS = 0.1  # unlike neighbours; flags have no noise, but several may be set
_MADE: Mapping[str, Callable[[Array, Array], Array]] = {
    "sum": np.add,
    "difference": np.subtract,
    "product": np.multiply,
    "quotient": lambda x, z: np.divide(x, z, out=np.zeros(z.shape), where=z != 0),
    "largest": np.maximum,
    "least": np.minimum,
}
"""The ways to make a column of two."""


def unlike_neighbours(V: Array, labels: Array, kind: str) -> Float64:
    """Return how unlike labels (n, L) are in neighbouring rows, compared with any two, (D, L).

    Rows are in the order of each row of V (D, n). If most values are shared, only rows that share
    one are neighbours. Otherwise, what differs if the labels themselves are in order does not
    count.
    """
    order = np.argsort(V, axis=1, kind="stable")
    ordered = np.take_along_axis(V, order, axis=1)
    shared = ordered[:, 1:] == ordered[:, :-1]
    counts = shared.sum(axis=1)
    steps = _steps(labels[order], kind)
    needed = _steps(np.sort(labels, axis=0)[None], kind).sum(axis=1)
    found = np.maximum(steps.sum(axis=1) - needed, 0) / (V.shape[1] - 1)
    few = counts >= _SHARED * (V.shape[1] - 1)
    found[few] = (steps[few] * shared[few, :, None]).sum(axis=1) / counts[few, None]
    usual = 2 * labels.var(axis=0)
    if kind != "value":
        shares = [(labels == each).mean(axis=0) for each in np.unique(labels)]
        usual = 1 - np.square(shares).sum(axis=0)
    unlike: Float64 = np.divide(found, usual, out=np.ones_like(found), where=usual > 0)
    unlike[counts == V.shape[1] - 1] = 1
    return unlike


def _steps(labels: Array, kind: str) -> Array:
    """Return how much labels (D, n, L) differ from the ones in the row before, (D, n - 1, L)."""
    if kind == "value":
        return np.asarray(np.square(np.diff(labels, axis=1)))
    return np.asarray(labels[:, 1:] != labels[:, :-1])


def share_near_limits(values: Float64, y: Array, cells: Array | None = None) -> float:
    """Return the share of rows near one with another label (n,): nearly 0 if gaps are between them.

    Rows are compared along the values (n,), with those of the same cell (n,). Rounded values are
    spread over their step, and one or two rows among others of another label do not count.
    """
    steps = np.diff(np.unique(values))
    if len(steps) < len(np.unique(y)):  # a value for each label
        return 1.0
    cells = np.zeros(len(y)) if cells is None else cells
    spread = values + steps.min() * np.random.default_rng(0).uniform(-0.5, 0.5, len(y))
    order = np.lexsort((spread, cells))
    changes = (np.diff(y[order]) != 0) | (np.diff(cells[order]) != 0)
    runs = np.cumsum(np.append(0, changes))
    order = order[np.bincount(runs)[runs] >= _FEWEST_IN_RUN]
    v, y, cells = spread[order], y[order], cells[order]
    ends = np.flatnonzero((np.diff(y) != 0) & (np.diff(cells) == 0))
    if not len(ends):
        return 0.0
    place, distance = np.searchsorted(ends, np.arange(len(v))), np.full(len(v), np.inf)
    for other in (ends[np.minimum(place, len(ends) - 1)] + 1, ends[np.maximum(place, 1) - 1]):
        there = (cells[other] == cells) & (y[other] != y)
        distance[there] = np.minimum(distance, np.abs(v[other] - v))[there]
    distance = distance[np.isfinite(distance)]
    distance -= np.median(np.diff(v)[np.diff(cells) == 0]) / 2  # a limit is between two rows
    return float((distance <= _NEAR * np.median(distance)).mean())


# --- columns made of others -----------------------------------------------------------------------


@dataclass(frozen=True)
class _Made:
    """A column made of others: computed, or in the order of one within cells that others divide."""

    how: str  # a key of `_MADE`, or empty
    first: int
    others: tuple[Divider, ...] = ()

    @property
    def columns(self) -> list[int]:
        return [self.first, *(column for column, _ in self.others)]

    def values(self, X: Float64) -> tuple[Float64, Array]:
        """Return the values (n,) in rows X (n, D), and the cells (n,)."""
        v, cells = X[:, self.first], np.zeros(len(X), np.int64)
        for column, limit in self.others:
            if self.how:
                v = _MADE[self.how](v, X[:, column])
            else:
                cells = cells * _MOST_VALUES + _divided(X[:, column], limit)
        return v, cells

    def without(self, column: int) -> _Made:
        """Return what is made without one of the columns."""
        first, *rest = (each for each in ((self.first, np.nan), *self.others) if each[0] != column)
        return replace(self, first=first[0], others=tuple(rest))


def _divided(x: Float64, limit: float) -> Array:
    """Return the part (n,) of each value: one for each different value, without a limit."""
    parts: Array = np.unique(x, return_inverse=True)[1] if np.isnan(limit) else x > limit
    return parts.astype(np.int64)


class _Found(NamedTuple):
    made: _Made
    unlike: float = 1.0
    label: int = 0


class _Rows(NamedTuple):
    """Rows X (n, D), with labels (n, L), in which columns are searched."""

    X: Float64
    labels: Array
    kind: str

    def best(self, made: _Made, others: Sequence[Divider]) -> _Found:
        """Return the best of what one of some others makes of a column."""
        if not others:
            return _Found(made)
        v, cells = made.values(self.X)
        if made.how:
            V = _MADE[made.how](v, self.X.T[[column for column, _ in others]])
        else:
            more = np.array([_divided(self.X[:, column], limit) for column, limit in others])
            V = _divided(v, np.nan) + len(v) * (cells * _MOST_VALUES + more)
            V = V.astype(np.min_scalar_type(V.max()))  # fewer bytes are sorted faster
        unlike = unlike_neighbours(V, self.labels, self.kind)
        place, label = divmod(int(unlike.argmin()), unlike.shape[1])
        better = replace(made, others=(*made.others, others[place]))
        return _Found(better, float(unlike[place, label]), label)

    def unlike(self, made: _Made) -> float:
        """Return how unlike neighbours are in the order of a column made of several."""
        return self.best(replace(made, others=made.others[:-1]), made.others[-1:]).unlike

    def of(self, rows: Array, label: int | None = None) -> _Rows:
        """Return some rows, perhaps with one label only."""
        labels = self.labels if label is None else self.labels[:, [label]]
        return _Rows(self.X[rows], labels[rows], self.kind)


def together(X: Float64, labels: Array, kind: str, alone: Float64) -> tuple[list[int], int] | None:
    """Return columns of X (n, D) that together determine a label of (n, L), and which one.

    A few rows choose pairs for each way to make a column; then columns are added as long as
    neighbours become less unlike. A label that one column determines is left out; `alone` (L,) is
    how unlike neighbours are by the best one.
    """
    rows, order = _Rows(X, labels, kind), _in_turns(labels, kind)
    few, some = (np.sort(order[:n]) for n in (_SCREENED, _SEARCHED))
    for how, others, limit in _ways(X[some], kind):
        pairs = []
        for c in dict.fromkeys(column for column, _ in others):
            rest = [each for each in others if each[0] > c or (each[0] < c and not how)]
            pairs.append(rows.of(few).best(_Made(how, c), rest))
        pairs = sorted(pairs, key=lambda found: found.unlike)[:_TRIED]
        exact = [_with_limits(made, rows.of(some, label)) for made, _, label in pairs]
        for (_, _, label), (made, unlike, _) in zip(pairs, exact, strict=True):
            least = min(limit, alone[label] / _BETTER)
            if alone[label] > limit and unlike == min(found.unlike for found in exact):
                more = _extended(made, others, rows.of(some, label), least)
                if _determines(more, rows.of(np.arange(len(X)), label), least):
                    return sorted(more.columns), label
    for sign in (1, -1) if kind == "class" and len(np.unique(labels)) > 2 else ():
        if scores := _scores(sign * X, labels[:, 0]):
            return sorted(scores), 0
    return None


def _ways(X: Float64, kind: str) -> Iterator[tuple[str, list[Divider], float]]:
    """Yield ways to make a column of some of X (n, D): how, columns, and how unlike labels may be.

    First, flags; then computed ones; then the limits of numbers.
    """
    values = [np.unique(x) for x in X.T]
    if kind != "value":
        yield "", [(c, np.nan) for c, each in enumerate(values) if len(each) == 2], _BY_FLAGS
    for how in _MADE:
        yield how, [(c, np.nan) for c in range(len(values))], LEAST[kind]
    if kind != "value":
        limits = (np.unique(np.nanpercentile(x, _LIMITS)).tolist() for x in X.T)
        every = [
            (c, limit) for c, each in enumerate(limits) for limit in each if len(values[c]) > 2
        ]
        every += [(c, np.nan) for c, each in enumerate(values) if len(each) <= _MOST_VALUES]
        yield "", every, LEAST[kind]


def _in_turns(labels: Array, kind: str) -> NDArray[np.intp]:
    """Return the rows of labels (n, L), but classes take turns, so that the first rows have all."""
    if kind != "class":
        return np.arange(len(labels))
    order = np.argsort(labels[:, 0], kind="stable")
    y = labels[order, 0]
    return order[np.argsort(np.arange(len(y)) - np.searchsorted(y, y), kind="stable")]


def _with_limits(made: _Made, rows: _Rows) -> _Found:
    """Return a column with the limits that make neighbours least unlike, one after the other."""
    for column, limit in () if made.how else made.others:
        made, x = replace(made, others=made.others[1:]), np.unique(rows.X[:, column])
        tried = [limit] if np.isnan(limit) else x[:: max(1, len(x) // _FINE)].tolist()
        made = rows.best(made, [(column, each) for each in tried]).made
        if len(tried) > 1:
            near = tried.index(made.others[-1][1])
            low, high = tried[max(0, near - 1)], tried[min(len(tried) - 1, near + 1)]
            tried = x[(x >= low) & (x <= high)].tolist()
            made = replace(made, others=made.others[:-1])
            made = rows.best(made, [(column, each) for each in tried]).made
    return _Found(made, rows.unlike(made))


def _extended(made: _Made, others: Sequence[Divider], rows: _Rows, least: float) -> _Made:
    """Return a column made of more others, until they determine the label or none helps.

    Those that it then does not need are left out.
    """
    unlike = rows.unlike(made)
    while unlike > least and len(made.columns) < _MOST_TOGETHER:
        more = rows.best(made, [each for each in others if each[0] not in made.columns]).made
        better, less, _ = _with_limits(more, rows)
        if less > _LESS * unlike:
            break
        made, unlike = better, less
    for column in made.columns:
        if len(made.columns) > 2 and rows.unlike(made.without(column)) <= least:
            made = made.without(column)
    return made


def _determines(made: _Made, rows: _Rows, least: float) -> bool:
    """Return whether a column determines the label, without a gap."""
    if not made.others or rows.unlike(made) > least:
        return False
    v, cells = made.values(rows.X)
    return rows.kind == "value" or share_near_limits(v, rows.labels[:, 0], cells) >= CUT


def _scores(X: Float64, y: Array) -> list[int]:
    """Return columns of X (n, D) of which the largest is the class (n,), or none.

    The score of a class is large in it, and alike in all others. As other labels, it has no gap.
    """
    classes, spread = np.unique(y), np.maximum(X.std(axis=0), np.finfo(np.float32).tiny)
    means = np.stack([X[y == each].mean(axis=0) for each in classes]) / spread
    lowest, *_, second, top = np.sort(means, axis=0)
    like = np.where(means == top, top - 2 * second + lowest, -np.inf)
    columns: list[int] = like.argmax(axis=1).tolist()
    *_, second, top = np.sort(X[:, columns], axis=1).T
    right = classes[X[:, columns].argmax(axis=1)] == y
    near = (top - second <= _NEAR * np.median(top - second)).mean()
    is_clear = len({*columns}) == len(columns) and right.mean() >= 1 - LEAST["class"]
    return columns if is_clear and near >= CUT else []
