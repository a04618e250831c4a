"""Rows of points or targets, dense as arithmetic wants them, from matrices that may be sparse."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

Matrix = NDArray[Any]
Sparse = Any
"""A scipy.sparse CSR matrix or array; scipy has no types."""

Rows = slice | NDArray[np.int64]


def dense_rows(matrix: Matrix | Sparse, rows: Rows) -> Matrix:
    """Return some rows of a matrix (n, D) as an array, a copy unless they are a slice of one."""
    chosen: Any = matrix[rows]
    dense: Matrix = chosen.toarray() if issparse(chosen) else chosen
    return dense


def constant_columns(matrix: Matrix | Sparse) -> NDArray[np.bool_]:
    """Return which columns (D,) have the same number everywhere."""
    lower, upper = column_range(matrix)
    constant: NDArray[np.bool_] = lower == upper
    return constant


def column_range(matrix: Matrix | Sparse) -> tuple[Matrix, Matrix]:
    """Return the smallest and the largest number of each column, (D,) both."""
    if issparse(matrix):
        return matrix.min(axis=0).toarray().ravel(), matrix.max(axis=0).toarray().ravel()
    return matrix.min(axis=0), matrix.max(axis=0)
