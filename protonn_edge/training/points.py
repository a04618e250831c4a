"""The training points: distinct, weighted, normalized, with their targets.

Equal points with the same label are merged into one with the sum of their weights, and points are
sorted into a canonical order. For every optimizer and initialization, a weight of 2 is therefore
exactly equivalent to a repeated point, a weight of 0 to an omitted one, and the order of the rows
does not matter.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from hashlib import sha256
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, issparse

from protonn_edge.datasets.dataset import Sparse, constant_columns, dense_rows
from protonn_edge.errors import InputError

Float32 = NDArray[np.float32]
Indices = NDArray[np.int64]

_EVALUATED_POINTS = 10_000


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
    """The data on which an optimizer minimizes the objective, in memory; see also `StoredSet`."""

    X: Float32 | Sparse  # (n, D): normalized points
    # (n,): class indices, L for a point of no class; or Y if there are sets of labels
    y: Indices | Sparse
    Y: Float32 | Sparse  # (n, L): targets: 1 at the point's class or labels, else 0
    weights: Float32 | None = None  # (n,): weight of each point, 1 on average; None is 1 for all
    # normalized points, with classes or label sets, used only in reports
    test: tuple[Float32 | Sparse, Indices | Sparse] | None = None
    change: Callable[[Float32], Float32] | None = None  # a change applied to the points of a batch
    outlier_exposure: bool = False  # whether some points are of no class

    def __len__(self) -> int:
        return int(self.X.shape[0])

    @property
    def multilabel(self) -> bool:
        """Whether the targets are sets of labels."""
        return bool(issparse(self.y))

    @classmethod
    def of_targets(
        cls, X: Any, y: Any, weights: Float32 | None = None, *, strange: bool = False
    ) -> TrainingSet:
        """Return the set with classes as targets, the last one perhaps of none, or label sets."""
        if issparse(y):
            return cls(X, y, y, weights)
        Y = np.eye(int(y.max()) + 1, dtype=np.float32)[y]
        return cls(X, y, Y[:, :-1] if strange else Y, weights, outlier_exposure=strange)

    @property
    def changing(self) -> NDArray[np.bool_]:
        """Which of the features vary, shape (D,)."""
        return ~constant_columns(self.X)

    @property
    def evaluated(self) -> tuple[Float32 | Sparse, Indices | Sparse]:
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
            X = dense_rows(self.X, rows)
            if self.change is not None:
                X = self.change(X)
            yield Batch(rows, X, dense_rows(self.Y, rows), weights)

    def through(self, change: Callable[[Float32], Float32]) -> TrainingSet:
        """Return the same set with a change applied to the points, all at once unless sparse."""
        if issparse(self.X):
            return replace(self, change=change)
        return replace(self, X=change(self.X))


def distinct_points(
    X: Float32 | Sparse,
    y: Indices | Sparse,
    weights: NDArray[np.float64] | None,
    groups: Indices | None = None,
) -> tuple[Float32 | Sparse, Indices | Sparse, Float32 | None, Indices | None]:
    """Merge equal points of the same class and group, drop points of weight 0, and sort the rest.

    Points with groups are dense. Returns points, classes or label sets, weights with a mean of 1,
    None if all are equal, and groups, if any.
    """
    if weights is None:
        weights = np.ones(X.shape[0])
    rows = np.flatnonzero(weights)
    X, y, weights = X[rows], y[rows], weights[rows]
    groups = None if groups is None else groups[rows]
    if not issparse(X):
        X = X + np.float32(0)  # -0.0 becomes 0.0
    _, first, copy_of = np.unique(_row_keys(X, y, groups), return_index=True, return_inverse=True)
    sums = np.bincount(copy_of, weights=weights)
    total = sums / sums.mean()
    equal = np.ptp(total) <= 1e-9
    kept = None if groups is None else groups[first]
    return X[first], y[first], None if equal else total.astype(np.float32), kept


def _row_keys(
    X: Float32 | Sparse, y: Indices | Sparse, groups: Indices | None = None
) -> NDArray[Any]:
    """Return a key for each point, equal for equal points of the same class and group."""
    if not issparse(X) and not issparse(y):
        last = [] if groups is None else [groups.astype(np.float32)]  # in the order of the points
        keys = np.column_stack([y.astype(np.float32), X, *last])
        return keys.view(np.dtype((np.void, keys.itemsize * keys.shape[1]))).ravel()
    parts = [_rows_as_bytes(matrix) for matrix in (y, X)]
    digests = [sha256(left + right).digest() for left, right in zip(*parts, strict=True)]
    return np.array(digests, dtype=np.dtype((np.void, 32)))


def _rows_as_bytes(matrix: NDArray[Any] | Sparse) -> Iterator[bytes]:
    """Yield the rows as bytes; each begins with its length."""
    if not issparse(matrix):
        for row in matrix:
            yield row.tobytes()
        return
    matrix = csr_array(matrix, copy=True)
    matrix.sum_duplicates()
    matrix.eliminate_zeros()
    for start, stop in pairwise(matrix.indptr):
        count = np.int64(stop - start).tobytes()
        indices = matrix.indices[start:stop].astype(np.int64).tobytes()
        yield count + indices + matrix.data[start:stop].tobytes()


def check_finite(X: Any, what: str = "X", first_row: int = 0) -> None:
    """Refuse points X (n, D) with a NaN or an infinite value; `first_row` is the number of X[0]."""
    values = X.data if issparse(X) else X
    if X.dtype.kind != "f" or np.isfinite(np.sum(values, dtype=np.float64)):
        return
    bad = ~np.isfinite(values)
    if not bad.any():  # only their sum overflows
        return
    if issparse(X):
        places, first = X.tocoo(), int(bad.argmax())
        row, feature = int(places.row[first]), int(places.col[first])
    else:
        row, feature = (int(index) for index in np.argwhere(bad)[0])
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
