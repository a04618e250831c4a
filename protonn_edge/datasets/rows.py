"""Dense rows of points or targets for arithmetic, from matrices that may be sparse."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
from numpy.typing import NDArray

Matrix = NDArray[Any]
Sparse = Any
"""A scipy.sparse CSR matrix or array; scipy has no types."""

Rows = slice | NDArray[np.int64]


def is_sparse(matrix: object) -> bool:
    """Return what `scipy.sparse.issparse` does; if scipy is not imported, nothing is sparse."""
    module = sys.modules.get("scipy.sparse")
    return module is not None and bool(module.issparse(matrix))


def sparse_rows(content: Any, shape: tuple[int, int] | None = None, **settings: Any) -> Sparse:
    """Return a `scipy.sparse.csr_array`, and import it here: most data and all models are dense."""
    from scipy.sparse import csr_array  # noqa: PLC0415

    return csr_array(content, shape, **settings)


def dense_rows(matrix: Matrix | Sparse, rows: Rows) -> Matrix:
    """Return some rows of a matrix (n, D) as an array, a copy unless they are a slice of one."""
    chosen: Any = matrix[rows]
    dense: Matrix = chosen.toarray() if is_sparse(chosen) else chosen
    return dense


def constant_columns(matrix: Matrix | Sparse) -> NDArray[np.bool_]:
    """Return which columns (D,) are constant."""
    lower, upper = column_range(matrix)
    constant: NDArray[np.bool_] = lower == upper
    return constant


def column_range(matrix: Matrix | Sparse) -> tuple[Matrix, Matrix]:
    """Return the smallest and the largest number of each column, (D,) both."""
    if is_sparse(matrix):
        return matrix.min(axis=0).toarray().ravel(), matrix.max(axis=0).toarray().ravel()
    return matrix.min(axis=0), matrix.max(axis=0)
