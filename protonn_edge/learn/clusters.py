"""Centres of clusters of points."""

from __future__ import annotations

import warnings

import numpy as np
from sklearn.cluster import KMeans
from sklearn.exceptions import ConvergenceWarning

from protonn_edge.learn.points import Float32, Indices


def cluster_centres(
    points: Float32,
    count: int,
    seed: int,
    generator: np.random.Generator,
    weights: Float32 | None,
    starts: int = 1,
) -> tuple[Float32, Indices]:
    """Return `count` cluster centres and each point's cluster; too few points are repeated.

    Run it on one thread: with several, the order of sums would change the last digits.
    """
    clusters = min(count, len(np.unique(points, axis=0)))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # points that are equal after rounding
        clustering = KMeans(clusters, n_init=starts, random_state=seed).fit(
            points, sample_weight=weights
        )
    centres = clustering.cluster_centers_.astype(np.float32)
    again = generator.integers(clusters, size=count - clusters)
    spread = np.float32(0.05 * float(points.std()) + 1e-6)
    shape = (count - clusters, points.shape[1])
    jitter = spread * generator.standard_normal(shape, dtype=np.float32)
    return np.concatenate([centres, centres[again] + jitter]), clustering.labels_.astype(np.int64)
