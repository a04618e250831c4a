"""Matrices in an .npz file as compressed rows: ``NAME_indptr``, ``_indices``, ``_data``.

Row i has the columns ``indices[indptr[i]:indptr[i + 1]]``, with the values at the same places of
``data``; a matrix of label sets has no values. An untrusted file may have any numbers there, so
all of them are checked before they become a matrix of scipy, which does not check them.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from protonn_edge.datasets.archive import ArrayArchive
from protonn_edge.datasets.rows import Sparse, sparse_rows
from protonn_edge.errors import InputError


def has_compressed_rows(archive: ArrayArchive, name: str) -> bool:
    """Return whether the archive has a matrix of this name as compressed rows."""
    return f"{name}_indptr" in archive.names or f"{name}_indices" in archive.names


def whole_number(archive: ArrayArchive, name: str, limit: int) -> int:
    """Return a single whole number, 1 to `limit`, of the archive."""
    value = _array(archive, name)
    if value.size != 1 or value.dtype.kind not in "iu" or not 1 <= int(value.ravel()[0]) <= limit:
        raise InputError(
            f"{archive.path}: array {name!r} must be one whole number from 1 to {limit:,}; fix it"
        )
    return int(value.ravel()[0])


def sets_of_rows(archive: ArrayArchive, name: str, n_columns: int) -> Sparse:
    """Return a matrix (n, n_columns), CSR float32, that is 1 at the columns of each row.

    A column that a row has twice counts once.
    """
    indptr, indices = _places(archive, name, n_columns)
    ones = np.ones(len(indices), dtype=np.float32)
    matrix = sparse_rows((ones, indices, indptr), (len(indptr) - 1, n_columns))
    matrix.sum_duplicates()
    matrix.data[:] = 1.0
    return matrix


def sparse_features(archive: ArrayArchive, name: str, n_columns: int) -> Sparse:
    """Return features (n, n_columns), CSR float32, sorted in each row and finite.

    Raises
    ------
    InputError
        Also if a row has a column twice.
    """
    indptr, indices = _places(archive, name, n_columns)
    data = _array(archive, f"{name}_data")
    if data.shape != indices.shape or data.dtype.kind not in "buif":
        raise InputError(
            f"{archive.path}: array '{name}_data' has the shape {data.shape} and the type "
            f"{data.dtype.name}, '{name}_indices' has {len(indices):,} places; give one number for "
            "each"
        )
    with np.errstate(over="ignore"):
        values = data.astype(np.float32)
    if not np.isfinite(values).all():
        place = int(np.argmin(np.isfinite(values)))
        row = int(np.searchsorted(indptr, place, side="right")) - 1
        raise InputError(
            f"{archive.path}: array '{name}_data' has a value that is NaN, infinite or too large "
            f"in row {row}, feature {int(indices[place])}; fix or drop the row"
        )
    matrix = sparse_rows((values, indices, indptr), (len(indptr) - 1, n_columns))
    matrix.sum_duplicates()
    if matrix.nnz < len(indices):
        raise InputError(
            f"{archive.path}: array '{name}_indices' has a feature twice in a row; give each once"
        )
    matrix.eliminate_zeros()
    return matrix


def _places(
    archive: ArrayArchive, name: str, n_columns: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return checked row starts (n + 1,) and columns, as copies."""
    indptr, indices = (_array(archive, f"{name}_{part}") for part in ("indptr", "indices"))
    for part, array in (("indptr", indptr), ("indices", indices)):
        if array.ndim != 1 or array.dtype.kind not in "iu":
            raise InputError(
                f"{archive.path}: array '{name}_{part}' has the shape {array.shape} and the type "
                f"{array.dtype.name}; it must be a list of whole numbers"
            )
    rising = len(indptr) > 0 and int(indptr[0]) == 0 and bool((indptr[1:] >= indptr[:-1]).all())
    if not rising or int(indptr[-1]) != len(indices):
        raise InputError(
            f"{archive.path}: array '{name}_indptr' must rise from 0 to the {len(indices):,} "
            f"elements of '{name}_indices'; write the file again"
        )
    if len(indices) and (int(indices.min()) < 0 or int(indices.max()) >= n_columns):
        wrong = int(indices.min()) if int(indices.min()) < 0 else int(indices.max())
        raise InputError(
            f"{archive.path}: array '{name}_indices' has {wrong:,}, the columns count from 0 to "
            f"{n_columns - 1:,}; fix it, or the number of columns"
        )
    return indptr.astype(np.int64), indices.astype(np.int64)


def _array(archive: ArrayArchive, name: str) -> NDArray[Any]:
    if name not in archive.names:
        raise InputError(f"{archive.path} has no array {name!r}; add it")
    return archive.read(name)
