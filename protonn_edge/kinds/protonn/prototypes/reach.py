"""An upper bound of the number of prototypes that are near any one point.

The bound of the cycles needs it, because with hundreds of prototypes no point is near all of them.
It is computed for each prefix of the coordinates. With a centre c, prototypes ``a_j = b_j - c``,
and the point at ``c + t u`` where u has length 1, prototype j is near, within the limit, if

    y_j > h_j(t)     with y_j = a_j u and h_j(t) = (|a_j|^2 + t^2 - limit) / 2t

If h_j is positive, the square of ``(h_j y_j + v_j) / (h_j^2 + v_j)`` is at least 1 for all such
y_j, and at least 0 for all others, for any positive v_j. So the sum of these squares, plus 1 for
each prototype whose h_j is not positive, is at least the number of near prototypes. It is a
quadratic form in u, whose maximum follows from eigenvalues. (With the variance of y_j as v_j, this
is Cantelli's inequality, where it is tightest.)

The point's distance from the centre is unknown, so all distances are divided into intervals, for
each of which the smallest h_j is used, and the interval with the largest bound is halved
repeatedly.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from protonn_edge.kinds.protonn.prototypes.integers import IntegerPrototypes

FloatArray = NDArray[np.float64]

_FIRST_INTERVALS = 8
_ROUNDS, _HALVED = 4, 4  # of halving, the worst ones of each at once

# How often the centre moves to where the bound says that most prototypes may be near, by which part
# of the way; by half as much each time that this is no better.
_MOVES = 4
_PART = 0.3

# A direction along which prototypes vary more than on average; the linear part times these are
# tried for how far above the largest eigenvalue the Lagrange multiplier is.
_VARIANCE = 2.0
_MULTIPLIERS = 2.0 ** np.arange(-10, 4)

_ROUNDING = 1e-9  # relative; floats are off by far less

# Up to here each prefix of the coordinates is looked at, then only all of them: a bound for fewer
# coordinates holds for more, and a direction takes time with the cube of their number.
_PREFIXES = 40

# No chip can hold more numbers, so any bound is sufficient for them.
_MOST_NUMBERS = 1 << 16


def near_at_most(stage: IntegerPrototypes) -> NDArray[np.int64]:
    """Return bounds (d,) of the prototypes that are near one point by 1..d of the coordinates."""
    B = np.ascontiguousarray(stage.prototypes)
    if B.size > _MOST_NUMBERS:
        return np.full(len(B), B.shape[1], np.int64)
    return np.array(_near_at_most(B.tobytes(), B.shape, stage.distance_limit), np.int64)


@dataclass(frozen=True, order=True)
class _Shell:
    """Points from `start` to `end` away from the centre.

    `spare` is how many prototypes fewer than all may be near; `direction`, of length 1, is where
    about there may be most, or None.
    """

    spare: float
    start: float
    end: float
    direction: FloatArray | None = field(compare=False)

    @property
    def halves(self) -> tuple[tuple[float, float], tuple[float, float]]:
        """Where its inner and its outer half start and end."""
        middle = (self.start + self.end) / 2
        return (self.start, middle), (middle, self.end)


@lru_cache(maxsize=16)
def _near_at_most(prototypes: bytes, shape: tuple[int, int], limit: int) -> tuple[int, ...]:
    points = np.frombuffer(prototypes, np.int8).reshape(shape).T.astype(np.float64)
    means, moved, most, bounds = points.mean(axis=0), np.zeros(0), len(points), []
    for k in range(1, shape[0] + 1):
        moved = np.append(moved, 0.0)
        if _PREFIXES < k < shape[0]:
            bounds.append(most)
            continue
        spare, centre = _least_spare(points[:, :k], means[:k] + moved, limit)
        moved = centre - means[:k]
        most = min(most, len(points) - math.ceil(spare - _ROUNDING * len(points)))
        bounds.append(most)
    return tuple(bounds)


def _least_spare(points: FloatArray, centre: FloatArray, limit: int) -> tuple[float, FloatArray]:
    """Return how many points (n, k) are far from any one point at least, and from where it shows.

    Any centre gives a bound; it moves to where there may be more points, which gives a tighter one.
    """
    best, part = _worst_shell(points - centre, limit), _PART
    for _ in range(_MOVES):
        if best.direction is None:
            break
        other = centre + part * (best.start + best.end) / 2 * best.direction
        worst = _worst_shell(points - other, limit, best.spare)
        if worst.spare > best.spare:
            best, centre = worst, other
        else:
            part /= 2
    return best.spare, centre


def _worst_shell(a: FloatArray, limit: int, least: float = -math.inf) -> _Shell:
    """Return the shell around 0 whose points have, as far as is known, most of a (n, k) near.

    If it spares no more than `least`, it is any shell that does not.
    """
    lengths = np.square(a).sum(axis=1)
    excess = lengths - limit
    if excess.max() < 0:
        return _Shell(0.0, 0.0, 0.0, None)  # from the centre all are
    variances = _VARIANCE * ((a @ (a.T @ a)) * a).sum(axis=1) / lengths.sum() + _ROUNDING
    ends = np.linspace(0, math.sqrt(lengths.max()) + math.sqrt(limit), _FIRST_INTERVALS + 1)
    shells = sorted(_shells(a, excess, variances, np.stack([ends[:-1], ends[1:]], axis=1)))
    for left in range(_ROUNDS, 0, -1):
        if sum(shell.spare <= least for shell in shells) > left * _HALVED:
            break  # each halving takes one of them away
        worst, others = shells[:_HALVED], shells[_HALVED:]
        halves = [half for shell in worst for half in shell.halves]
        shells = sorted([*others, *_shells(a, excess, variances, np.array(halves))])
    return shells[0]


def _shells(
    a: FloatArray, excess: FloatArray, variances: FloatArray, ends: FloatArray
) -> list[_Shell]:
    """Return the shells between `ends`, (s, 2), with bounds of the prototypes near their points.

    `excess` is |a|^2 less the limit, `variances` about that of each a's product with u.
    """
    roots = np.sqrt(np.maximum(excess, 0))
    distance = np.minimum(np.maximum(roots, ends[:, :1]), ends[:, 1:])  # of the least h_j
    over = excess + distance * distance
    far = over > 0
    h = np.divide(over, 2 * distance, out=np.zeros_like(over), where=far)
    weights = far / (h * h + variances)
    squares, directions = _largest_forms(a, h, variances, weights)
    spares = np.maximum(0.0, far.sum(axis=1) - squares)
    return [
        _Shell(spare, start, end, direction if any_far else None)
        for spare, (start, end), direction, any_far in zip(
            spares.tolist(), ends.tolist(), directions, far.any(axis=1), strict=True
        )
    ]


def _largest_forms(
    a: FloatArray, h: FloatArray, v: FloatArray, weights: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Bound the sum of the squares of (h_j a_j u + v_j) weight_j over unit vectors u.

    For s of h and of weights, (s, n), return as many bounds, (s,), and about the u of the largest
    sum of each, (s, k).

    A sum is ``u'Mu + 2 g'u + c``. For any l above M's eigenvalues l_i it is at most
    ``l + c + sum_i g_i^2 / (l - l_i)``, with g in the eigenvectors' directions (the Lagrangian
    bound, which is tight for the best l).
    """
    scaled, constant = a * (h * weights)[:, :, None], v * weights
    eigenvalues, vectors = np.linalg.eigh(scaled.transpose(0, 2, 1) @ scaled)
    g = (constant[:, None] @ scaled @ vectors)[:, 0]
    largest, lengths = eigenvalues[:, -1:], np.sqrt((g * g).sum(axis=1))
    above = np.maximum(lengths, _ROUNDING)[:, None] * _MULTIPLIERS
    gaps = (largest - eigenvalues)[:, None] + above[:, :, None]
    bounds = largest + above + ((g * g)[:, None] / gaps).sum(axis=2)
    best = bounds.argmin(axis=1)
    each = np.arange(len(best))
    u = (vectors @ (g / gaps[each, best])[:, :, None])[:, :, 0]
    sizes = np.sqrt((u * u).sum(axis=1))[:, None]
    directions = np.where(sizes > 0, u / np.where(sizes > 0, sizes, 1.0), vectors[:, :, -1])
    return bounds[each, best] + (constant * constant).sum(axis=1), directions
