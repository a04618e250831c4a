"""How many prototypes can be near one point at most, whatever the point is.

The bound of the cycles needs it: with hundreds of prototypes no point is near all of them. For a
prefix of the coordinates, let S be those of the prototypes whose squared distance to some point p
is below the limit. Then

    limit |S| > sum_S ||b_i - p||^2 >= sum_S ||b_i - mean||^2 = sum_S,S ||b_i - b_j||^2 / 2|S|

because the mean is the point with the least sum of squares. The last sum is at least that of the
|S| smallest of r_i(|S|), where r_i(n) is the sum of the n smallest squared distances of prototype
i to all prototypes. Divided by |S|^2 that lower bound grows with |S|, so the largest |S| for which
it stays below the limit is found by bisection.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from protonn_edge.quantization import IntegerModel

_PROTOTYPES_AT_MOST = 1_500  # of more, the squares of all distances would take too much memory


def near_at_most(model: IntegerModel) -> NDArray[np.int64]:
    """Return bounds (d,) of the prototypes that are near one point by 1..d of the coordinates."""
    B = np.ascontiguousarray(model.prototypes)
    return np.array(_near_at_most(B.tobytes(), B.shape, model.distance_limit), np.int64)


@lru_cache(maxsize=16)
def _near_at_most(prototypes: bytes, shape: tuple[int, int], limit: int) -> tuple[int, ...]:
    B = np.frombuffer(prototypes, np.int8).reshape(shape).astype(np.float64)
    d, m = shape
    if m > _PROTOTYPES_AT_MOST:
        return (m,) * d
    squares, most, bounds = np.zeros((m, m)), m, []
    for row in B:
        squares += np.square(row[:, None] - row)
        if squares.sum() >= 2.0 * m * m * limit:  # not all of them
            most = min(most, _largest_set(squares, limit))
        bounds.append(most)
    return tuple(bounds)


def _largest_set(squares: NDArray[np.float64], limit: int) -> int:
    """Return a bound of the points within the limit of any one point, given all squares (m, m)."""
    sums = np.cumsum(np.sort(squares, axis=1), axis=1)
    low, high = 1, len(squares)  # one can be near; `high` cannot
    while high - low > 1:
        n = (low + high) // 2
        if np.partition(sums[:, n - 1], n - 1)[:n].sum() < 2.0 * n * n * limit:
            low = n
        else:
            high = n
    return low
