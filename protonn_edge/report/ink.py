"""The display of raw features: pixels as ink on paper, others each in its own range."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from protonn_edge.evaluation.evidence import Evidence

Floats = NDArray[np.float64]

_INKED = 0.25  # from this much ink on, a pixel belongs to the drawing
_TYPICAL_PERCENTILE = 75
_LOOKED_AT = 2_000  # points, to measure the size of drawings


@dataclass(frozen=True, eq=False)
class Levels:
    """Maps raw features to levels, 0..1.

    Attributes
    ----------
    lower, upper : ndarray of shape (D,), float64
        The raw values for the levels 0 and 1.
    pixels : bool
        Whether level 0 is paper and 1 is ink, for all features.
    """

    lower: Floats
    upper: Floats
    pixels: bool

    def of(self, raw: Floats) -> Floats:
        """Return levels of raw features (..., D), clamped to 0..1."""
        extent = self.upper - self.lower
        safe = np.where(extent == 0, 1.0, extent)
        levels: Floats = np.where(extent == 0, 0.5, np.clip((raw - self.lower) / safe, 0, 1))
        return levels


@dataclass(frozen=True)
class Drawing:
    """The typical size and position of drawings in the test images, in pixels.

    Attributes
    ----------
    height, width : float
        The size of a drawing.
    y, x : float
        Its centre.
    pen : float
        Width of a stroke.
    """

    height: float
    width: float
    y: float
    x: float
    pen: float


def levels_of(one: Evidence) -> Levels:
    """Return the levels of a run's features: those of its model's training data."""
    inputs, n, stage = one.model.inputs, one.model.n_features, one.model.feature_stage
    pixels = one.image_shape is not None and one.image_shape[0] > 1
    if stage is not None and stage.scale is not None:
        first, last = (np.resize(end, n) for end in (stage.scale.zero, stage.scale.end))
        if pixels:
            return Levels(first, last, pixels=True)
        return Levels(np.minimum(first, last), np.maximum(first, last), pixels=False)
    if one.image_shape is None and len(inputs.lower) == n:
        return Levels(inputs.lower, inputs.upper, pixels=False)
    lower, upper = float(inputs.lower.min()), float(inputs.upper.max())
    paper = float(np.median(inputs.background))
    if pixels and upper - paper < paper - lower:  # dark on light
        lower, upper = upper, lower
    return Levels(np.full(n, lower), np.full(n, upper), pixels=pixels)


def typical_drawing(one: Evidence) -> Drawing:
    """Return the typical drawing of the test points; without points, a common one.

    A stroke of length l and width w has ink l w and, on both sides, slopes that add up to 2 l, so
    the width is twice the ink divided by the slopes.
    """
    assert one.image_shape is not None
    rows, columns = one.image_shape
    if one.points is None:
        return Drawing(0.8 * rows, 0.7 * columns, rows / 2, columns / 2, max(1.0, rows / 10))
    some = one.points.raw[:_LOOKED_AT].astype(np.float64)
    ink = levels_of(one).of(some).reshape(-1, rows, columns)
    ink = ink[(ink > _INKED).any(axis=(1, 2))]
    if len(ink) == 0:
        return Drawing(0.8 * rows, 0.7 * columns, rows / 2, columns / 2, max(1.0, rows / 10))
    top, bottom = _extent(ink.max(axis=2) > _INKED)
    left, right = _extent(ink.max(axis=1) > _INKED)
    padded = np.pad(ink, ((0, 0), (1, 1), (1, 1)))
    down, across = np.gradient(padded, axis=(1, 2))
    slopes = np.hypot(down, across).sum(axis=(1, 2))
    pen = float(np.median(2 * ink.sum(axis=(1, 2)) / slopes))
    return Drawing(
        height=float(np.percentile(bottom - top, _TYPICAL_PERCENTILE)),
        width=float(np.percentile(right - left, _TYPICAL_PERCENTILE)),
        y=float(np.mean((bottom + top) / 2)),
        x=float(np.mean((right + left) / 2)),
        pen=max(pen, 0.5),
    )


def _extent(inked: NDArray[np.bool_]) -> tuple[Floats, Floats]:
    """Return the first and the last inked row of each image, by rows (n, H)."""
    begin = inked.argmax(axis=1).astype(np.float64)
    end = inked.shape[1] - inked[:, ::-1].argmax(axis=1).astype(np.float64)
    return begin, end
