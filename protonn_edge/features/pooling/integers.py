"""Pooling in integers: the largest value of a window, or its average."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np

from protonn_edge.features.images.image_rows import MOST_IN_A_ROW, ImageStage
from protonn_edge.model.formulas import Operand
from protonn_edge.model.integer_stage import Range, check_holds
from protonn_edge.model.shapes import ImageShape

_HALF = 1 << 15
_MOST_SUMMED = 0xFFFF // 255  # bytes whose sum fits 16 bits

How = Literal["maximum", "average"]


@dataclass(frozen=True, eq=False)
class IntegerPooling(ImageStage):
    """Maps bytes to fewer bytes, in windows that do not overlap, channel by channel.

    ::

        v = max_ij x_ij, or (sum_ij x_ij * multiplier + 2^15) >> 16

    Pixels below or to the right of the last whole window are ignored.
    """

    kind: ClassVar[str] = "pooling"
    value_type: ClassVar[type[np.integer[Any]]] = np.uint8

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
            self.area <= _MOST_SUMMED, f"pooling of {self.area:,} pixels", f"up to {_MOST_SUMMED}"
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
            pooled = self.averages(windows.op("ReduceSum", [2, 4]))
        return pooled.op("Reshape", [-1, self.n_outputs])

    def averages(self, sums: Operand) -> Operand:
        """Return the averages of sums."""
        return (sums * self.multiplier + _HALF) >> 16


def average_multiplier(area: int) -> int:
    """Return the factor from a sum of `area` pixels to their average, in units of 2**-16."""
    return min(round((1 << 16) / area), 0xFFFF)
