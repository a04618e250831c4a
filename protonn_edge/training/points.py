"""The training points: distinct, weighted, normalized, with their targets.

Equal points with the same label are merged into one with the sum of their weights, and points are
sorted into a canonical order. For every optimizer and initialization, a weight of 2 is therefore
exactly equivalent to a repeated point, a weight of 0 to an omitted one, and the order of the rows
does not matter.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from protonn_edge.errors import InputError
from protonn_edge.training.mapped_rows import MappedRows, Rows, column_range

if TYPE_CHECKING:
    from protonn_edge.training.targets import Target

Float32 = NDArray[np.float32]
Indices = NDArray[np.int64]
Targets = NDArray[Any]
"""Class indices (n,), L for a point of no class; or a matrix (n, L): label sets, 1 where a point
has a label, or normalized numbers."""

_EVALUATED_POINTS = 10_000
_SAMPLED_POINTS = 20_000


@dataclass(frozen=True, eq=False)
class Batch:
    """The points of one step. An optimizer may change the arrays, which are copies."""

    rows: Indices  # (b,): row numbers of the points
    # as in `TrainingSet`, of b points
    X: Float32
    Y: Float32
    weights: Float32 | None


@dataclass(frozen=True, eq=False)
class TrainingSet:
    """The data on which an optimizer minimizes the objective."""

    X: Rows  # (n, D): normalized points
    y: Targets
    Y: Float32  # (n, L): targets: 1 at the point's class or labels, else 0; or numbers
    target: Target  # what the points teach
    weights: Float32 | None = None  # (n,): weight of each point, 1 on average; None is 1 for all
    # normalized points, with classes or label sets, used only in reports
    test: tuple[Float32, Targets] | None = None
    outlier_exposure: bool = False  # whether some points are of no class

    def __len__(self) -> int:
        return int(self.X.shape[0])

    def sample(self, generator: np.random.Generator) -> TrainingSet:
        """Return all points if they are in memory, else some of a mapped file."""
        if not isinstance(self.X, MappedRows):
            return self
        rows = sample_with_all_classes(self.y, _SAMPLED_POINTS, generator)
        weights = None if self.weights is None else self.weights[rows]
        return replace(self, X=self.X[rows], y=self.y[rows], Y=self.Y[rows], weights=weights)

    @classmethod
    def of_targets(
        cls,
        X: Rows,
        y: Targets,
        weights: Float32 | None = None,
        *,
        target: Target,
        strange: bool = False,
    ) -> TrainingSet:
        """Return the set with classes as targets, the last one perhaps of none, or a matrix."""
        if y.ndim == 2:
            return cls(X, y, y, target, weights)
        Y = np.eye(int(y.max()) + 1, dtype=np.float32)[y]
        return cls(X, y, Y[:, :-1] if strange else Y, target, weights, outlier_exposure=strange)

    @cached_property
    def changing(self) -> NDArray[np.bool_]:
        """Which of the features vary, shape (D,)."""
        lower, upper = column_range(self.X)
        varies: NDArray[np.bool_] = lower != upper
        return varies

    @cached_property
    def evaluated(self) -> tuple[Float32, Targets]:
        """Evenly spaced points and their classes, for the training accuracy."""
        X, y = self.X, self.y
        if self.outlier_exposure:
            classified = y < self.Y.shape[1]
            X, y = X[classified], y[classified]
        step = -(-X.shape[0] // _EVALUATED_POINTS)
        return X[::step], y[::step]

    def batches(self, size: int, generator: np.random.Generator) -> Iterator[Batch]:
        """Yield all points once, in random order, `size` at a time."""
        order = generator.permutation(len(self))
        for start in range(0, len(self), size):
            rows = order[start : start + size]
            weights = None if self.weights is None else self.weights[rows]
            yield Batch(rows, self.X[rows], self.Y[rows], weights)

    def through(self, change: Callable[[Float32], Float32]) -> TrainingSet:
        """Return the same set with a change applied to the points."""
        X = self.X.through(change) if isinstance(self.X, MappedRows) else change(self.X)
        return replace(self, X=X)


def sample_with_all_classes(y: Targets, count: int, generator: np.random.Generator) -> Indices:
    """Return about `count` random rows in their order, including the first of each class."""
    first: Indices = np.zeros(0, np.int64)  # of sets of labels, any rows
    if y.ndim == 1:
        _, first = np.unique(y, return_index=True)
    rows: Indices = np.union1d(first, generator.permutation(y.shape[0])[:count])
    return rows


def distinct_points(
    X: Float32,
    y: Targets,
    weights: NDArray[np.float64] | None,
    groups: Indices | None = None,
) -> tuple[Float32, Targets, Float32 | None, Indices | None]:
    """Merge equal points of the same class and group, drop points of weight 0, and sort the rest.

    Returns points, classes or label sets, weights with a mean of 1, None if all are equal, and
    groups, if any.
    """
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
    kept = None if groups is None else groups[first]
    return X[first], y[first], None if equal else total.astype(np.float32), kept


def check_finite(X: Float32, what: str = "X", first_row: int = 0) -> None:
    """Refuse points X (n, D) with a NaN or an infinite value; `first_row` is the number of X[0]."""
    if np.isfinite(np.sum(X, dtype=np.float64)) or np.isfinite(X).all():  # the sum may overflow
        return
    row, feature = (int(index) for index in np.argwhere(~np.isfinite(X))[0])
    value = "NaN" if np.isnan(X[row, feature]) else "a value that is infinite or too large"
    raise InputError(
        f"row {first_row + row:,} of {what} has {value} in feature {feature:,}; fix or drop the "
        "point"
    )


def check_varying(lower: NDArray[Any], upper: NDArray[Any]) -> None:
    """Refuse features that are all constant, by their smallest and largest values (D,)."""
    if not (lower < upper).any():
        raise InputError(
            f"every feature is constant (feature 0 is always {float(lower[0]):g}), so the points "
            "cannot be distinguished; use features that vary"
        )
