"""The plane that the two principal axes of points span, as a figure."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from protonn_edge.report.content import Mark

Floats = NDArray[np.float64]

_WIDTH, _LEAST_HEIGHT, _MOST_HEIGHT = 480, 260, 440  # of the figure, in px
_MARGIN = 16


def marks(at: Floats, labels: list[int]) -> tuple[Mark, ...]:
    """Return the marks of points (n, 2) in px."""
    places = np.round(at, 1).tolist()
    return tuple(Mark(x, y, label) for (x, y), label in zip(places, labels, strict=True))


@dataclass(frozen=True, eq=False)
class Frame:
    """The position of a plane in the figure, where y increases downwards."""

    height: int
    unit: Floats  # (2, 1), px
    corner: Floats

    @classmethod
    def around(cls, shown: Floats) -> Frame | None:
        """Return the frame of points (n, 2) in the plane; None if all are in one place."""
        low, extent = shown.min(axis=0), np.ptp(shown, axis=0)
        if not extent.max() > 0:
            return None
        limits = np.array([_WIDTH, _MOST_HEIGHT]) - 2 * _MARGIN
        scale = float((limits / np.maximum(extent, 1e-12)).min())
        height = round(max(_LEAST_HEIGHT, scale * float(extent[1]) + 2 * _MARGIN))
        unit = np.array([[scale], [-scale]])
        return cls(height, unit, np.array([_WIDTH, height]) / 2 - unit[:, 0] * (low + extent / 2))

    def at(self, flat: Floats) -> Floats:
        """Return positions in px of positions in the plane (..., 2)."""
        return flat * self.unit[:, 0] + self.corner


def principal_axes(places: Floats) -> tuple[Floats, Floats, float]:
    """Return two axes (2, d) of the points (n, d), their origin, and the explained variance."""
    dimensions = places.shape[1]
    centre = places.mean(axis=0)
    if dimensions <= 2:
        return np.eye(2, dimensions), centre, 1.0
    _, extents, vectors = np.linalg.svd(places - centre, full_matrices=False)
    axes, variances = vectors[:2], np.square(extents)
    # The sign of an axis is arbitrary: its largest component is made positive.
    largest = np.abs(axes).argmax(axis=1)
    axes = axes * np.sign(axes[[0, 1], largest])[:, None]
    total = float(variances.sum())
    return axes, centre, float(variances[:2].sum()) / total if total > 0 else 1.0
