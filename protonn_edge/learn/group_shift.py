"""Shifts of points between groups.

`GroupShift` moves points from their group towards another one. If points come in groups, such as
people, days or sensors, the groups' points of a class mostly differ by their mean: one person walks
faster, another wears the watch higher. A point that is moved by the difference of two groups' class
means resembles a point of the other group; points in between and beyond resemble groups that were
not recorded.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from protonn_edge.learn.points import Float32, Indices, Points

_OWN_WAY = np.float32(0.2)  # deviation of a class's mean in unrecorded groups


class GroupShift:
    """Shifts the points of each step towards other groups of their class.

    - `points`: all points, normalized, with their groups.
    - `strength`: maximum shift: 1 reaches the other group, 2 goes twice as far.
    - `together`: whether all points of a class and group move together, which makes new groups.
    """

    def __init__(self, points: Points, strength: float, *, together: bool = False) -> None:
        self._strength, self._together = np.float32(strength), together
        X, y, groups = points.X, points.y, points.group
        assert groups is not None
        # A part is a class in a group; the parts of a class are consecutive.
        n_groups = int(groups.max()) + 1
        parts, self._part_of = np.unique(y * n_groups + groups, return_inverse=True)
        self._means = np.stack(
            [_mean(X, points.weight, self._part_of == part) for part in range(len(parts))]
        )
        self._varying = X.min(axis=0) < X.max(axis=0)
        self._means[:, ~self._varying] = 0  # constant features stay constant
        classes = parts // n_groups
        self._first = np.searchsorted(classes, classes, side="left")
        self._parts_of_class = np.searchsorted(classes, classes, side="right") - self._first

    def __call__(self, X: Float32, rows: Indices, generator: np.random.Generator) -> Float32:
        """Return the points of a step, each shifted towards a random group."""
        own = self._part_of[rows]
        moving = np.arange(len(self._means)) if self._together else own
        other = self._first[moving] + generator.integers(self._parts_of_class[moving])
        shares = self._strength * generator.random((len(moving), 1), dtype=np.float32)
        shifts: Float32 = shares * (self._means[other] - self._means[moving])
        if self._together:
            noise = generator.standard_normal(shifts.shape, dtype=np.float32)
            shifts = (shifts + _OWN_WAY * noise * self._varying)[own]
        return X + shifts


def _mean(X: Float32, weights: Float32 | None, chosen: NDArray[np.bool_]) -> Float32:
    """Return the weighted mean (D,) of some of the points."""
    points, counts = X[chosen].astype(np.float64), None if weights is None else weights[chosen]
    return np.average(points, axis=0, weights=counts).astype(np.float32)
