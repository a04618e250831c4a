"""The points that training sees: distinct, weighted, normalized, with their targets.

Equal points with the same label are merged into one that weighs as much as all of them, and points
come in an order of their own. So a weight of 2 is exactly a point given twice and a weight of 0 one
left out, for every optimizer and every initialization, and the order of the rows does not matter.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Float32 = NDArray[np.float32]
Indices = NDArray[np.int64]


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
