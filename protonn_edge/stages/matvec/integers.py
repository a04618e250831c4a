"""The product of a matrix of int8 and bytes, in integers."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from protonn_edge.stages.integer_stage import IntArray, Range


def products(weights: NDArray[np.int8], bias: IntArray, x: NDArray[np.uint8]) -> IntArray:
    """Return bias + W x, (n, d), of weights W (d, D), a bias (d,) and points x (n, D)."""
    # BLAS has no integer product; float64 is exact here, all sums are far below 2**53.
    sums = x.astype(np.float64) @ weights.T.astype(np.float64)
    return bias + sums.astype(np.int64)


def range_of_products(weights: NDArray[np.int8], bias: IntArray, maximum: int) -> Range:
    """Bound bias + W x over all x in 0..maximum, also on the way: extremes pick one sign each."""
    wide = weights.astype(np.int64)
    low = bias + maximum * np.minimum(wide, 0).sum(axis=1)
    high = bias + maximum * np.maximum(wide, 0).sum(axis=1)
    return Range(low, high)
