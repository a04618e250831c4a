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
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from protonn_edge.features.images.cropped_image import CroppedImage
from protonn_edge.features.images.pixel_stage import RowSource
from protonn_edge.model.input_quantizer import BYTE_MAXIMUM
from protonn_edge.model.integer_stage import IntArray, Range
from protonn_edge.system.arrays import Array
from protonn_edge.system.checks import check_range

SIDE_LIMIT = 32  # maximum side in pixels, for which moments fit 32 bits
CENTRE_BITS = 5
MOMENT_BITS = 3
SLOPE_BITS = 8


def row_shifts(images: NDArray[np.uint8]) -> IntArray:
    """Return the shifts to the left (n, H) of the rows of images (n, H, W), in pixels.

    The absolute slant is at most 1, so no row is shifted by more than H pixels. An image with no
    dark pixels, or with all of them in one row, stays unchanged.
    """
    _, height, width = images.shape
    y, x = _centred(height), _centred(width)
    # BLAS needs floats, which are exact: all sums are far below 2**53
    pixels = images.astype(np.float64)
    in_row = pixels.sum(axis=2)
    along_row = pixels @ x
    mass, across = _whole(in_row.sum(axis=1)), _whole(along_row.sum(axis=1))
    down, product, square = (_whole(sums) for sums in (in_row @ y, along_row @ y, in_row @ (y * y)))
    centre = _quotient(down << CENTRE_BITS, mass)
    product -= (centre * across) >> CENTRE_BITS
    square -= (centre * down) >> CENTRE_BITS
    slope = _quotient((abs(product) >> MOMENT_BITS) << SLOPE_BITS, square >> MOMENT_BITS)
    slope = np.sign(product) * np.minimum(slope, 1 << SLOPE_BITS)
    first = (slope * ((int(y[0]) << CENTRE_BITS) - centre)) >> CENTRE_BITS
    return along_slope(first, slope[:, None], height)


def along_slope(first: IntArray, slope: IntArray | int, height: int) -> IntArray:
    """Return the shifts (n, H) of rows from the first rows' shifts (n,), in fixed point."""
    return (first[:, None] + slope * np.arange(height) + _HALF_PIXEL) >> SLOPE_BITS


_HALF_PIXEL = 1 << (SLOPE_BITS - 1)


def sheared(images: Array, shifts: IntArray) -> Array:
    """Return images (n, H, W) with their rows shifted to the left by `shifts`, (n, H).

    Pixels that move in from outside are 0.
    """
    width = images.shape[2]
    source = np.arange(width) + shifts[:, :, None]
    inside = (source >= 0) & (source < width)
    moved = np.take_along_axis(images, np.where(inside, source, 0), axis=2)
    moved[~inside] = 0
    return moved


def _centred(side: int) -> NDArray[np.float64]:
    """Return the integer coordinates of a side's pixels, centred at 0."""
    return np.arange(side, dtype=np.float64) - side // 2


def _whole(sums: NDArray[np.float64]) -> IntArray:
    return sums.astype(np.int64)


def _quotient(numerator: IntArray, denominator: IntArray) -> IntArray:
    """Return the quotients, rounded towards 0 as in C; 0 if the denominator is not positive."""
    divisor = np.maximum(denominator, 1)
    quotient: IntArray = np.sign(numerator) * (abs(numerator) // divisor)
    return np.where(denominator > 0, quotient, 0)


@dataclass(frozen=True, eq=False)
class IntegerDeskew(RowSource):
    """Maps an image of bytes to its crop after shifting its rows."""

    kind: ClassVar[str] = "deskew"

    image: CroppedImage  # the shapes of the image and of its crop

    def __post_init__(self) -> None:
        """Refuse images whose moments could overflow."""
        check_range("side of a deskewed image", max(self.image.image_shape), 1, SIDE_LIMIT)

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
        """The range of the pixels of the crop."""
        return Range.of_bytes(self.image.rows.pixels * self.image.columns.pixels, BYTE_MAXIMUM)

    def run(self, x: Array) -> NDArray[np.uint8]:
        """Return the pixels of the crop, (n, h w), of images of bytes (n, H W)."""
        images = x.reshape(-1, *self.image.image_shape)
        straight = sheared(images, row_shifts(images))
        return self.image.cropped(straight).reshape(len(x), -1).astype(np.uint8)
