"""A convolution in integers: sums over windows of an image, rectified and requantized to bytes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from protonn_edge.features.images.image_rows import MOST_IN_A_ROW, Margins
from protonn_edge.features.images.window_sums import WindowSums
from protonn_edge.model.formulas import Arrays
from protonn_edge.model.integer_stage import Range, check_bits, check_holds
from protonn_edge.model.layer import Scale
from protonn_edge.system.arrays import Array

SIDES = (1, 3, 5)
STRIDES = (1, 2)
WEIGHT_BITS = (8, 4, 2)
SHIFTS = range(8, 17)
_MOST_MULTIPLIER = 0xFF


@dataclass(frozen=True, eq=False)
class IntegerConvolution(WindowSums):
    """Maps bytes to bytes, for each output channel o at each position of the window.

    Windows have 1, 3 or 5 rows and columns, and move by 1 or 2 both ways; margins are 0, or
    `same_margins`.

    Outside of the image, x is `padding_value`; a has 16 bits::

        a_o = bias_o + sum_ijc W_oijc x_ijc
        v_o = a_o * multiplier >> shift                   within 0..maximum
    """

    kind: ClassVar[str] = "convolution"
    accumulator_bits: ClassVar[int] = 16

    multiplier: int  # 1..255
    shift: int  # 8..16
    maximum: int  # the largest value, 1..255
    input_maximum: int  # the largest input, 1..255
    weight_bits: int = 8  # 8, 4 or 2: the weights' bits in a model's size
    # whether the shift, then 8, rounds to nearest and halves to even instead of down
    to_even: bool = False

    def __post_init__(self) -> None:
        """Refuse numbers with which a sum could overflow, and shapes that generated code lacks."""
        _check_shapes(self)
        _check_numbers(self)
        check_bits("accumulators", self.accumulators, self.accumulator_bits)

    @cached_property
    def accumulators(self) -> Range:
        """The range of the sums and partial sums; either extreme adds weights of one sign only.

        The margins count towards partial sums, so it may be wider than the intervals of the sums.
        """
        image = Arrays(np.full((1, *self.shape), self.input_maximum, np.uint8))
        low, high = (
            image.window_sums(pick(self.weights, 0), self.bias, self.windows).values.ravel()
            for pick in (np.minimum, np.maximum)
        )
        return Range(low, high)

    @cached_property
    def scale(self) -> Scale:
        """The conversion of sums to values."""
        numbers = self.multiplier, self.shift, 0, self.maximum
        return Scale(self.accumulators, *numbers, to_even=self.to_even)

    def parameters(self) -> Iterator[Array]:
        """Yield the weights, several per byte if they have fewer than 8 bits, and the biases."""
        yield packed(self.weights, self.weight_bits)
        yield self.bias.astype(np.int16)


def _check_shapes(stage: IntegerConvolution) -> None:
    rows, columns = stage.window
    allowed = {rows, columns} <= {*SIDES}
    check_holds(allowed, f"a kernel of {rows}x{columns} pixels", "sides of 1, 3 or 5")
    stage.check_weights()
    strides = [(each, each) for each in STRIDES]
    check_holds(stage.stride in strides, f"a stride of {stage.stride}", "(1, 1) and (2, 2)")
    allowed = stage.margins in (((0, 0), (0, 0)), same_margins(stage.window))
    check_holds(
        allowed, f"padding of {stage.margins} pixels", "0 pixels, or half a kernel on each side"
    )
    height, width, out = stage.output_shape
    fits = min(height, width) >= 1
    check_holds(fits, "a kernel that is larger than its image", "smaller kernels")
    most = max(stage.shape[0] + rows, width, columns * stage.shape[2], out)
    loops = f"a layer whose loops count to {most:,}"
    check_holds(most <= MOST_IN_A_ROW, loops, f"up to {MOST_IN_A_ROW}")


def same_margins(window: tuple[int, int]) -> Margins:
    """Return the padding with which each pixel is the middle of a window."""
    above, left = ((side - 1) // 2 for side in window)
    return (above, above), (left, left)


def _check_numbers(stage: IntegerConvolution) -> None:
    bits, multiplier, shift = stage.weight_bits, stage.multiplier, stage.shift
    check_holds(bits in WEIGHT_BITS, f"weights of {bits} bits", "8, 4 or 2 bits")
    most = 1 << (bits - 1)
    low, high = int(stage.weights.min()), int(stage.weights.max())
    fits = -most <= low and high < most
    check_holds(fits, f"{bits}-bit weights from {low} to {high}", f"{-most} to {most - 1}")
    fits = 1 <= multiplier <= _MOST_MULTIPLIER
    check_holds(fits, f"the multiplier {multiplier:,}", f"1 to {_MOST_MULTIPLIER}")
    first, last = SHIFTS[0], SHIFTS[-1]
    check_holds(shift in SHIFTS, f"a shift of {shift} bits", f"{first} to {last} bits")
    fits = shift == first or not stage.to_even
    check_holds(fits, f"rounding to even at a shift of {shift} bits", f"a shift of {first} bits")
    padding = stage.padding_value
    fits = 0 <= padding <= stage.input_maximum
    check_holds(fits, f"the padding value {padding:,}", f"0 to {stage.input_maximum:,}")
    for value in (stage.maximum, stage.input_maximum):
        check_holds(1 <= value <= 255, f"a largest value of {value:,}", "1 to 255")


def packed(weights: NDArray[np.int8], bits: int) -> NDArray[np.uint8]:
    """Pack weights of 8, 4 or 2 bits into bytes, the first weight in the lowest bits."""
    each = 8 // bits
    flat = weights.ravel().view(np.uint8) & np.uint8((1 << bits) - 1)
    flat = np.pad(flat, (0, -len(flat) % each)).reshape(-1, each)
    together: NDArray[np.uint8] = np.bitwise_or.reduce(
        flat << (bits * np.arange(each, dtype=np.uint8)), axis=1
    )
    return together
