"""Statistics of features whose points come in parts, as `InputStatistics` has them of a whole."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from protonn_edge.model import InputStatistics

Float64 = NDArray[np.float64]


class RunningStatistics:
    """Mean, deviation and range of the points seen so far.

    Parts are combined by the pairwise rule of Chan, Golub and LeVeque (1983), which loses no digits
    however many parts there are and however far the mean is from 0.
    """

    def __init__(self, n_features: int) -> None:
        self.lower: Float64 = np.full(n_features, np.inf)
        self.upper: Float64 = np.full(n_features, -np.inf)
        self._total = 0.0
        self._mean: Float64 = np.zeros(n_features)
        self._squares: Float64 = np.zeros(n_features)  # sum of squared deviations from the mean

    @classmethod
    def following(cls, inputs: InputStatistics, total: float) -> Self:
        """Go on after points of these statistics that weighed `total` together."""
        running = cls(len(inputs.mean))
        running.lower, running.upper = inputs.lower.copy(), inputs.upper.copy()
        running._total, running._mean = total, inputs.mean.copy()
        running._squares = total * np.square(inputs.deviation)
        return running

    def add(self, X: NDArray[Any], weights: NDArray[Any] | None = None) -> None:
        """Take in points X (n, D), finite, with weights (n,) above 0, or 1 each."""
        if not len(X):
            return
        np.minimum(self.lower, X.min(axis=0), out=self.lower)
        np.maximum(self.upper, X.max(axis=0), out=self.upper)
        counted = np.ones(len(X)) if weights is None else np.asarray(weights, dtype=np.float64)
        total = float(counted.sum())
        shift = X[0].astype(np.float64)  # of the points' own size, so that no digits are lost
        centred = X - shift
        mean = counted @ centred / total
        squares = counted @ np.square(centred) - total * np.square(mean)
        apart = mean + shift - self._mean
        both = self._total + total
        self._mean += apart * (total / both)
        self._squares += np.maximum(squares, 0.0)
        self._squares += np.square(apart) * (self._total * total / both)
        self._total = both

    def inputs(self, background: NDArray[Any]) -> InputStatistics:
        """Return the statistics, with the most frequent values (D,) found in some other way."""
        return InputStatistics(
            lower=self.lower,
            upper=self.upper,
            mean=self._mean,
            deviation=np.sqrt(self._squares / self._total),
            background=background,
        )
