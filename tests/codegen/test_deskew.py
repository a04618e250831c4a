"""Rows that move and inputs that are not 0: no image has as much of both as the sum of them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from model_factory import tiny_deskew_model
from plans import with_first_cost
from worst_inputs import moved_cycles

from protonn_edge.codegen import make_plan
from protonn_edge.features.average_pooling.integers import AveragePooling
from protonn_edge.features.deskew.integers import BYTES, IntegerDeskew, row_shifts
from protonn_edge.features.deskew.kernels import most_deskewed

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
def test_no_image_takes_more(shapes: tuple[tuple[int, int], ...]) -> None:
    rng = np.random.default_rng(0)
    pooling = AveragePooling(*shapes, BYTES)
    inputs = rng.integers(0, 200, pooling.n_outputs)
    images = slanted_images(rng, 3_000, *shapes[0])
    images[0] = 255
    moved = moved_cycles(pooling, row_shifts(images))
    row = int(moved_cycles(AveragePooling(*shapes, BYTES), np.full((1, shapes[0][0]), 99))[0])
    row //= pooling.rows.pixels
    averages = replace(pooling, image_shape=pooling.cropped_shape, deskewed=None)
    zeros = averages.sums(IntegerDeskew(pooling).run(images.reshape(len(images), -1))) == 0
    taken = moved - zeros @ inputs
    most = most_deskewed(pooling, row, inputs)
    assert taken.max() <= most <= pooling.rows.pixels * row
    assert moved.max() > 0


def test_stages_do_not_all_take_their_worst_together() -> None:
    plan = make_plan(tiny_deskew_model())
    assert plan.worst_cycles == sum(stage.worst for stage in plan.steps) - plan.exclusive_cycles
    assert plan.exclusive_cycles >= 0
    crowded = with_first_cost(plan, exclusive=1_234)
    assert crowded.worst_cycles == sum(stage.worst for stage in crowded.steps) - 1_234


def test_inputs_that_cost_nothing_save_nothing() -> None:
    pooling = AveragePooling((12, 12), (10, 10), (5, 5), BYTES)
    free = most_deskewed(pooling, 100, np.zeros(25, np.int64))
    dear = most_deskewed(pooling, 100, np.full(25, 1_000))
    assert free == 1_000  # all ten rows, of what begins at the image's rim
    assert 0 < dear < free
