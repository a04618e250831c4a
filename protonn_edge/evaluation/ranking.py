"""Ranking of labels by scores, for points with several labels: precision at k."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from protonn_edge.datasets.rows import Sparse

PLACES = (1, 3, 5)

_ROWS_AT_ONCE = 1_024


def precision_at(
    scores: NDArray[Any], labels: Sparse, places: Sequence[int] = PLACES
) -> dict[int, float]:
    """Return precision at k: the mean share of the k highest scores that are labels of the point.

    This is the usual figure in multi-label papers. The divisor is k even for points with fewer
    labels; among equal scores the first rank higher.

    Parameters
    ----------
    scores : ndarray of shape (n, L), n >= 1
    labels : CSR matrix of shape (n, L)
        Not zero where a point has a label.
    places : sequence of int
        The k, at least 1.

    Returns
    -------
    dict from int to float
        From k to the precision, 0 to 1.
    """
    deepest = min(max(places), scores.shape[1])
    right = np.zeros(deepest)
    for start in range(0, len(scores), _ROWS_AT_ONCE):
        rows = slice(start, start + _ROWS_AT_ONCE)
        ranked = np.argsort(-scores[rows], axis=1, kind="stable")[:, :deepest]
        actual = labels[rows].toarray() != 0
        right += np.take_along_axis(actual, ranked, axis=1).sum(axis=0)
    return {k: float(right[:k].sum() / (k * len(scores))) for k in places}
