"""Statistics of features of points that arrive in parts, like `InputStatistics`.

Those of sparse features are computed without making them dense.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csc_array

from protonn_edge.chain.feature_stage import FeatureStage
from protonn_edge.chain.statistics import InputStatistics
from protonn_edge.datasets.dataset import Sparse, column_range


def sparse_statistics(X: Sparse, weights: NDArray[np.float32] | None = None) -> InputStatistics:
    """Like `InputStatistics.of`, for sparse points X (n, D) with weights (n,)."""
    counted = np.ones(X.shape[0]) if weights is None else weights.astype(np.float64)
    lower, upper = column_range(X)
    columns = csc_array(X, dtype=np.float64)
    mean = counted @ columns / counted.sum()
    spread = counted @ columns.multiply(columns).tocsc() / counted.sum() - mean**2
    return InputStatistics(
        lower=lower.astype(np.float64),
        upper=upper.astype(np.float64),
        mean=mean,
        deviation=np.sqrt(np.maximum(spread, 0.0)),
        background=_most_frequent(columns, counted),
    )


def _most_frequent(columns: Sparse, counted: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the most frequent value of each column; the smallest of several."""
    background = np.zeros(columns.shape[1])
    per_row = counted[columns.indices]
    for column in range(len(background)):
        part = slice(columns.indptr[column], columns.indptr[column + 1])
        stored = per_row[part].sum()
        values, places = np.unique(np.append(columns.data[part], 0.0), return_inverse=True)
        totals = np.bincount(places, weights=np.append(per_row[part], counted.sum() - stored))
        background[column] = values[totals.argmax()]
    return background


Float64 = NDArray[np.float64]


class RunningInputs:
    """The input statistics of a model whose training points arrive in parts.

    The features of a point are `n_inputs`, computed by the stage, if any. Parts are combined by the
    pairwise rule of Chan, Golub and LeVeque (1983), which keeps full precision for any number of
    parts and any mean.
    """

    def __init__(self, n_inputs: int, stage: FeatureStage | None = None) -> None:
        self._stage = stage
        self._one_range = stage is not None and stage.scale is None
        self._ends = np.inf, -np.inf  # of all raw values, for one range
        self._lower: Float64 = np.full(n_inputs, np.inf)
        self._upper: Float64 = np.full(n_inputs, -np.inf)
        self._total = 0.0
        self._mean: Float64 = np.zeros(n_inputs)
        self._squares: Float64 = np.zeros(n_inputs)  # sum of squared deviations from the mean

    def follow(self, inputs: InputStatistics, total: float) -> None:
        """Continue after points with these statistics and the total weight `total`."""
        self._ends = float(inputs.lower.min()), float(inputs.upper.max())
        self._lower, self._upper = inputs.lower.copy(), inputs.upper.copy()
        self._total, self._mean = total, inputs.mean.copy()
        self._squares = total * np.square(inputs.deviation)

    def add(self, points: NDArray[Any], weights: NDArray[Any] | None = None) -> None:
        """Add raw points (n, features), finite, with weights (n,) above 0, or 1 each."""
        if not len(points):
            return
        if self._one_range:
            low, high = self._ends
            self._ends = min(low, float(points.min())), max(high, float(points.max()))
        X = points if self._stage is None else self._stage.apply(points)
        np.minimum(self._lower, X.min(axis=0), out=self._lower)
        np.maximum(self._upper, X.max(axis=0), out=self._upper)
        counted = np.ones(len(X)) if weights is None else np.asarray(weights, dtype=np.float64)
        total = float(counted.sum())
        shift = X[0].astype(np.float64)  # as large as the points, so that no digits are lost
        centred = X - shift
        mean = counted @ centred / total
        squares = counted @ np.square(centred) - total * np.square(mean)
        apart = mean + shift - self._mean
        both = self._total + total
        self._mean += apart * (total / both)
        self._squares += np.maximum(squares, 0.0)
        self._squares += np.square(apart) * (self._total * total / both)
        self._total = both

    @property
    def changing(self) -> NDArray[np.bool_]:
        """Which inputs have varied so far, (D,)."""
        changing: NDArray[np.bool_] = self._lower < self._upper
        return changing

    def inputs(self, background: NDArray[Any]) -> InputStatistics:
        """Return the statistics, given the most frequent values (D,)."""
        lower, upper = self._lower, self._upper
        if self._one_range:  # see `InputStatistics.of_averages`
            lower, upper = (np.full_like(lower, end) for end in self._ends)
        return InputStatistics(
            lower=lower,
            upper=upper,
            mean=self._mean,
            deviation=np.sqrt(self._squares / self._total),
            background=np.clip(background, lower, upper),
        )
