"""A layer of a quantized network in integers, exactly as TensorFlow Lite's reference computes it.

The network's int8 values q are the bytes q + 128 here. The input's zero point is folded into the
bias, so that a byte of 0 adds nothing to a sum. A fully connected layer has a window as large as
its image; average pooling is a sum per channel with weights of 1.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from math import prod
from typing import ClassVar

import numpy as np

from protonn_edge.features.images.image_rows import MOST_IN_A_ROW
from protonn_edge.features.images.window_sums import WindowSums
from protonn_edge.model.formulas import Operand
from protonn_edge.model.input_quantizer import BYTE_MAXIMUM
from protonn_edge.model.integer_stage import IntArray, Range, check_bits, check_holds
from protonn_edge.system.arrays import Array

SUM_BITS = (24, 32)
_MOST_MULTIPLIER = (1 << 31) - 1
MOST_LEFT, MOST_RIGHT = 15, 31
_MOST_IN_A_WINDOW_ROW = 0xFFFF


@dataclass(frozen=True, eq=False)
class WideScale:
    """Converts sums to values as `IntegerInt8Layer` states; it has the attributes of that."""

    multipliers: IntArray
    shifts: IntArray
    offset: int
    limits: tuple[int, int]
    rounds_once: bool

    def values(self, sums: Operand) -> Operand:
        """Return the values (..., out) of sums."""
        left, right = np.maximum(-self.shifts, 0), np.maximum(self.shifts, 0)
        product = sums * (self.multipliers << left)
        if self.rounds_once:
            v = (product + (1 << 30 + right)) >> 31 + right
        else:
            y = (product + (1 << 30)) >> 31
            v = ((y.op("Abs") + ((1 << right) >> 1)) >> right) * y.op("Sign")
        return (v + self.offset).op("Clip", *self.limits)

    @property
    def numbers(self) -> Mapping[str, Array]:
        """The multiplier and the right shift of each output."""
        multipliers, shifts = self.multipliers.astype(np.int32), self.shifts.astype(np.int8)
        return {"multipliers": multipliers, "shifts": shifts}

    def c(self, name: str) -> list[str]:
        """Return lines of C, of which the last one is the value of the sum `a` of the output `k`.

        Their products have 64 bits.
        """
        (low, high), multiplier = self.limits, f"{name}_multipliers[k]"
        lines = [f"const int32_t shift = {name}_shifts[k], right = shift > 0 ? shift : 0;"]
        left = "(1 << (shift < 0 ? -shift : 0))"
        lines.append(f"const int64_t product = (int64_t)a * {left} * {multiplier};")
        v = "(product + ((int64_t)1 << (30 + right))) >> (31 + right)"
        if not self.rounds_once:
            lines.append("const int64_t y = (product + (1 << 30)) >> 31;")
            lines.append("const int64_t half = ((int64_t)1 << right) >> 1;")
            v = "(y < 0 ? -((-y + half) >> right) : (y + half) >> right)"
        lines.append(f"const int64_t v = ({v}) + {self.offset};")
        return [*lines, f"v < {low} ? {low} : v > {high} ? {high} : v"]


@dataclass(frozen=True, eq=False)
class IntegerInt8Layer(WindowSums):
    """Maps bytes to bytes, for each output channel o at each position of the window.

    Outside of the image, x is `padding_value`, the input's zero point::

        a_o = bias_o + sum_ijc W_oijc x_ijc
        y_o = (a_o * multiplier_o + 2^30) >> 31
        v_o = y_o / 2^shift_o, rounded, halves away from 0
        u_o = v_o + offset                                             within limits

    With `rounds_once`, ``v_o = (a_o * multiplier_o + 2^(30 + shift_o)) >> 31 + shift_o``. If a
    shift is negative, a_o is first multiplied by ``2^-shift_o``, and the shift is then 0.
    """

    kind: ClassVar[str] = "int8_layer"
    input_maximum: ClassVar[int] = BYTE_MAXIMUM
    maximum: ClassVar[int] = BYTE_MAXIMUM
    weight_bits: ClassVar[int] = 8

    # The initial sums, `bias`, include the input's zero point.
    multipliers: IntArray  # (out,): 1..2^31 - 1
    shifts: IntArray  # (out,): right shifts, -15..31
    offset: int  # the output's zero point as a byte, 0..255
    limits: tuple[int, int]  # smallest and largest value, 0..255
    rounds_once: bool = False  # as fully connected layers and ONNX do

    def __post_init__(self) -> None:
        """Refuse numbers with which a sum could overflow, and shapes that generated code lacks."""
        _check_shapes(self)
        _check_numbers(self)
        check_bits("sums", self.products, SUM_BITS[-1])
        left = np.maximum(-self.shifts, 0)
        shifted = Range(self.accumulators.low << left, self.accumulators.high << left)
        check_bits("shifted sums", shifted, SUM_BITS[-1] - 1)

    @property
    def reads_in_place(self) -> bool:
        """Whether there is only one row of windows, which reads a held image."""
        whole = self.window[0] == self.shape[0] and not any(map(any, self.margins))
        return whole and not self.by_rows

    @cached_property
    def products(self) -> Range:
        """The range of the sums and partial sums without bias."""
        wide = self.weights.astype(np.int64).reshape(len(self.weights), -1)
        low, high = (BYTE_MAXIMUM * pick(wide, 0).sum(axis=1) for pick in (np.minimum, np.maximum))
        return Range(low, high)

    @property
    def accumulators(self) -> Range:
        """The range of the sums; padding may make some of it unreachable."""
        return Range(self.products.low + self.bias, self.products.high + self.bias)

    @cached_property
    def output(self) -> Range:
        """The range of each value, from the range of its sum at any place."""
        reached, places = super().output, prod(self.output_shape[:2])
        return Range(np.tile(reached.low, places), np.tile(reached.high, places))

    @cached_property
    def scale(self) -> WideScale:
        """The conversion of sums to values."""
        return WideScale(self.multipliers, self.shifts, self.offset, self.limits, self.rounds_once)

    def parameters(self) -> Iterator[Array]:
        """Yield the weights, and the numbers of each channel."""
        yield self.weights
        yield from (self.bias.astype(np.int32), self.multipliers.astype(np.int32))
        yield self.shifts.astype(np.int8)


def _check_shapes(layer: IntegerInt8Layer) -> None:
    out, height, width, _ = layer.weights.shape
    channels = layer.shape[2]
    layer.check_weights()
    for name in ("multipliers", "shifts"):
        given = getattr(layer, name).shape
        what = f"{name} of shape {given} for {out} channels"
        check_holds(given == (out,), what, "one per channel")
    margins = [each for pair in layer.margins for each in pair]
    for side in (*layer.stride, height, width):
        fits = 1 <= side <= MOST_IN_A_ROW
        check_holds(fits, f"a kernel side or stride of {side:,} pixels", f"1 to {MOST_IN_A_ROW}")
    within = min(margins) >= 0 and max(margins[:2]) < height and max(margins[2:]) < width
    check_holds(within, f"padding of {margins} pixels", "less than a kernel on each side")
    fits = min(layer.output_shape[:2]) >= 1
    check_holds(fits, "a kernel that is larger than its image", "smaller kernels")
    rows = layer.shape[0] + sum(layer.margins[0])
    most = max(rows, *layer.output_shape[1:], channels if layer.depthwise else 0)
    loops = f"a layer whose loops count to {most:,}"
    check_holds(most <= MOST_IN_A_ROW, loops, f"up to {MOST_IN_A_ROW}")
    row, most = width * channels, _MOST_IN_A_WINDOW_ROW
    check_holds(row <= most, f"kernel rows of {row:,} values", f"up to {most:,}")


def _check_numbers(layer: IntegerInt8Layer) -> None:
    for name, numbers, least, most in (
        ("multipliers", layer.multipliers, 1, _MOST_MULTIPLIER),
        ("shifts", layer.shifts, -MOST_LEFT, MOST_RIGHT),
        ("limits of values", np.array(layer.limits), 0, BYTE_MAXIMUM),
        ("zero points", np.array((layer.offset, layer.padding_value)), 0, BYTE_MAXIMUM),
    ):
        low, high = int(numbers.min()), int(numbers.max())
        fits = least <= low and high <= most
        check_holds(fits, f"{name} from {low:,} to {high:,}", f"{least:,} to {most:,}")
    check_bits("biases", Range(layer.bias, layer.bias), SUM_BITS[-1])
    low, high = layer.limits
    check_holds(low <= high, f"value limits of {low} and {high}", "ascending limits")
