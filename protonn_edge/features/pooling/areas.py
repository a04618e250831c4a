"""Average pooling: the averages of an image's areas make a smaller image.

A device that receives an image can average areas of pixels as they arrive and project only the
averages. The projection, which takes most of the flash, then has one row per average instead of one
per pixel. A signal is an image of height 1. The image may be deskewed first; see
`protonn_edge.features.deskew.integers`.

Along an axis with n pixels and k outputs, with g their greatest common divisor, a pixel is k/g
units wide and an output n/g. The weight of a pixel in an output is their overlap in units. So all
weights are integers, and no pixel overlaps more than two outputs of an axis.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from protonn_edge.features.images import cropped_image as crop
from protonn_edge.model.formulas import Operand
from protonn_edge.model.input_quantizer import BYTE_MAXIMUM
from protonn_edge.model.shapes import Shape, shape_text
from protonn_edge.system.checks import check_range
from protonn_edge.system.errors import InputError

AREA_LIMIT = 0xFFFF // BYTE_MAXIMUM  # 257, so that sums of bytes fit 16 bits
_PIXEL_LIMIT = 65_535
_SPAN_LIMIT = 255  # units of an axis must fit a byte
_SIDES_NAMED = 6


@dataclass(frozen=True)
class Axis(crop.CroppedAxis):
    """Pixels and outputs along one axis."""

    outputs: int  # outputs for the cropped pixels, 1..pixels

    @property
    def pixel_units(self) -> int:
        """Width of a pixel in units."""
        return self.outputs // math.gcd(self.pixels, self.outputs)

    @property
    def output_units(self) -> int:
        """Width of an output in units, at least a pixel's width."""
        return self.pixels // math.gcd(self.pixels, self.outputs)

    def weights(self) -> NDArray[np.int64]:
        """Return the overlaps of outputs and pixels, in units, in one of the g equal periods.

        Shape (k/g, n/g): outputs by pixels.
        """
        pixel = np.arange(self.output_units) * self.pixel_units
        output = np.arange(self.pixel_units)[:, None] * self.output_units
        ends = np.minimum(pixel + self.pixel_units, output + self.output_units)
        overlap: NDArray[np.int64] = np.maximum(ends - np.maximum(pixel, output), 0)
        return overlap


@dataclass(frozen=True)
class Areas(crop.CroppedImage):
    """The areas of an image's crop.

    Raises `InputError` if a shape is larger than the one before it, the image has more than 65,535
    pixels, or the sums of bytes would not fit 16 bits.
    """

    shape: Shape  # height and width of the resulting image

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "shape", crop.checked_shape(self.shape))
        crop.check_within(self.shape, self.cropped_shape, "pooled")
        check_range("pixels", self.n_features, 1, _PIXEL_LIMIT)
        self._check_area()

    @property
    def rows(self) -> Axis:
        """The vertical axis."""
        return Axis(self.image_shape[0], self.cropped_shape[0], self.shape[0])

    @property
    def columns(self) -> Axis:
        """The horizontal axis."""
        return Axis(self.image_shape[1], self.cropped_shape[1], self.shape[1])

    @property
    def area(self) -> int:
        """The sum of the weights of an output, 2..257."""
        return self.rows.output_units * self.columns.output_units

    @property
    def n_outputs(self) -> int:
        """The number of averages."""
        return self.shape[0] * self.shape[1]

    def sums(self, x: Operand) -> Operand:
        """Return the weighted sums, (n, h w), of images of bytes (n, H W): 16 bits each."""
        down, across = self.rows.weights(), self.columns.weights()
        periods = self.crop_of(x).op("Reshape", [-1, across.shape[1]])
        lines = (periods @ across.T).op("Reshape", [-1, down.shape[1], self.shape[1]])
        return (x.constant(down) @ lines).op("Reshape", [-1, self.n_outputs])

    def _check_area(self) -> None:
        spans = self.rows.output_units, self.columns.output_units
        if 2 <= self.area <= AREA_LIMIT and max(spans) <= _SPAN_LIMIT:
            return
        reason = "changes nothing" if self.area < 2 else "needs sums beyond the device's limits"
        raise InputError(
            f"average pooling of {shape_text(self.cropped_shape)} pixels to "
            f"{shape_text(self.shape)} {reason}; {_advice(self.cropped_shape, self.shape)}"
        )


def _advice(cropped: Shape, shape: Shape) -> str:
    """Return advice with the sizes closest to `shape` that have short enough sums."""
    height, width = cropped
    near: list[tuple[int, Shape]] = []
    for rows in _simple_outputs(height):
        for columns in _simple_outputs(width):
            area = (height // math.gcd(height, rows)) * (width // math.gcd(width, columns))
            if 2 <= area <= AREA_LIMIT:
                distance = abs(rows - shape[0]) * width + abs(columns - shape[1]) * height
                near.append((distance, (rows, columns)))
    if not near:
        return "crop the image to sides that have common divisors with the sides of the result"
    nearest = [shape_text(sides) for _, sides in sorted(near)[:_SIDES_NAMED]]
    return f"choose from {', '.join(nearest)}"


def _simple_outputs(pixels: int) -> list[int]:
    """Return the numbers of outputs that need few units: multiples of ``pixels / span``."""
    spans = [span for span in range(1, _SPAN_LIMIT + 1) if pixels % span == 0]
    return sorted({pixels // span * units for span in spans for units in range(1, span + 1)})
