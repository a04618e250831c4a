"""Data augmentation: points moved from their group towards another one.

If points come in groups, such as people, days or sensors, a class mostly differs between groups by
its mean: one person walks faster, another wears the watch higher. A point moved by the difference
of two groups' class means resembles a point of the other group. Points in between and beyond
resemble groups that were not recorded.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from protonn_edge.training.joint import Augment
from protonn_edge.training.points import Float32, Indices


class GroupShift:
    """Shifts the points of batches.

    - `X` (n, D): normalized points.
    - `y` (n,): class indices.
    - `groups` (n,): the group of each point.
    - `weights` (n,): weight of each point in its group's mean.
    - `strength`: maximum shift: 1 reaches the other group, 2 goes as far again beyond it.
    - `augment`: other augmentation, applied first.
    """

    def __init__(
        self,
        X: Float32,
        y: Indices,
        groups: Indices,
        weights: Float32 | None,
        strength: float,
        augment: Augment | None = None,
    ) -> None:
        self._X, self._strength, self._augment = X, np.float32(strength), augment
        # A part is a class in a group; the parts of a class are consecutive.
        n_groups = int(groups.max()) + 1
        parts, self._part_of = np.unique(y * n_groups + groups, return_inverse=True)
        self._means = np.stack(
            [_mean(X, weights, self._part_of == part) for part in range(len(parts))]
        )
        self._means[:, X.min(axis=0) == X.max(axis=0)] = 0  # constant features stay constant
        classes = parts // n_groups
        self._first = np.searchsorted(classes, classes, side="left")
        self._parts_of_class = np.searchsorted(classes, classes, side="right") - self._first

    def __call__(self, rows: Indices, generator: np.random.Generator) -> Float32:
        """Return the points of these rows, each shifted towards a random group."""
        points = self._X[rows] if self._augment is None else self._augment(rows, generator)
        own = self._part_of[rows]
        other = self._first[own] + generator.integers(self._parts_of_class[own])
        shares = self._strength * generator.random((len(rows), 1), dtype=np.float32)
        moved: Float32 = points + shares * (self._means[other] - self._means[own])
        return moved


def _mean(X: Float32, weights: Float32 | None, chosen: NDArray[np.bool_]) -> Float32:
    """Return the weighted mean (D,) of some of the points."""
    points, counts = X[chosen].astype(np.float64), None if weights is None else weights[chosen]
    mean: Float32 = np.average(points, axis=0, weights=counts).astype(np.float32)
    return mean
