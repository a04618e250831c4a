"""Sums of products of bytes, for the matrices of a tree."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from protonn_edge.chain.integer_stage import IntArray, Range
from protonn_edge.chain.matvec import products


@dataclass(frozen=True, eq=False)
class Sums:
    """Sums ``bias_k + sum_i weights_ki x_i``.

    Attributes
    ----------
    weights : ndarray of shape (r, d), int8
    bias : ndarray of shape (r,), int64
    """

    weights: NDArray[np.int8]
    bias: IntArray

    def of(self, x: NDArray[Any]) -> IntArray:
        """Return the sums (n, r) of inputs x (n, d)."""
        return products(self.weights, self.bias, x)

    def range_for(self, feed: Range) -> Range:
        """Return the range of each sum for a range of inputs."""
        wide = self.weights.astype(np.int64)
        positive: IntArray = np.maximum(wide, 0)
        negative: IntArray = np.minimum(wide, 0)
        low: IntArray = self.bias + positive @ feed.low + negative @ feed.high
        high: IntArray = self.bias + positive @ feed.high + negative @ feed.low
        return Range(low, high)
