"""Hashes of the rows of a matrix, to count equal ones."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

_BLOCK_VALUES = 2**18

Hashes = NDArray[np.uint64]


def row_hashes(X: NDArray[Any]) -> Hashes:
    """Return a hash (n,) of the float32 of each row of X (n, D), the same on all machines.

    It is the sum of products with a random number per column, folded and mixed; -0 counts as 0.
    """
    factors = _mixed(np.arange(X.shape[1], dtype=np.uint64)) | np.uint64(1)
    hashes = np.empty(len(X), np.uint64)
    step = max(1, _BLOCK_VALUES // max(1, X.shape[1]))
    for start in range(0, len(X), step):
        block = np.ascontiguousarray(X[start : start + step], np.float32) + np.float32(0)
        products = block.view(np.uint32) * factors
        products ^= products >> np.uint64(32)
        hashes[start : start + step] = products.sum(axis=1, dtype=np.uint64)
    return _mixed(hashes)


def _mixed(values: Hashes) -> Hashes:
    """Return 64-bit integers with all bits mixed by the finalizer of SplitMix64 (Steele, 2014)."""
    mixed = values + np.uint64(0x9E3779B97F4A7C15)
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        mixed = (mixed ^ (mixed >> np.uint64(shift))) * np.uint64(factor)
    return mixed ^ (mixed >> np.uint64(31))
