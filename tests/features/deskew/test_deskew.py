"""Images are deskewed, by whole pixels, alike in floats and in integers."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from laws.conformance.deskew import shifts_by_the_formula
from refusals import refused_by

from protonn_edge.features.deskew.integers import SIDE_LIMIT, IntegerDeskew, row_shifts
from protonn_edge.features.images.cropped_image import CroppedImage
from protonn_edge.features.images.pixel_scale import PixelScale
from protonn_edge.features.pooling.making import average_pooling

_SCALE = PixelScale(0.0, 1.0)


def _stroke(slant: float, height: int = 20, width: int = 24) -> np.ndarray:
    image = np.zeros((1, height, width), dtype=np.uint8)
    for row in range(height):
        middle = round(width / 2 - slant * (row - height / 2))
        image[0, row, middle - 1 : middle + 2] = 200
    return image


@pytest.mark.parametrize("slant", [-0.9, -0.4, 0.0, 0.3, 0.8])
def test_a_slanted_stroke_stands_upright_afterwards(slant: float) -> None:
    image = _stroke(slant)

    moved = IntegerDeskew(CroppedImage((20, 24), (20, 24))).run(image.reshape(1, -1))

    columns = [np.flatnonzero(row).mean() for row in moved.reshape(20, 24)]
    assert max(columns) - min(columns) <= 1.0
    assert moved.sum() == image.sum()


def test_an_upright_stroke_and_an_empty_image_stay_as_they_are() -> None:
    for image in (_stroke(0.0), np.zeros((1, 20, 24), dtype=np.uint8)):
        assert not row_shifts(image).any()


@given(
    arrays(np.uint8, st.tuples(st.integers(1, 9), st.integers(1, 9)))
    | arrays(np.uint8, (SIDE_LIMIT, SIDE_LIMIT), elements=st.sampled_from([0, 255]))
)
@settings(max_examples=60)
def test_shifts_are_those_of_the_formula_and_no_larger_than_the_image(image: np.ndarray) -> None:
    shifts = row_shifts(image[None])[0]

    assert shifts.tolist() == shifts_by_the_formula(image.ravel().tolist(), *image.shape)
    assert np.abs(shifts).max() <= len(image)


def test_dark_on_light_is_deskewed_as_light_on_dark() -> None:
    image = _stroke(0.5).reshape(1, -1).astype(np.float64)
    light = average_pooling(
        (20, 24), (20, 24), (10, 12), PixelScale.between(0.0, 255.0, 0.0), deskew=True
    )
    dark = average_pooling(
        (20, 24), (20, 24), (10, 12), PixelScale.between(0.0, 255.0, 255.0), deskew=True
    )

    assert np.allclose(dark.apply(255.0 - image), light.apply(image), atol=1e-9)


def test_large_images_are_refused() -> None:
    with refused_by("features.deskew.integers"):
        average_pooling((33, 28), (33, 28), (11, 14), _SCALE, deskew=True)
