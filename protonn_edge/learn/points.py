"""Points to learn from.

Equal points with the same label are merged into one with the sum of their weights, and points are
sorted into a canonical order. For every optimizer and initialization, a weight of 2 is therefore
exactly equivalent to a repeated point, a weight of 0 to an omitted one, and the order of the rows
does not matter.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from protonn_edge.system.arrays import Array
from protonn_edge.system.errors import InputError

Float32 = NDArray[np.float32]
Indices = NDArray[np.int64]
Targets = Array
"""Class indices (n,), L for a point of no class; or a matrix (n, L): label sets, 1 where a point
has one, which may also be shares of classes, or normalized numbers."""

Move = Callable[[Float32, Indices, np.random.Generator], Float32]
"""Moves the points (n, D) of a step at random, perhaps in place; the indices are their rows."""


@dataclass(frozen=True, eq=False)
class Points:
    """Points to learn from."""

    X: Float32  # (n, D)
    y: Targets
    weight: Array | None = None  # (n,): weight of each point; None is 1 for all
    group: Indices | None = None  # (n,): the person, day or sensor that each point comes from

    def __len__(self) -> int:
        return int(self.X.shape[0])

    def weights(self, rows: Any) -> Array | None:
        """Return the weights of some of the points; None if all are 1."""
        return None if self.weight is None else self.weight[rows]

    def part(self, rows: Any) -> Points:
        """Return some of the points."""
        group = None if self.group is None else self.group[rows]
        return Points(self.X[rows], self.y[rows], self.weights(rows), group)

    def some(self, most: int) -> Points:
        """Return evenly spaced points, at most this number."""
        step = -(-len(self) // most)
        return self if step <= 1 else self.part(slice(None, None, step))


def sample_with_all_classes(y: Targets, count: int, generator: np.random.Generator) -> Indices:
    """Return about `count` random rows in their order, including the first of each class."""
    first: Indices = np.zeros(0, np.int64)  # of sets of labels, any rows
    if y.ndim == 1:
        _, first = np.unique(y, return_index=True)
    rows: Indices = np.union1d(first, generator.permutation(y.shape[0])[:count])
    return rows


def as_columns(y: Targets) -> Float32:
    """Return targets as columns (n, L): class indices (n,) as 1 at the class and 0 elsewhere."""
    return y if y.ndim == 2 else np.eye(int(y.max()) + 1, dtype=np.float32)[y]


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
    return Points(X[first], y[first], weight, group)


def check_finite(X: Float32, what: str = "X") -> None:
    """Refuse points X (n, D) with a NaN or an infinite value."""
    if np.isfinite(np.sum(X, dtype=np.float64)) or np.isfinite(X).all():  # the sum may overflow
        return
    row, feature = (int(index) for index in np.argwhere(~np.isfinite(X))[0])
    value, remedy = "a value that is infinite or too large", "fix"
    if np.isnan(X[row, feature]):
        value = "NaN"
        remedy = "put a SimpleImputer in a pipeline, which from_pipeline folds into the model,"
    raise InputError(
        f"row {row:,} of {what} has {value} in feature {feature:,}; {remedy} or drop the point"
    )


def check_varying(lower: Array, upper: Array) -> None:
    """Refuse features that are all constant, by their smallest and largest values (D,)."""
    if not (lower < upper).any():
        raise InputError(
            f"every feature is constant (feature 0 is always {float(lower[0]):g}), so the points "
            "cannot be distinguished; use features that vary"
        )
