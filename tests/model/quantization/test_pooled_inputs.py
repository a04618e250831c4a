"""Average pooling in integers: exact sums, averages up to the largest input, bytes as they come."""

from __future__ import annotations

import numpy as np
import pytest
from chains import replace
from drawn_poolings import areas_of, poolings
from hypothesis import given, settings
from hypothesis import strategies as st
from model_factory import random_images, random_pooling_model, tiny_pooling_model
from refusals import refused_by

from protonn_edge.features.images.pixel_scale import PixelScale
from protonn_edge.features.pooling.making import average_pooling
from protonn_edge.model.features import Features
from protonn_edge.model.integer_chain import IntegerChain, own_inputs
from protonn_edge.model.quantization import quantize

HALVED = average_pooling((8, 8), (8, 8), (4, 4))


@pytest.mark.parametrize("maximum", [15, 31, 63, 127, 255])
@pytest.mark.parametrize("shape", [(8, 8), (5, 7), (1, 16), (13, 10)])
def test_largest_bytes_become_the_largest_input(maximum: int, shape: tuple[int, int]) -> None:
    pooling = average_pooling((16, 16), (16, 16), shape) if shape != (13, 10) else HALVED
    base = tiny_pooling_model()
    n = pooling.n_outputs
    model = replace(
        base,
        features=pooling,
        inputs=replace(base.inputs, zero=np.zeros(n), step=np.ones(n), maximum=maximum),
        projection=np.zeros((3, n), np.int8),
        bias=np.zeros(3, np.int64),
    )
    ends = np.array([[0], [255]], np.uint8).repeat(pooling.points.n_features, axis=1)
    assert own_inputs(model, ends).tolist() == [[0] * n, [maximum] * n]


def test_bytes_of_an_image_pass_unchanged() -> None:
    model = quantize(random_pooling_model(HALVED))
    images = random_images(1, 20, HALVED)
    assert (model.quantize(images) == images).all()


def test_pixels_that_rest_light_are_turned_around() -> None:
    """Zero is the end of the range that is nearer to the most frequent value, for all pixels."""
    images = 255 - random_images(0, 300, HALVED)
    pixels = PixelScale.between(0.0, 255.0, 255.0)
    model = random_pooling_model(average_pooling((8, 8), (8, 8), (4, 4), pixels))
    assert (quantize(model).quantize(images) == 255 - images).all()


@given(
    seed=st.integers(0, 1_000),
    pooling=poolings(st.tuples(st.integers(1, 12), st.integers(2, 14))),
)
@settings(max_examples=40, deadline=None)
def test_inputs_are_averages_rounded_once(seed: int, pooling: Features) -> None:
    model = quantize(random_pooling_model(pooling, seed))
    images = random_images(seed, 30, pooling)
    images[0], images[-1] = 0, 255
    inputs = own_inputs(model, model.quantize(images))
    expected = (pooling.apply(images) - model.inputs.zero) / model.inputs.step
    multiplied = (
        0.5 * 255 * areas_of(pooling).area / 65_536
    )  # the rounding of the multiplier, at most
    assert np.abs(inputs - expected).max() <= 0.5 + multiplied + 1e-6
    assert int(inputs.max()) <= model.inputs.maximum


def test_hash_covers_average_pooling() -> None:
    model = tiny_pooling_model()
    other = replace(model, features=average_pooling((5, 6), (4, 6), (2, 3)))
    assert len({model.model_sha256, other.model_sha256}) == 2


@pytest.mark.parametrize("change", ["zero", "step", "shape"])
def test_average_pooling_that_does_not_fit_is_refused(change: str) -> None:
    model = tiny_pooling_model()
    inputs, pooling = model.inputs, model.features
    if change == "shape":
        pooling = average_pooling((5, 6), (5, 6), (1, 3))
    else:
        inputs = replace(inputs, **{change: np.arange(1.0, 7.0)})
    with refused_by("model.integer_stage"):
        replace(model, inputs=inputs, features=pooling)


def test_points_have_as_many_features_as_pixels() -> None:
    model: IntegerChain = tiny_pooling_model()
    assert (model.n_features, model.n_inputs) == (30, 6)
    with refused_by("quantized points"):
        model.scores(np.zeros((1, 6), np.uint8))
