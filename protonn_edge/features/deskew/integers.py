"""Deskew: shift each row of an image sideways to remove its slant.

People write with different slants, and each slant would otherwise need prototypes of its own. The
slant of an image is the slant of the line that fits its dark pixels best, computed from their
moments: with x and y measured from the image's centre and cy the centre of mass, it is ``sum (y -
cy) x b`` over ``sum (y - cy)^2 b``. Row y then moves by the slant times ``y - cy``, rounded to
whole pixels.

The slant is computed from the device's input bytes in 32-bit integers, so that every execution
shifts rows by the same amounts.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from protonn_edge.features.images.cropped_image import CroppedImage
from protonn_edge.features.images.pixel_stage import PixelStage, RowReader
from protonn_edge.model.feature_stage import FeatureStage
from protonn_edge.model.formulas import Operand, arrays_of
from protonn_edge.model.input_quantizer import BYTE_MAXIMUM
from protonn_edge.model.integer_stage import IntArray, Range
from protonn_edge.model.point_format import PointFormat, check_points
from protonn_edge.model.shapes import Shape
from protonn_edge.system.checks import check, check_range

SIDE_LIMIT = 32  # maximum side in pixels, for which moments fit 32 bits
CENTRE_BITS = 5
MOMENT_BITS = 3
SLOPE_BITS = 8


def row_shifts(images: NDArray[np.uint8]) -> IntArray:
    """Return the shifts to the left (n, H) of the rows of images (n, H, W), in pixels.

    The absolute slant is at most 1, so no row is shifted by more than H pixels. An image with no
    dark pixels, or with all of them in one row, stays unchanged.
    """
    made: IntArray = arrays_of(partial(_shifts, images.shape[1:]), images)
    return made


def _shifts(shape: Shape, images: Operand) -> Operand:
    """Return the shifts (n, H) of images (n, H, W) of this shape."""
    height = shape[0]
    y, columns = (np.arange(side)[:, None] - side // 2 for side in shape)
    along_row = (images @ columns).op("Reshape", [-1, height])
    in_row = images.op("ReduceSum", [2], keepdims=0)
    mass, across = (each.op("ReduceSum", [1]) for each in (in_row, along_row))
    down = in_row @ y
    centre = _quotient(down * (1 << CENTRE_BITS), mass)
    product = along_row @ y - ((centre * across) >> CENTRE_BITS)
    square = in_row @ (y * y) - ((centre * down) >> CENTRE_BITS)
    upper = (product.op("Abs") >> MOMENT_BITS) * (1 << SLOPE_BITS)
    steep = _quotient(upper, square >> MOMENT_BITS).op("Min", 1 << SLOPE_BITS)
    slope = product.op("Sign") * steep
    first = (slope * (centre * -1 + int(y[0, 0] << CENTRE_BITS))) >> CENTRE_BITS
    return (slope * np.arange(height) + first + _HALF_PIXEL) >> SLOPE_BITS


def _quotient(numerator: Operand, denominator: Operand) -> Operand:
    """Return the quotients, rounded towards 0 as in C; 0 if the denominator is not positive."""
    return numerator.op("Div", denominator.op("Max", 1)) * (denominator > 0)


def along_slope(first: IntArray, slope: IntArray | int, height: int) -> IntArray:
    """Return the shifts (n, H) of rows from the first rows' shifts (n,), in fixed point."""
    return (first[:, None] + slope * np.arange(height) + _HALF_PIXEL) >> SLOPE_BITS


_HALF_PIXEL = 1 << (SLOPE_BITS - 1)


@dataclass(frozen=True, eq=False)
class IntegerDeskew(PixelStage):
    """Maps an image of bytes to its crop after shifting its rows."""

    kind: ClassVar[str] = "deskew"
    value_type: ClassVar[type[np.integer[Any]]] = np.uint8
    passes_rows: ClassVar[bool] = True

    image: CroppedImage  # the shapes of the image and of its crop

    def __post_init__(self) -> None:
        """Refuse images whose moments could overflow."""
        check_range("side of a deskewed image", max(self.image.image_shape), 1, SIDE_LIMIT)

    def among(
        self, before: FeatureStage | PointFormat, behind: tuple[FeatureStage, ...], /
    ) -> Self:
        """Return the stage, if it comes first, and the next one reads rows."""
        check_points(before, self.kind, self.source.image_shape, "image")
        reader = behind[0] if behind else None
        named = "no other stage" if reader is None else reader.kind
        check(isinstance(reader, RowReader), self.kind, named, "a stage of rows")
        return self

    @property
    def source(self) -> CroppedImage:
        """The image."""
        return self.image

    @property
    def n_inputs(self) -> int:
        """Pixels of the image."""
        return self.image.n_features

    @property
    def output(self) -> Range:
        """The range of the pixels of the crop; no interval bounds how far rows move."""
        return Range.of_bytes(self.image.rows.pixels * self.image.columns.pixels, BYTE_MAXIMUM)

    def formula(self, x: Operand) -> Operand:
        """Return the pixels of the crop, (n, h w), of images of bytes (n, H W)."""
        width = self.image.image_shape[1]
        images = x.op("Reshape", [-1, *self.image.image_shape])
        shifts = _shifts(self.image.image_shape, images)
        source = shifts.op("Unsqueeze", [2]) + np.arange(width)
        inside = source.op("Clip", 0, width - 1)
        moved = images.op("GatherElements", inside, axis=2) * source.op("Equal", inside).wide
        return self.image.crop_of(moved).op("Reshape", [-1, self.n_outputs])
