"""Average pooling: the weights, the crop, memory, and sizes that are refused."""

from __future__ import annotations

import re
import tracemalloc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from refusals import refused_by

from protonn_edge.features.images.pixel_scale import PixelScale
from protonn_edge.features.pooling.areas import Areas, Axis
from protonn_edge.features.pooling.integers import IntegerAveragePooling
from protonn_edge.features.pooling.making import average_pooling
from protonn_edge.learn.features import FeatureData
from protonn_edge.learn.parameters import SharedParameters
from protonn_edge.model.formulas import arrays_of
from protonn_edge.system.errors import InputError

SIDES = st.integers(1, 40)


def averages_by_repetition(images: np.ndarray, shape: tuple[int, int]) -> np.ndarray:
    """Average (n, H, W) images by repeating pixels until areas are whole blocks of them."""
    height, width = shape
    fine = images.repeat(height, axis=1).repeat(width, axis=2)
    n, rows, columns = fine.shape
    blocks = fine.reshape(n, height, rows // height, width, columns // width)
    return blocks.mean(axis=(2, 4)).reshape(n, -1)


@given(pixels=SIDES, outputs=SIDES)
def test_a_pixel_counts_for_two_outputs_at_most(pixels: int, outputs: int) -> None:
    axis = Axis(pixels, pixels, min(pixels, outputs))
    weights = axis.weights()
    assert (weights.sum(axis=0) == axis.pixel_units).all()
    assert (weights.sum(axis=1) == axis.output_units).all()
    assert ((weights > 0).sum(axis=0) <= 2).all()


@pytest.mark.parametrize(
    ("image", "cropped", "shape"),
    [
        ((8, 8), (8, 8), (4, 4)),
        ((8, 8), (8, 8), (6, 6)),
        ((28, 28), (24, 24), (16, 16)),
        ((5, 6), (3, 4), (2, 3)),
        ((1, 140), (1, 140), (1, 35)),
        ((7, 3), (7, 3), (2, 3)),
    ],
)
def test_averages_are_means_over_areas(
    image: tuple[int, int], cropped: tuple[int, int], shape: tuple[int, int]
) -> None:
    pooling = average_pooling(image, cropped, shape)
    X = np.random.default_rng(0).integers(0, 256, (7, image[0] * image[1])).astype(np.float64)
    top, left = (image[0] - cropped[0]) // 2, (image[1] - cropped[1]) // 2
    middle = X.reshape(-1, *image)[:, top : top + cropped[0], left : left + cropped[1]]
    np.testing.assert_allclose(pooling.apply(X), averages_by_repetition(middle, shape))


def test_memory_is_bounded_for_many_points() -> None:
    pooling = average_pooling((28, 28), (28, 28), (16, 16))
    X = np.zeros((20_000, 784), np.uint8)
    pooling.apply(X[:1])
    tracemalloc.start()
    averages = pooling.apply(X)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < averages.nbytes + 60 * 2**20


@pytest.mark.parametrize(
    ("image", "cropped", "shape"),
    [
        ((28, 28), (28, 28), (17, 17)),
        ((28, 28), (28, 28), (28, 28)),
        ((28, 28), (28, 28), (29, 28)),
        ((28, 28), (24, 29), (12, 12)),
        ((1, 256), (1, 256), (1, 1)),
        ((263, 1), (263, 1), (2, 1)),
        ((240, 300), (240, 300), (7, 7)),
        ((8, 8), (8, 8), (0, 4)),
        ((8, 8), (8, 8), (4,)),
    ],
)
def test_sizes_that_cannot_be_are_refused(
    image: tuple[int, int], cropped: tuple[int, int], shape: tuple[int, int]
) -> None:
    with refused_by("features.pooling.areas", "features.images.cropped_image"):
        average_pooling(image, cropped, shape)


@given(cropped=st.tuples(SIDES, SIDES), shape=st.tuples(SIDES, SIDES))
def test_sizes_that_are_named_would_do(cropped: tuple[int, int], shape: tuple[int, int]) -> None:
    shape = min(shape[0], cropped[0]), min(shape[1], cropped[1])
    try:
        average_pooling(cropped, cropped, shape)
    except InputError as error:
        words = str(error)
    else:
        return
    sizes = re.findall(r"\b(\d+)x(\d+)\b", words.partition("; choose from ")[2])
    assert sizes or "; crop the image to sides that have common divisors" in words
    for height, width in sizes:
        average_pooling(cropped, cropped, (int(height), int(width)))


def test_settings_of_training_say_which_pooling() -> None:
    def stage_of(**settings: object) -> object:
        points = np.arange(128, dtype=np.float32).reshape(2, 64)
        parameters = SharedParameters(image_shape=(8, 8), **settings)
        return parameters.features_for(FeatureData(points))

    assert stage_of() is None
    scale = PixelScale(0.0, 127 / 255)
    made = stage_of(features="pool:4x4")
    assert made == average_pooling((8, 8), (8, 8), (4, 4), scale)
    cropped = stage_of(features="crop:6x6,pool:3x3")
    assert cropped == average_pooling((8, 8), (6, 6), (3, 3), scale)
    deskewed = stage_of(features="deskew,pool:4x4")
    assert deskewed == average_pooling((8, 8), (8, 8), (4, 4), scale, deskew=True)


def test_averages_that_are_cut_are_the_upper_bits_of_sums() -> None:
    areas = Areas((4, 6), (4, 6), (2, 3))
    images = np.random.default_rng(0).integers(0, 256, (50, 24)).astype(np.uint8)
    images[:2] = [[0], [255]]
    cut = IntegerAveragePooling(areas, 15, cuts=True)
    assert (cut.run(images) == arrays_of(areas.sums, images) // 64).all()
