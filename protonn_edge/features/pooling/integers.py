"""Pooling in integers: the largest value of each window of an image, or its average.

`IntegerPooling` is a layer of a network. `IntegerAveragePooling` reads raw pixels, and its windows,
`Areas`, may have parts of pixels. Both round averages in the same way.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar, Literal, Self

import numpy as np

from protonn_edge.features.images.image_rows import MOST_IN_A_ROW, ImageStage
from protonn_edge.features.images.pixel_stage import RowReader
from protonn_edge.features.pooling.areas import AREA_LIMIT, Areas
from protonn_edge.model.feature_stage import FeatureStage
from protonn_edge.model.formulas import Operand, arrays_of
from protonn_edge.model.input_quantizer import BYTE_MAXIMUM, InputQuantizer
from protonn_edge.model.integer_stage import IntegerStage, Range, check_holds
from protonn_edge.model.layer import Scale
from protonn_edge.model.point_format import Form, PointFormat
from protonn_edge.model.shapes import ImageShape
from protonn_edge.model.statistics import InputStatistics
from protonn_edge.system.arrays import Array
from protonn_edge.system.checks import check, check_range

_SHIFT = 16
_HALF = 1 << _SHIFT - 1
_MULTIPLIER_MAXIMUM = 0xFFFF

How = Literal["maximum", "average"]


class Averaging(IntegerStage):
    """A stage that turns sums of 16 bits into averages of a byte."""

    value_type: ClassVar[type[np.integer[Any]]] = np.uint8

    @property
    @abstractmethod
    def multiplier(self) -> int:
        """The factor from a sum to its average, in units of 2**-16."""

    @property
    @abstractmethod
    def largest_sum(self) -> int:
        """The largest sum."""

    @property
    def half(self) -> int:
        """The constant added before truncation, so that averages are rounded."""
        return _HALF

    @cached_property
    def scale(self) -> Scale:
        """The conversion of a sum to its average, without limits."""
        numbers = self.multiplier, _SHIFT, 0, BYTE_MAXIMUM
        return Scale(Range.of_bytes(1, self.largest_sum), *numbers, offset=self.half)


@dataclass(frozen=True, eq=False)
class IntegerPooling(Averaging, ImageStage):
    """Maps bytes to fewer bytes, in windows that do not overlap, channel by channel.

    ::

        v = max_ij x_ij, or (sum_ij x_ij * multiplier + 2^15) >> 16

    Pixels below or to the right of the last whole window are ignored.
    """

    kind: ClassVar[str] = "pooling"

    window: tuple[int, int]  # height and width of a window, or of the whole image
    how: How  # largest value or average
    input_maximum: int  # the largest input, 1..255

    def __post_init__(self) -> None:
        """Refuse windows with sums that could overflow, and shapes that generated code lacks."""
        height, width = self.window
        within = 1 <= height <= self.shape[0] and 1 <= width <= self.shape[1]
        inside = f"1x1 to {self.shape[0]}x{self.shape[1]}"
        check_holds(within, f"pooling of {height}x{width} pixels", inside)
        check_holds(
            self.area <= AREA_LIMIT, f"pooling of {self.area:,} pixels", f"up to {AREA_LIMIT}"
        )
        most = max(self.shape)
        check_holds(most <= MOST_IN_A_ROW, f"a side of {most:,} pixels", f"up to {MOST_IN_A_ROW}")
        most = self.input_maximum
        check_holds(1 <= most <= 255, f"a largest value of {most:,}", "1 to 255")

    @property
    def area(self) -> int:
        """Number of pixels of a window."""
        return self.window[0] * self.window[1]

    @property
    def multiplier(self) -> int:
        """The factor from a window's sum to its average, in units of 2**-16."""
        return average_multiplier(self.area)

    @property
    def largest_sum(self) -> int:
        """The sum of a window of largest values."""
        return self.area * self.input_maximum

    @property
    def maximum(self) -> int:
        """The largest value."""
        return self.input_maximum

    @property
    def output_shape(self) -> ImageShape:
        """Height, width and channels of the output image."""
        height, width, channels = self.shape
        return height // self.window[0], width // self.window[1], channels

    @property
    def lines(self) -> int:
        """A single line."""
        return 1

    def completes_at(self, row: int) -> bool:
        """Return whether this row is the last one of its windows."""
        return (row + 1) % self.window[0] == 0

    def writes_at(self, row: int) -> bool:
        """Return whether values are written: in every row, which updates the values so far."""
        return self.how == "maximum" or self.completes_at(row)

    @property
    def output(self) -> Range:
        """The range of each value."""
        return Range.of_bytes(self.n_outputs, self.maximum)

    def formula(self, x: Operand) -> Operand:
        """Return the values (n, n_outputs) of images (n, n_inputs)."""
        (height, width, channels), (rows, columns) = self.output_shape, self.window
        images = x.op("Reshape", [-1, *self.shape])
        whole = images[slice(0, height * rows), slice(0, width * columns)]
        windows = whole.op("Reshape", [-1, height, rows, width, columns, channels])
        if self.how == "maximum":
            pooled = windows.op("ReduceMax", [2, 4])
        else:
            pooled = self.scale.unlimited(windows.op("ReduceSum", [2, 4]))
        return pooled.op("Reshape", [-1, self.n_outputs])


def average_multiplier(area: int) -> int:
    """Return the factor from a sum of `area` pixels to their average, in units of 2**-16."""
    return min(round((1 << 16) / area), _MULTIPLIER_MAXIMUM)


@dataclass(frozen=True, eq=False)
class IntegerAveragePooling(Averaging, RowReader):
    """Maps pixels b to averages of 0..maximum.

    ::

        v_i = sum_n weight_in b_n                 16 bits, never overflows
        q_i = (v_i * multiplier + half) >> 16     half is 2^15, or 0 if averages are cut
    """

    kind: ClassVar[str] = "average_pooling"
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
        made, most = self.scale.reached.ends[1], _MULTIPLIER_MAXIMUM
        fits = made == self.maximum and self.multiplier <= most
        what = f"averages of 0 to {made:,}, made with the multiplier {self.multiplier:,}"
        check_holds(fits, what, f"averages of 0 to {self.maximum} and multipliers up to {most:,}")

    def among(
        self, before: FeatureStage | PointFormat, behind: tuple[FeatureStage, ...], /
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
    def largest_sum(self) -> int:
        """The sum of an area of white pixels."""
        return self.pooling.area * BYTE_MAXIMUM

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
        return self.scale.unlimited(self.pooling.sums(x))

    def ranged(self, statistics: InputStatistics) -> InputStatistics:
        """Return the statistics with the range and the background of bytes."""
        zeros = np.zeros_like(statistics.lower)
        return replace(statistics, lower=zeros, upper=zeros + BYTE_MAXIMUM, background=zeros)

    def feeding(self, inputs: InputQuantizer) -> Self:
        """Return the stage whose averages are a classifier's inputs."""
        same = np.ptp(inputs.zero) == 0 and np.ptp(inputs.step) == 0
        check_holds(bool(same), "averages of values on different scales", "averages on one scale")
        return replace(self, maximum=inputs.maximum)
