"""From sums of weighted features to scores: two classes share one sum."""

from __future__ import annotations

import numpy as np

from protonn_edge.system.arrays import Array


def scores_of_sums(t: Array) -> Array:
    """Return the scores (n, L) from sums t (n, L), or, for two classes, (n, 1): -t/2 and t/2."""
    return t if t.shape[1] > 1 else np.concatenate([-t / 2, t / 2], axis=1)


def slope_of_sums(by_scores: Array, n_sums: int) -> Array:
    """Return the derivatives by sums (n, n_sums), given those by scores (n, L)."""
    return by_scores if n_sums > 1 else (by_scores[:, 1:] - by_scores[:, :1]) / 2
