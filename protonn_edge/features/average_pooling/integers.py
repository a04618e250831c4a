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
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from protonn_edge.features.images import cropped_image as crop
from protonn_edge.features.images.pixel_stage import RowReader
from protonn_edge.model.formulas import Operand, arrays_of
from protonn_edge.model.input_quantizer import BYTE_MAXIMUM, InputQuantizer
from protonn_edge.model.integer_stage import IntegerStage, Range, check_holds
from protonn_edge.model.point_format import Form, PointFormat
from protonn_edge.model.shapes import Shape, shape_text
from protonn_edge.model.statistics import InputStatistics
from protonn_edge.system.arrays import Array
from protonn_edge.system.checks import check, check_range
from protonn_edge.system.errors import InputError

_AREA_LIMIT = 0xFFFF // BYTE_MAXIMUM  # 257, so that sums of bytes fit 16 bits
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
        if 2 <= self.area <= _AREA_LIMIT and max(spans) <= _SPAN_LIMIT:
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
            if 2 <= area <= _AREA_LIMIT:
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


_HALF = 1 << 15
_MULTIPLIER_MAXIMUM = 0xFFFF


@dataclass(frozen=True, eq=False)
class IntegerAveragePooling(RowReader):
    """Maps pixels b to averages of 0..maximum.

    ::

        v_i = sum_n weight_in b_n                 16 bits, never overflows
        q_i = (v_i * multiplier + half) >> 16     half is 2^15, or 0 if averages are cut
    """

    kind: ClassVar[str] = "average_pooling"
    value_type: ClassVar[type[np.integer[Any]]] = np.uint8
    forms: ClassVar[tuple[Form, ...]] = ("image", "window")

    pooling: Areas  # the areas of the image
    # the largest average, 1..255; None before a classifier's inputs are known: averages are floats
    maximum: int | None = None
    # whether averages keep just the upper bits of a byte's average instead of being rounded
    cuts: bool = False

    def __post_init__(self) -> None:
        """Refuse areas if their largest average would not be `maximum`."""
        if self.maximum is None:
            return
        check_range("largest average", self.maximum, 1, BYTE_MAXIMUM)
        largest = self.pooling.area * BYTE_MAXIMUM * self.multiplier
        made, most = (largest + self.half) >> 16, _MULTIPLIER_MAXIMUM
        fits = made == self.maximum and self.multiplier <= most
        what = f"averages of 0 to {made:,}, made with the multiplier {self.multiplier:,}"
        check_holds(fits, what, f"averages of 0 to {self.maximum} and multipliers up to {most:,}")

    def among(
        self, before: IntegerStage | PointFormat, behind: tuple[IntegerStage, ...], /
    ) -> Self:
        """Return the stage, with the largest average that a next stage takes, or None."""
        known = "unknown" if self.maximum is None else f"{self.maximum:,}"
        fits = (self.maximum is None) == (not behind)
        check(fits, self.kind, f"the largest average {known}", "it only before another stage")
        return super().among(before, behind)

    @property
    def source(self) -> Areas:
        """The areas of the image."""
        return self.pooling

    @property
    def n_inputs(self) -> int:
        """Pixels of the image."""
        return self.pooling.n_features

    @property
    def n_outputs(self) -> int:
        """Averages."""
        return self.pooling.n_outputs

    @property
    def output(self) -> Range:
        """The range of the averages."""
        assert self.maximum is not None
        return Range.of_bytes(self.pooling.n_outputs, self.maximum)

    @property
    def multiplier(self) -> int:
        """The factor from the sum of an area to 0..maximum, in units of 2**-16."""
        assert self.maximum is not None
        if self.cuts:
            return (self.maximum + 1) * 65_536 // ((BYTE_MAXIMUM + 1) * self.pooling.area)
        return round(self.maximum * 65_536 / (BYTE_MAXIMUM * self.pooling.area))

    @property
    def half(self) -> int:
        """The constant added before truncation, so that averages are rounded."""
        return 0 if self.cuts else _HALF

    def run(self, x: Array) -> Array:
        """Return the averages (n, h w) of images of bytes (n, H W)."""
        if self.maximum is not None:
            return super().run(x)
        return arrays_of(self.pooling.sums, x) / self.pooling.area

    def formula(self, x: Operand) -> Operand:
        """Return the averages (n, h w) of images of bytes (n, H W)."""
        return self.averages(self.pooling.sums(x))

    def averages(self, sums: Operand) -> Operand:
        """Return the averages of sums."""
        return (sums * self.multiplier + self.half) >> 16

    def ranged(self, statistics: InputStatistics) -> InputStatistics:
        """Return the statistics with the range and the background of bytes."""
        zeros = np.zeros_like(statistics.lower)
        return replace(statistics, lower=zeros, upper=zeros + BYTE_MAXIMUM, background=zeros)

    def feeding(self, inputs: InputQuantizer) -> Self:
        """Return the stage whose averages are a classifier's inputs."""
        same = np.ptp(inputs.zero) == 0 and np.ptp(inputs.step) == 0
        check_holds(bool(same), "averages of values on different scales", "averages on one scale")
        return replace(self, maximum=inputs.maximum)
