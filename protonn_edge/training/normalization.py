"""Put features on a common scale, by an affine map per feature that folds into W later."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from protonn_edge.model import InputStatistics, Normalizer

DEVIATION_FLOOR = 0.1
_NOISE_PER_DISTANCE = 0.1
_POINTS = 500
_NEIGHBOURS = 4_000


def fitted_normalizer(
    kind: str, X: NDArray[np.float32], weights: NDArray[np.float32] | None = None
) -> Normalizer:
    """Return the normalizer of a kind for training features X of shape (n, D).

    "standard" is zero mean and unit deviation, except that a deviation counts as at least
    `DEVIATION_FLOOR` of the feature's range: the rare values of a pixel that is almost always
    background, mostly accidents, would else be scaled up. "minmax" maps the range to 0..1.
    A constant feature is only shifted.
    """
    return normalizer_from(kind, InputStatistics.of(X, weights))


def normalizer_from(kind: str, inputs: InputStatistics) -> Normalizer:
    """Return the normalizer of a kind for features of these statistics; see above.

    Averages of pixels have the range of all pixels in their statistics. So each has the step that
    suits that range: one that hardly ever changes would else get a weight so large that there is no
    room for the others' in the integers.
    """
    if kind == "none":
        return Normalizer.identity(len(inputs.mean))
    extent = inputs.upper - inputs.lower
    if kind == "minmax":
        return Normalizer(kind, inputs.lower, 1.0 / np.where(extent > 0, extent, 1.0))
    deviation = np.maximum(inputs.deviation, DEVIATION_FLOOR * extent)
    return Normalizer("standard", inputs.mean, 1.0 / np.where(extent > 0, deviation, 1.0))


def neighbour_noise(X: NDArray[np.float32], generator: np.random.Generator) -> float:
    """Return how much noise the inputs bear: a tenth of the distance between neighbours.

    The distance is the median, over some points, of that to the nearest other point. On ten data
    sets of 5 to 260 features the best noise on validation points was 0.04 to 0.12 of it.

    Parameters
    ----------
    X : ndarray of shape (n, D), float32
        Normalized points.

    Returns
    -------
    float
        Deviation of the noise in the unit of the normalized features; 0 if no two points differ.
    """
    chosen = X[generator.permutation(len(X))[:_NEIGHBOURS]].astype(np.float64)
    points = chosen[:_POINTS]
    squares = (points**2).sum(axis=1)[:, None] + (chosen**2).sum(axis=1) - 2.0 * points @ chosen.T
    squares[squares <= 1e-9 * max(float(squares.max()), 1e-30)] = np.inf  # the point and its copies
    nearest = squares.min(axis=1)
    nearest = nearest[np.isfinite(nearest)]
    return _NOISE_PER_DISTANCE * float(np.median(np.sqrt(nearest))) if len(nearest) else 0.0
