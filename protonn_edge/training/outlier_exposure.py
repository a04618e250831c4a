"""Outlier exposure: synthetic points of no class, so that a model learns where its classes end.

A model trained on its classes only divides the whole projected space among them: what distinguishes
an A from every digit lies in directions that no digit needed. The synthetic points have realistic
single features, or pieces of an image, in unrealistic combinations: pieces of an image change
places, and features of other data are mixed from different points. Training pushes the scores of
all classes down there, at no cost in model size.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from protonn_edge.training.points import Float32

# Numbers of pieces along each side of an image. On USPS and scikit-learn's digits, quarters and
# sixteenths together made models reject more symbols and Greek letters (validation points) than
# also using permuted pixels, images spliced from two, or rotated images.
_CUTS = (2, 4)


def make_exposure_points(
    points: Float32, shape: tuple[int, int] | None, count: int, generator: np.random.Generator
) -> Float32:
    """Return `count` points of no class, (count, D) float32, made from raw points (n, D).

    - `shape`: height and width if the points are images or signals; None if features have no order.
    """
    if shape is None:
        rows = generator.integers(0, len(points), (count, points.shape[1]))
        return points[rows, np.arange(points.shape[1])]
    chosen = points[generator.integers(0, len(points), count)].reshape(-1, *shape)
    parts = np.array_split(chosen, len(_CUTS))
    moved = [_rearranged(part, cuts, generator) for part, cuts in zip(parts, _CUTS, strict=True)]
    return np.concatenate(moved).reshape(count, -1)


def _rearranged(images: Float32, cuts: int, generator: np.random.Generator) -> Float32:
    """Return images (n, H, W) with permuted pieces; the remainder at the border stays."""
    n, height, width = images.shape
    rows, columns = min(cuts, height), min(cuts, width)
    high, wide = height // rows, width // columns
    split = (n, rows, high, columns, wide)
    part = images[:, : rows * high, : columns * wide].reshape(split).swapaxes(2, 3)
    pieces = part.reshape(n, rows * columns, high, wide)
    order = _permutations(n, rows * columns, generator)
    pieces = np.take_along_axis(pieces, order[:, :, None, None], axis=1)
    back = pieces.reshape(n, rows, columns, high, wide).swapaxes(2, 3)
    moved = images.copy()
    moved[:, : rows * high, : columns * wide] = back.reshape(n, rows * high, columns * wide)
    return moved


def _permutations(n: int, size: int, generator: np.random.Generator) -> NDArray[np.int64]:
    """Return n permutations (n, size), none the identity unless size is 1."""
    order = generator.permuted(np.tile(np.arange(size), (n, 1)), axis=1)
    unmoved = (order == np.arange(size)).all(axis=1)
    order[unmoved] = np.roll(order[unmoved], 1, axis=1)
    return order
