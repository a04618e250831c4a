"""Roots of sums of gradients of an image as features, with a shift that suits images."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from protonn_edge.features.deskew.integers import IntegerDeskew
from protonn_edge.features.gradients.integers import LEVELS, SHIFTS, Cells, IntegerGradients
from protonn_edge.features.images.cropped_image import CroppedImage
from protonn_edge.features.images.pixel_scale import UNSCALED, PixelScale
from protonn_edge.model.features import Features
from protonn_edge.model.integer_stage import run_through
from protonn_edge.model.point_format import PointFormat
from protonn_edge.model.shapes import Shape
from protonn_edge.system.arrays import Array

_LARGE_SUMS = 1e-4  # share of the sums that may exceed the table
_FITTED_IMAGES = 2_000


def gradient_features(
    image_shape: Shape,
    cropped_shape: Shape,
    cells: Shape,
    directions: int = 8,
    pixels: PixelScale = UNSCALED,
    *,
    deskew: bool = False,
    shift: int = 1,
) -> Features:
    """Return roots of sums of gradients over cells of an image's crop; see `Cells`.

    - `pixels`: the conversion of raw pixels to bytes.
    - `deskew`: whether images are deskewed first.
    - `shift`: of sums to the right, 1..8 bits.
    """
    image = CroppedImage(image_shape, cropped_shape)
    whole = Cells(image_shape, cropped_shape, cells, directions)
    points = PointFormat(pixels.quantizer(), image.image_shape)
    if not deskew:
        return Features(points, (IntegerGradients(whole, shift),))
    cropped = replace(whole, image_shape=image.cropped_shape)
    stages = IntegerDeskew(image), IntegerGradients(cropped, shift)
    return Features(points, stages)


def fitted_to(X: Array, features: Features) -> Features:
    """Return features with a shift that suits the sums of raw images X (n, H W), n >= 1."""
    *before, stage = features.stages
    assert isinstance(stage, IntegerGradients)
    images = run_through(before, features.points.to_bytes(X[:_FITTED_IMAGES]))
    sums = stage.cells.sums(images.reshape(-1, *stage.cells.image_shape))
    largest = int(np.quantile(sums, 1 - _LARGE_SUMS))
    beyond = largest.bit_length() - (LEVELS - 1).bit_length()
    return replace(features, stages=(*before, replace(stage, shift=max(SHIFTS[0], beyond))))
