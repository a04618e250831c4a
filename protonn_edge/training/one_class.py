"""One-class models, trained on normal points only.

Without other points to separate them from, nothing is optimized. The normal points are clustered,
and the projection separates the clusters as if they were classes, relative to the variation within
clusters. Prototypes are the centres of finer clusters in that space, and a point far from all of
them is not normal. The distance threshold is chosen afterwards on held-out points, as for every
model that rejects.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

from protonn_edge.datasets.dataset import Sparse
from protonn_edge.training.objective import Parameters
from protonn_edge.training.points import Float32
from protonn_edge.training.progress import EpochReport, Trained

# The RBF of a distance d is exp(-(gamma d)^2), a byte on the device. It resolves distances best for
# gamma d from 0.7 to 1.2, where the threshold should be.
_REACHED_SHARE = 0.99

REACH = 0.5
"""Margin at either end of the normal points' range, as a share of it, within which values are still
distinguished; the device clamps values beyond, which then count as normal if the limit does."""

PARTS_OF_ONE_CLASS = 8
"""Clusters that the projection separates. With 8 it detected at least as many outliers as principal
directions in occupancy, ecg5000, and activities with one class left out."""

STARTS_OF_ONE_CLASS = 5
"""Runs of k-means, which make clusters stable when some points are held out: the rate of false
alarms was within 1.2 times its binomial error, but only within twice the error with one run."""


def reaching_gamma(projected: Float32, prototypes: Float32) -> float:
    """Return gamma for which nearly all points (n, d) are within 1 of a prototype, of (m, d)."""
    distance = float(np.quantile(_nearest(projected, prototypes), _REACHED_SHARE))
    return 1.0 / distance if distance > 1e-12 else 1.0


def with_reach(
    points: Float32 | Sparse, weights: Float32 | None
) -> tuple[Float32 | Sparse, Float32 | None]:
    """Return points (n, D) and two more at the limits of the distinguished values."""
    if issparse(points):
        return points, weights
    lower, upper = points.min(axis=0), points.max(axis=0)
    longer = np.float32(REACH) * (upper - lower)
    with_ends = np.concatenate([points, [lower - longer, upper + longer]])
    return with_ends, None if weights is None else np.append(weights, np.ones(2, np.float32))


def as_it_starts(start: Parameters, X: Float32) -> Trained:
    """Return the initial parameters as the result of training.

    The objective of the only report is the mean distance of normalized points X (n, D) in RBF
    widths.
    """
    nearest = _nearest(X @ start.projection.T, start.prototypes.T)
    report = EpochReport(1, 1, float(nearest.mean()), 1.0)
    return Trained(start, 0.0, (report,))


def _nearest(projected: Float32, prototypes: Float32) -> NDArray[np.float64]:
    """Return the distances (n,) of points (n, d) to the nearest of prototypes (m, d)."""
    P, B = projected.astype(np.float64), prototypes.astype(np.float64)
    least = np.full(len(P), np.inf)
    for prototype in B:
        np.minimum(least, np.square(P - prototype).sum(axis=1), out=least)
    distances: NDArray[np.float64] = np.sqrt(least)
    return distances
