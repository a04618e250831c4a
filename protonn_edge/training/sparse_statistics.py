"""Statistics of sparse raw features, without making them dense."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csc_array

from protonn_edge.chain.statistics import InputStatistics
from protonn_edge.datasets.rows import Sparse, column_range


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
