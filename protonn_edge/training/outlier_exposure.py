"""Outlier exposure: made-up points of no class, so that a model learns where its classes end.

A model that has only seen its classes divides all of the projected space among them: what tells an
A from every digit lies in directions that no digit needed. These have all that single features,
or pieces of an image, have, but not what makes points of them: the pieces of an image change
places, and features of other data come from different points. Training then wants the scores of all
classes low there, and nothing of the model gets larger.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from protonn_edge.training.points import Float32

# An image is cut into so many pieces along each side. On USPS and scikit-learn's digits, quarters
# and sixteenths together made models reject more symbols and Greek letters (validation points) than
# mixing in pixels that are permuted one by one, images that end as another one, or turned ones.
_CUTS = (2, 4)


def make_exposure_points(
    points: Float32, shape: tuple[int, int] | None, count: int, generator: np.random.Generator
) -> Float32:
    """Return `count` points of no class, (count, D) float32, made of raw points (n, D).

    Parameters
    ----------
    shape : tuple of two int, optional
        Height and width where the points are images, or signals; None where features have no order.
    """
    if shape is None:
        rows = generator.integers(0, len(points), (count, points.shape[1]))
        return points[rows, np.arange(points.shape[1])]
    chosen = points[generator.integers(0, len(points), count)].reshape(-1, *shape)
    parts = np.array_split(chosen, len(_CUTS))
    moved = [_rearranged(part, cuts, generator) for part, cuts in zip(parts, _CUTS, strict=True)]
    return np.concatenate(moved).reshape(count, -1)


def _rearranged(images: Float32, cuts: int, generator: np.random.Generator) -> Float32:
    """Return images (n, H, W) whose pieces have changed places; what is left at a rim stays."""
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
    """Return n permutations (n, size), none of which leaves all in their places unless it must."""
    order = generator.permuted(np.tile(np.arange(size), (n, 1)), axis=1)
    unmoved = (order == np.arange(size)).all(axis=1)
    order[unmoved] = np.roll(order[unmoved], 1, axis=1)
    return order
