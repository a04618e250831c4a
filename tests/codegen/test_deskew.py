"""Rows that are shifted too far to be read in place: no image has more of them than is stated."""

from __future__ import annotations

import numpy as np
import pytest

from protonn_edge.features.deskew.integers import row_shifts
from protonn_edge.features.deskew.kernels import most_moved_rows, moved_rows
from protonn_edge.features.pooling.areas import Areas

SHAPES = [
    ((12, 12), (10, 10), (5, 5)),
    ((9, 14), (9, 14), (3, 7)),
    ((16, 10), (12, 6), (6, 4)),
    ((11, 13), (8, 12), (8, 5)),
    ((4, 8), (3, 8), (2, 3)),
]


def slanted_images(rng: np.random.Generator, n: int, height: int, width: int) -> np.ndarray:
    """Return images (n, H, W) of bytes: strokes of all slants and places, and noise."""
    y, x = np.arange(height)[:, None], np.arange(width)
    slope, place, thick = rng.uniform(-1.5, 1.5, n), rng.uniform(0, width, n), rng.uniform(1, 9, n)
    middle = rng.uniform(0, height, n)
    across = x - place[:, None, None] + slope[:, None, None] * (y - middle[:, None, None])
    strokes = np.where(np.abs(across) < thick[:, None, None], 255, 0)
    noise = rng.integers(0, 256, strokes.shape) * (rng.random(strokes.shape) < 0.1)
    return np.maximum(strokes, noise * (rng.random((n, 1, 1)) < 0.5)).astype(np.uint8)


@pytest.mark.parametrize("shapes", SHAPES)
def test_no_image_moves_more(shapes: tuple[tuple[int, int], ...]) -> None:
    pooling = Areas(*shapes)
    images = slanted_images(np.random.default_rng(0), 3_000, *shapes[0])
    images[0] = 255
    _, moved = moved_rows(pooling, row_shifts(images))
    assert 0 < moved.max() <= most_moved_rows(pooling) <= pooling.rows.pixels


def test_all_rows_may_move_of_what_begins_at_the_rim() -> None:
    assert most_moved_rows(Areas((12, 12), (10, 10), (5, 5))) == 10
