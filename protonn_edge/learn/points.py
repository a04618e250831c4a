"""Points to learn from, and what moves or changes them.

Equal points with the same label are merged into one with the sum of their weights, and points are
sorted into a canonical order. For every optimizer and initialization, a weight of 2 is therefore
exactly equivalent to a repeated point, a weight of 0 to an omitted one, and the order of the rows
does not matter.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from protonn_edge.model.features import Features
from protonn_edge.model.integer_stage import MOST_CLASSES
from protonn_edge.model.statistics import InputStatistics, Normalizer
from protonn_edge.system.arrays import Array
from protonn_edge.system.errors import InputError

Float32 = NDArray[np.float32]
Indices = NDArray[np.int64]
Targets = Array
"""Class indices (n,), L for a point of no class; or a matrix (n, L): label sets, 1 where a point
has one, which may also be shares of classes, or normalized numbers."""


_EVALUATED_POINTS = 1_000


@dataclass(frozen=True, eq=False)
class InputSpace:
    """How a head's inputs come from raw points, by which integers stand for them."""

    normalizer: Normalizer
    inputs: InputStatistics  # of the values before they are normalized
    stage: Features | None = None  # computes these values from raw points, if not the points do


@dataclass(frozen=True, eq=False)
class Points:
    """Points to learn from; or those of one step, which are copies.

    Points given by a user are raw. A learner gets normalized points with their `space`, and the
    `raw` points that they came from.
    """

    X: Float32  # (n, D)
    y: Targets
    weight: Array | None = None  # (n,): weight of each point; None is 1 for all
    group: Indices | None = None  # (n,): the person, day or sensor that each point comes from
    n_classes: int = 0  # L; 0 for as many as `y` has
    Y: Float32 = None  # type: ignore[assignment]  # (n, L): 1 at the class or labels, else 0
    rows: Indices | None = None  # (n,): of a step, which of all points it has
    space: InputSpace | None = None
    raw: Float32 | None = None  # (n, features)
    # what moves the points of each step, and the points with which that begins, if not these
    moved_by: tuple[Transform, ...] = ()
    unmoved: Float32 | None = None
    n_rows: int = 0  # points before equal ones were merged; 0 for as many as these
    test: Points | None = None  # normalized points that are used only in reports
    labels: Any = None  # their `ClassLabels`, which training needs

    def __post_init__(self) -> None:
        y, count = self.y, self.n_classes
        if not count:
            count = y.shape[1] if y.ndim == 2 else int(y.max()) + 1
            object.__setattr__(self, "n_classes", count)
        if not self.n_rows:
            object.__setattr__(self, "n_rows", len(self))
        if self.Y is None:
            object.__setattr__(self, "Y", y if y.ndim == 2 else _one_hot(y, count))

    def __len__(self) -> int:
        return int(self.X.shape[0])

    @property
    def for_device(self) -> bool:
        """Whether what is learned can be converted to integers, which training then considers."""
        space = self.space
        few = self.n_classes <= MOST_CLASSES
        return few and space is not None and space.normalizer.kind != "l2"

    @cached_property
    def has_strangers(self) -> bool:
        """Whether some points are of no class."""
        return self.y.ndim == 1 and int(self.y.max()) == self.n_classes

    def part(self, rows: Any) -> Self:
        """Return some of the points."""
        weight, group = (None if each is None else each[rows] for each in (self.weight, self.group))
        X, y, Y = self.X[rows], self.y[rows], self.Y[rows]
        return replace(self, X=X, y=y, Y=Y, weight=weight, group=group)

    def others(self, X: Float32, y: Targets, weight: Array | None, group: Indices | None) -> Points:
        """Return other points whose labels are of the same kind."""
        return Points(X, y, weight, group, self.n_classes, labels=self.labels)

    @cached_property
    def changing(self) -> NDArray[np.bool_]:
        """Which of the features vary, shape (D,)."""
        varies: NDArray[np.bool_] = self.X.min(axis=0) != self.X.max(axis=0)
        return varies

    @cached_property
    def evaluated(self) -> tuple[Float32, Targets]:
        """Evenly spaced points and their classes, for the training accuracy."""
        X, y = self.X, self.y
        if self.has_strangers:
            classified = y < self.n_classes
            X, y = X[classified], y[classified]
        step = -(-X.shape[0] // _EVALUATED_POINTS)
        return X[::step], y[::step]

    def batches(self, size: int, generator: np.random.Generator) -> Iterator[Points]:
        """Yield all points once, in random order, `size` at a time, moved."""
        order = generator.permutation(len(self))
        for start in range(0, len(self), size):
            yield self.step(order[start : start + size], generator)

    def step(self, rows: Indices, generator: np.random.Generator) -> Points:
        """Return the points of a step, moved."""
        X = self.X if self.unmoved is None else self.unmoved
        weight, group = (None if each is None else each[rows] for each in (self.weight, self.group))
        y, Y = self.y[rows], self.Y[rows]
        step = Points(X[rows], y, weight, group, self.n_classes, Y, rows, labels=self.labels)
        for each in self.moved_by:
            step = each.apply(step, generator)
        return step

    def through(self, change: Callable[[Any], Any]) -> Self:
        """Return the same points with a change applied."""
        return replace(self, X=change(self.X))


def _one_hot(y: Targets, n_classes: int) -> Float32:
    """Return rows with a 1 at the class; rows of zeros for points of no class."""
    last = max(n_classes, int(y.max(initial=0)) + 1)
    return np.eye(last, dtype=np.float32)[y][:, :n_classes]


class Transform:
    """Something that changes points, or moves them at random.

    It is fitted once, to all points as those before it leave them. Then it is applied once to all
    points or, if it `moves`, to the points of each step, and so is everything after it.
    """

    moves: ClassVar[bool] = False
    salt: ClassVar[int] = 0  # of the random numbers with which it is applied to all points

    def fit(self, points: Points) -> Self:  # noqa: ARG002
        """Learn what it needs to know of all points; return itself."""
        return self

    def apply(self, points: Points, generator: np.random.Generator) -> Points:
        """Return points changed; those of a step may be changed in place."""
        raise NotImplementedError


def fitted(transforms: Sequence[Transform], points: Points, seed: int) -> Points:
    """Fit transforms to points, one after the other; return the points after all of them.

    From the first one that moves points on, all are applied to each step of the points, too.
    """
    first: int | None = None
    unmoved: Float32 | None = None
    for place, each in enumerate(transforms):
        each.fit(points)
        if not each.moves:
            points = each.apply(points, np.random.default_rng([seed, each.salt]))
        elif first is None:
            first, unmoved = place, points.X
    moved_by = () if first is None else tuple(transforms[first:])
    return replace(points, moved_by=moved_by, unmoved=unmoved)


def sample_with_all_classes(y: Targets, count: int, generator: np.random.Generator) -> Indices:
    """Return about `count` random rows in their order, including the first of each class."""
    first: Indices = np.zeros(0, np.int64)  # of sets of labels, any rows
    if y.ndim == 1:
        _, first = np.unique(y, return_index=True)
    rows: Indices = np.union1d(first, generator.permutation(y.shape[0])[:count])
    return rows


def distinct_points(points: Points) -> Points:
    """Merge equal points of the same class and group, drop points of weight 0, and sort the rest.

    Weights get a mean of 1; they are None if all are equal.
    """
    X, y, weights, groups = points.X, points.y, points.weight, points.group
    if weights is None:
        weights = np.ones(X.shape[0])
    rows = np.flatnonzero(weights)
    X, y, weights = X[rows] + np.float32(0), y[rows], weights[rows]  # -0.0 becomes 0.0
    groups = None if groups is None else groups[rows]
    last = [] if groups is None else [groups.astype(np.float32)]  # in the order of the points
    keys = np.column_stack([y.astype(np.float32), X, *last])
    as_bytes = keys.view(np.dtype((np.void, keys.itemsize * keys.shape[1]))).ravel()
    _, first, copy_of = np.unique(as_bytes, return_index=True, return_inverse=True)
    sums = np.bincount(copy_of, weights=weights)
    total = sums / sums.mean()
    equal = np.ptp(total) <= 1e-9
    weight = None if equal else total.astype(np.float32)
    group = None if groups is None else groups[first]
    return points.others(X[first], y[first], weight, group)


def check_finite(X: Float32, what: str = "X") -> None:
    """Refuse points X (n, D) with a NaN or an infinite value."""
    if np.isfinite(np.sum(X, dtype=np.float64)) or np.isfinite(X).all():  # the sum may overflow
        return
    row, feature = (int(index) for index in np.argwhere(~np.isfinite(X))[0])
    value = "NaN" if np.isnan(X[row, feature]) else "a value that is infinite or too large"
    raise InputError(
        f"row {row:,} of {what} has {value} in feature {feature:,}; fix or drop the point"
    )


def check_varying(lower: Array, upper: Array) -> None:
    """Refuse features that are all constant, by their smallest and largest values (D,)."""
    if not (lower < upper).any():
        raise InputError(
            f"every feature is constant (feature 0 is always {float(lower[0]):g}), so the points "
            "cannot be distinguished; use features that vary"
        )
