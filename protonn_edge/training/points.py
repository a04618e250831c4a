"""The points that training sees: distinct, weighted, normalized, with their targets.

Equal points with the same label are merged into one that weighs as much as all of them, and points
come in an order of their own. So a weight of 2 is exactly a point given twice and a weight of 0 one
left out, for every optimizer and every initialization, and the order of the rows does not matter.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Protocol, Self

import numpy as np
from numpy.typing import NDArray

Float32 = NDArray[np.float32]
Indices = NDArray[np.int64]

_EVALUATED_POINTS = 10_000


@dataclass(frozen=True, eq=False)
class Batch:
    """The points of one step. Its arrays are its own: an optimizer may change them.

    Attributes
    ----------
    rows : ndarray of shape (b,), int64
        Which points they are.
    X, Y, weights : ndarray
        As in `TrainingSet`, of b points.
    """

    rows: Indices
    X: Float32
    Y: Float32
    weights: Float32 | None


class Source(Protocol):
    """Where batches come from: points in memory, or on disk."""

    @property
    def changing(self) -> NDArray[np.bool_]:
        """Which of the D features are not the same in all points, shape (D,)."""

    @property
    def evaluated(self) -> tuple[Float32, Indices]:
        """Normalized points and classes that the training accuracy is measured on."""

    @property
    def test(self) -> tuple[Float32, Indices] | None:
        """Normalized points and classes that are only reported on."""

    def __len__(self) -> int: ...

    def batches(self, size: int, generator: np.random.Generator) -> Iterator[Batch]:
        """Go through all points once, in an order of the generator's, `size` at a time."""

    def through(self, change: Callable[[Float32], Float32]) -> Self:
        """Return the same source with something done to the points X of its batches."""


@dataclass(frozen=True, eq=False)
class TrainingSet:
    """What an optimizer minimizes the objective on.

    Attributes
    ----------
    X : ndarray of shape (n, D), float32
        Normalized points.
    y : ndarray of shape (n,), int64
        Class indices.
    Y : ndarray of shape (n, L), float32
        Targets: a row is 1 at the point's class and 0 elsewhere.
    weights : ndarray of shape (n,), float32, or None
        What each point counts, 1 on average; None is 1 for all.
    test : tuple of (n', D) float32 and (n',) int64, or None
        Normalized points and classes that are only reported on.
    """

    X: Float32
    y: Indices
    Y: Float32
    weights: Float32 | None = None
    test: tuple[Float32, Indices] | None = None

    @classmethod
    def of_classes(
        cls,
        X: Float32,
        y: Indices,
        weights: Float32 | None = None,
        test: tuple[Float32, Indices] | None = None,
    ) -> TrainingSet:
        """Return the set whose targets are the classes `y` themselves."""
        return cls(X, y, np.eye(int(y.max()) + 1, dtype=np.float32)[y], weights, test)

    def __len__(self) -> int:
        return len(self.X)

    @property
    def changing(self) -> NDArray[np.bool_]:
        """Which of the features are not the same in all points, shape (D,)."""
        changing: NDArray[np.bool_] = self.X.min(axis=0) < self.X.max(axis=0)
        return changing

    @property
    def evaluated(self) -> tuple[Float32, Indices]:
        """The points and classes that the training accuracy is measured on, at even distances."""
        step = -(-len(self.X) // _EVALUATED_POINTS)
        return self.X[::step], self.y[::step]

    def batches(self, size: int, generator: np.random.Generator) -> Iterator[Batch]:
        """Go through all points once, in an order of the generator's, `size` at a time."""
        order = generator.permutation(len(self.X))
        for start in range(0, len(self.X), size):
            rows = order[start : start + size]
            weights = None if self.weights is None else self.weights[rows]
            yield Batch(rows, self.X[rows], self.Y[rows], weights)

    def through(self, change: Callable[[Float32], Float32]) -> TrainingSet:
        """Return the same set with something done to the points, all at once."""
        return replace(self, X=change(self.X))


def distinct_points(
    X: Float32, y: Indices, weights: NDArray[np.float64] | None
) -> tuple[Float32, Indices, Float32 | None]:
    """Merge equal points of the same class, drop those without weight, and order the rest.

    Parameters
    ----------
    X : ndarray of shape (n, D), float32
        Raw features.
    y : ndarray of shape (n,), int64
        Class indices.
    weights : ndarray of shape (n,), float64, or None
        Not negative; None is 1 for all.

    Returns
    -------
    tuple
        Points, classes, and weights whose mean is 1, None if all are equal.
    """
    if weights is None:
        weights = np.ones(len(X))
    rows = np.flatnonzero(weights)
    X, y, weights = X[rows] + np.float32(0), y[rows], weights[rows]  # -0.0 becomes 0.0
    keys = np.column_stack([y.astype(np.float32), X])
    bytes_of_rows = keys.view(np.dtype((np.void, keys.itemsize * keys.shape[1]))).ravel()
    _, first, copy_of = np.unique(bytes_of_rows, return_index=True, return_inverse=True)
    sums = np.bincount(copy_of, weights=weights)
    total = sums / sums.mean()
    equal = np.ptp(total) <= 1e-9
    return X[first], y[first], None if equal else total.astype(np.float32)
