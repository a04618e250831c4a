"""Raw features as levels: ink on paper, a signal in its range, or each feature in its own."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from evidence_factory import evidence_of
from model_factory import random_model

from protonn_edge.features.gradients.making import gradient_features
from protonn_edge.features.images.pixel_scale import PixelScale
from protonn_edge.report.points import levels_of, typical_drawing


def with_images(images: np.ndarray, *, background: float):
    """Return evidence whose points are images (n, H, W), of a model that knows their range."""
    rows, columns = images.shape[1:]
    one = evidence_of(random_model(features=rows * columns), len(images), shape=(rows, columns))
    inputs = replace(
        one.model.inputs,
        lower=np.full(rows * columns, images.min()),
        upper=np.full(rows * columns, images.max()),
        background=np.full(rows * columns, background),
    )
    raw = images.reshape(len(images), -1).astype(np.float32)
    model = replace(one.model, inputs=inputs)
    return replace(one, model=model, points=replace(one.points, raw=raw))


def upright_strokes() -> np.ndarray:
    """Return images of 12x10 with a stroke 2 wide, from row 2 to 9, in the columns 4 and 5."""
    images = np.zeros((20, 12, 10))
    images[:, 2:10, 4:6] = 16.0
    return images


def test_ink_is_what_paper_is_not_whichever_is_darker():
    light = with_images(upright_strokes(), background=0.0)
    dark = with_images(16.0 - upright_strokes(), background=16.0)
    for one in (light, dark):
        ink = levels_of(one).of(one.points.raw[0].astype(float)).reshape(12, 10)
        assert levels_of(one).pixels
        assert (ink == upright_strokes()[0] / 16).all()


@pytest.mark.parametrize("paper", [0.0, 16.0])
def test_ink_is_that_of_pixels_where_features_are_made_of_them(paper: float) -> None:
    stage = gradient_features(
        (12, 10), (12, 10), (2, 2), pixels=PixelScale.between(0.0, 16.0, paper)
    )
    one = evidence_of(random_model(features=stage.n_outputs))
    inputs = one.model.inputs.with_one_range()
    model = replace(one.model, features=stage, inputs=inputs, raw_exponents=None)
    one = replace(one, model=model, image_shape=(12, 10))
    images = upright_strokes() if paper == 0 else 16.0 - upright_strokes()
    ink = levels_of(one).of(images.reshape(-1, 120)[0]).reshape(12, 10)
    assert ink == pytest.approx(upright_strokes()[0] / 16)


def test_a_signal_goes_up_where_its_values_do_wherever_it_rests():
    one = with_images(16.0 - upright_strokes().reshape(20, 1, 120), background=16.0)
    levels = levels_of(one)
    assert not levels.pixels
    assert (levels.upper > levels.lower).all()


def test_features_have_their_own_ranges_and_stay_in_them():
    one = evidence_of(random_model())
    levels = levels_of(one)
    assert levels.of(one.model.inputs.lower) == pytest.approx(0)
    assert levels.of(one.model.inputs.upper + 1) == pytest.approx(1)


def test_a_feature_that_never_changes_is_in_the_middle():
    one = with_images(np.full((20, 2, 6), 3.0), background=3.0)
    assert (levels_of(one).of(np.full(12, 3.0)) == 0.5).all()


def test_drawings_are_as_large_and_as_bold_as_the_points_are():
    drawing = typical_drawing(with_images(upright_strokes(), background=0.0))
    assert (drawing.height, drawing.width) == (8.0, 2.0)
    assert (drawing.y, drawing.x) == (6.0, 5.0)
    assert 1.2 < drawing.pen < 2.5


@pytest.mark.parametrize("points", [False, True], ids=["without points", "of blank points"])
def test_where_nothing_is_known_of_drawings_they_fill_most_of_the_image(points):
    images = np.zeros((20, 10, 10))
    images[0, 0, 0] = 1.0  # what the range is from
    one = with_images(images, background=0.0)
    one.points.raw[0] = 0
    drawing = typical_drawing(one if points else replace(one, points=None))
    assert (drawing.height, drawing.width, drawing.y, drawing.x) == (8.0, 7.0, 5.0, 5.0)
