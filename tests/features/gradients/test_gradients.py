"""Cells, their sums and roots; what is refused, and what comes back from a file."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from chains import replace
from hypothesis import given, settings
from hypothesis import strategies as st
from laws.conformance.gradients import reference
from model_factory import random_gradients_model, random_images
from refusals import refused_by

from protonn_edge.features.gradients.integers import (
    ROOTS,
    CellAxis,
    Cells,
    IntegerGradients,
    gradients,
)
from protonn_edge.features.gradients.making import fitted_to, gradient_features
from protonn_edge.features.images.pixel_scale import PixelScale
from protonn_edge.model.features import Features
from protonn_edge.model.integer_chain import own_inputs
from protonn_edge.model.quantization import quantize

# The vector (x, y) of each direction; with 4 directions, or its opposite.
POINTING = {
    4: ((1, 0), (0, 1), (1, -1), (1, 1)),
    8: ((-1, 0), (1, 0), (0, -1), (-1, -1), (1, -1), (0, 1), (-1, 1), (1, 1)),
}


def shared(**settings: Any) -> Features:
    """Return features of cells that share pixels, with other settings."""
    shapes: dict[str, Any] = {"image_shape": (12, 14), "cropped_shape": (12, 12), "cells": (2, 3)}
    return gradient_features(
        **(shapes | {"pixels": PixelScale(255.0, -0.5), "shift": 3} | settings)
    )


SHARED = shared()


@st.composite
def cells_of_images(draw: st.DrawFn) -> Cells:
    """Draw cells of every shape that there may be."""
    cropped = tuple(draw(st.integers(1, 12)) for _ in range(2))
    image = tuple(draw(st.integers(side, 32)) for side in cropped)
    cells = tuple(draw(st.integers(1, min(8, side))) for side in cropped)
    return Cells(image, cropped, cells, draw(st.sampled_from([4, 8])))  # type: ignore[arg-type]


@given(cells_of_images(), st.integers(1, 8), st.integers(0, 2**32 - 1))
@settings(max_examples=60, deadline=None)
def test_any_image_gives_what_plain_loops_do(cells: Cells, shift: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    table = np.sort(rng.integers(0, 256, 256)).astype(np.uint8)
    stage = IntegerGradients(cells, shift, table)
    images = rng.integers(0, 256, (3, cells.n_features)).astype(np.uint8)
    images[1] = (images[1] > 200) * 255
    images[2] = rng.choice([0, 255], images[2].shape)
    for image, roots in zip(images.tolist(), stage.run(images).tolist(), strict=True):
        assert roots == reference(stage, image)
        assert (np.array(roots) <= stage.output.high).all()


@given(st.integers(1, 32), st.integers(1, 8))
def test_every_pixel_counts_for_one_cell_or_two_in_turn(pixels: int, cells: int) -> None:
    axis = CellAxis(pixels, pixels, min(cells, pixels))
    assert sum(count for count, *_ in axis.runs) == pixels
    firsts = [cell for cell, _ in axis.places]
    assert set(np.diff(firsts)) <= {0, 1}, "a run goes on to the next cell at most"
    members = axis.members()
    assert (members.sum(axis=0) > 0).all()
    assert set(members.sum(axis=1)) <= {1, 2}
    assert (members == members[::-1, ::-1]).all(), "an axis and its mirror image differ"


def test_the_largest_sums_fit() -> None:
    stripes = np.tile(np.repeat([[0, 0, 255, 255]], 8, axis=0).ravel(), (32, 1))
    cells = Cells((32, 32), (32, 32), (2, 2))
    sums = cells.sums(stripes[None].astype(np.uint8))
    assert sums.max() <= cells.most.max() <= 65_535
    with refused_by("sums of 1x1 cells"):
        Cells((32, 32), (32, 32), (1, 1))


def test_what_training_sees_is_what_the_device_computes() -> None:
    model = random_gradients_model(shared(deskew=True))
    X = 255.0 - 0.5 * random_images(1, 30, SHARED)
    integers = quantize(model)
    stage = model.features
    assert stage is not None
    inputs = integers.inputs.quantize(stage.apply(X))
    assert (own_inputs(integers, integers.quantize(X)) == inputs).all()


def test_sums_of_most_images_are_told_apart() -> None:
    images = random_images(2, 200, SHARED)
    stage = fitted_to(images, shared(pixels=PixelScale(0.0, 1.0)))
    roots = stage.apply(images)
    assert ROOTS[127] < roots.max() <= ROOTS[255]


@pytest.mark.parametrize(
    "settings",
    [
        {"image_shape": (33, 20)},
        {"cropped_shape": (13, 12)},
        {"cells": (9, 2)},
        {"cells": (0, 2)},
        {"cells": 4},
        {"directions": 6},
        {"shift": 0},
    ],
)
def test_what_cannot_be_is_refused(settings: dict[str, object]) -> None:
    with refused_by(
        "model.integer_stage", "features.gradients.integers", "features.images.cropped_image"
    ):
        shared(**settings)


def test_roots_have_one_range() -> None:
    model = random_gradients_model(SHARED)
    upper = model.inputs.upper + np.arange(SHARED.n_outputs)
    changed = replace(model, inputs=replace(model.inputs, upper=upper))
    assert set(changed.inputs.upper) == {upper.max()}


def test_roots_that_fall_are_refused() -> None:
    table = np.arange(256)[::-1].astype(np.uint8)
    with refused_by("model.integer_stage"):
        IntegerGradients(SHARED.stages[0].cells, 1, table)


def test_directions_point_where_the_image_rises() -> None:
    ways = {(along, down) for along in (-1, 0, 1) for down in (-1, 0, 1)} - {(0, 0)}
    assert set(POINTING[8]) == ways
    assert {*POINTING[4], *((-along, -down) for along, down in POINTING[4])} == ways
    y, x = np.mgrid[:5, :5]
    for direction, (along, down) in enumerate(POINTING[8]):
        slope = np.uint8(120 + 25 * (along * (x - 2) + down * (y - 2)))
        assert gradients(slope[None], 8)[1][0, 2, 2] == direction
    for direction, (along, down) in enumerate(POINTING[4]):
        slope = np.uint8(120 + 25 * (along * (x - 2) + down * (y - 2)))
        assert gradients(np.array([slope, 240 - slope]), 4)[1][:, 2, 2].tolist() == [direction] * 2
