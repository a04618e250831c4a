"""Normal or not: what is learned from normal points alone.

Nothing is there to tell them from, so nothing is optimized. The normal points are parted into
clusters, and the projection tells these apart as if they were classes: in units of how much points
vary within a cluster. Prototypes are the centres of finer clusters there, and a point that is far
from all of them is not normal. How far that is, held-out points decide afterwards, as for every
model that rejects.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

from protonn_edge.datasets.rows import Sparse
from protonn_edge.training.objective import Parameters
from protonn_edge.training.points import Float32
from protonn_edge.training.progress import EpochReport, Trained

# The RBF of a distance d is exp(-(gamma d)^2), a byte on the device. It tells distances apart best
# where gamma d is 0.7 to 1.2: the threshold shall be there.
_REACHED_SHARE = 0.99

REACH = 0.5
"""How far beyond the normal points' range values are still told apart, as a share of it, at either
end: on the device what is beyond counts as the end, and as normal if that is."""

PARTS_OF_ONE_CLASS = 8
"""Clusters that the projection tells apart. With 8 it found as much as principal directions, or
more, of what is not normal in occupancy, ecg5000, and activities of which one was left out."""

STARTS_OF_ONE_CLASS = 5
"""Starts of k-means, for clusters to be much the same without some of the points: the rate of false
alarms was within 1.2 times its binomial error, and within twice of that with one start."""


def reaching_gamma(projected: Float32, prototypes: Float32) -> float:
    """Return gamma for which nearly all points (n, d) are within 1 of a prototype, of (m, d)."""
    distance = float(np.quantile(_nearest(projected, prototypes), _REACHED_SHARE))
    return 1.0 / distance if distance > 1e-12 else 1.0


def with_reach(
    points: Float32 | Sparse, weights: Float32 | None
) -> tuple[Float32 | Sparse, Float32 | None]:
    """Return points (n, D) with two more, that reach as far as values are told apart."""
    if issparse(points):
        return points, weights
    lower, upper = points.min(axis=0), points.max(axis=0)
    longer = np.float32(REACH) * (upper - lower)
    with_ends = np.concatenate([points, [lower - longer, upper + longer]])
    return with_ends, None if weights is None else np.append(weights, np.ones(2, np.float32))


def as_it_starts(start: Parameters, X: Float32) -> Trained:
    """Return the parameters that training would start from, as what was found.

    The one report's objective is the mean distance of points X (n, D), normalized, in RBF widths.
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
