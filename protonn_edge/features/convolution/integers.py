"""A convolution in integers: sums over windows of an image, rectified and requantized to bytes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from protonn_edge.chain.integer_stage import IntArray, Range, check_holds
from protonn_edge.features.images.image_rows import MOST_IN_A_ROW, ImageShape, ImageStage

SIDES = (1, 3, 5)
STRIDES = (1, 2)
WEIGHT_BITS = (8, 4, 2)
SHIFTS = range(8, 17)
ACCUMULATOR_BITS = 16
_MOST_MULTIPLIER = 0xFF


@dataclass(frozen=True, eq=False)
class IntegerConvolution(ImageStage):
    """From bytes to bytes, for each output channel o at each place of the window.

    With x 0 around the image, and a of 16 bits::

        a_o = bias_o + sum_ijc W_oijc x_ijc
        v_o = a_o * multiplier >> shift                   within 0..maximum
    """

    kind: ClassVar[str] = "convolution"
    padding_value: ClassVar[int] = 0

    # (out, k, k, channels): W; with one weight for each place in place of one for each channel
    # there, an output channel uses only the input channel with its number (depthwise). k is 1, 3 or
    # 5.
    weights: NDArray[np.int8]
    bias: IntArray  # (out,): the initial sums
    multiplier: int  # 1..255
    shift: int  # 8..16
    maximum: int  # the largest value, 1..255
    input_maximum: int  # the largest input, 1..255
    stride: int = 1  # the pixels by which the window moves, 1 or 2
    padded: bool = False  # whether (k - 1) / 2 pixels of 0 lie around the image
    weight_bits: int = 8  # 8, 4 or 2: the weights' bits in a model's size
    # whether the shift rounds to nearest, and halves to even, instead of down; it is 8 then
    to_even: bool = False

    def __post_init__(self) -> None:
        """Refuse numbers with which some input could overflow a sum, and shapes without code."""
        _check_shapes(self)
        _check_numbers(self)
        low, high = self.accumulators.ends
        limit = 1 << (ACCUMULATOR_BITS - 1)
        check_holds(-limit <= low and high < limit, f"accumulators in {low:,}..{high:,}")

    @property
    def side(self) -> int:
        """The height and width of the window, k."""
        return int(self.weights.shape[1])

    @property
    def padding(self) -> int:
        """Pixels of 0 on each side of the image."""
        return (self.side - 1) // 2 if self.padded else 0

    @property
    def depthwise(self) -> bool:
        """Whether each output channel is computed from one input channel."""
        return int(self.weights.shape[3]) < self.shape[2]

    @property
    def output_shape(self) -> ImageShape:
        """Height, width and channels of the image that it gives."""
        height, width, _ = self.shape
        over = 2 * self.padding - self.side
        stride = self.stride
        return (height + over) // stride + 1, (width + over) // stride + 1, len(self.weights)

    @property
    def lines(self) -> int:
        """The lines of a window."""
        return self.side

    def completes_at(self, row: int) -> bool:
        """Return whether this row is the last one of a window."""
        return row >= self.side - 1 and (row - self.side + 1) % self.stride == 0

    @cached_property
    def accumulators(self) -> Range:
        """The range of the sums, also of partial ones: extremes pick one sign each."""
        image = np.full((1, self.n_inputs), self.input_maximum, np.uint8)
        low, high = (self.sums(image, pick(self.weights, 0)) for pick in (np.minimum, np.maximum))
        return Range(low.ravel(), high.ravel())

    @cached_property
    def output(self) -> Range:
        """The range of each value: values grow with their sums."""
        reached = self.accumulators
        return Range(self.requantized(reached.low), self.requantized(reached.high))

    def sums(self, x: NDArray[Any], weights: NDArray[Any] | None = None) -> IntArray:
        """Return the sums a, (n, h, w, out), of images (n, n_inputs), also with other weights."""
        sums = np.zeros((len(x), *self.output_shape), np.float32)
        # BLAS lacks an integer product; float32 is exact here, all sums are far below 2**24.
        wide = (self.weights if weights is None else weights).astype(np.float32)
        for row, column, tap in _taps(self, x.astype(np.float32)):
            each = wide[:, row, column]
            sums += tap * each[:, 0] if self.depthwise else tap @ each.T
        return sums.astype(np.int64) + self.bias

    def requantized(self, a: IntArray) -> IntArray:
        """Return the values of sums."""
        products = a * self.multiplier
        if self.to_even:
            half = 1 << (self.shift - 1)
            halves = (products & (2 * half - 1)) == half
            products = (products + half) & ~(halves.astype(np.int64) << self.shift)
        values: IntArray = np.clip(products >> self.shift, 0, self.maximum)
        return values

    def run(self, x: NDArray[Any]) -> NDArray[np.uint8]:
        """Return the values (n, n_outputs) of images (n, n_inputs)."""
        return self.requantized(self.sums(x)).astype(np.uint8).reshape(len(x), -1)

    def activity(self, x: NDArray[Any]) -> tuple[NDArray[np.float64], ...]:
        """Return how often each value of a window is not 0, and sums are small or large.

        The first vector has the k k channels values of a window, row by row; the second one the
        share of the values that are 0, and the share of limited ones.
        """
        height, width, _ = self.output_shape
        places = height * width
        taps = [np.count_nonzero(tap, axis=(0, 1, 2)) / places for *_, tap in _taps(self, x)]
        sums = self.sums(x)
        few = np.count_nonzero(sums < 0), np.count_nonzero(sums >= self.limit)
        return np.concatenate(taps), np.array(few) / self.n_outputs

    @cached_property
    def limit(self) -> int:
        """The least sum for the maximum value."""
        sums = np.arange(1 << (ACCUMULATOR_BITS - 1), dtype=np.int64)
        return int(np.searchsorted(self.requantized(sums), self.maximum))

    def parameters(self) -> Iterator[NDArray[Any]]:
        """Yield the weights, several to a byte where they have fewer bits, and the biases."""
        yield packed(self.weights, self.weight_bits)
        yield self.bias.astype(np.int16)


def _taps(stage: IntegerConvolution, x: NDArray[Any]) -> Iterator[tuple[int, int, NDArray[Any]]]:
    """Yield places of the window, with the pixels (n, h, w, channels) that are there."""
    height, width, _ = stage.output_shape
    around, stride = stage.padding, stage.stride
    images = x.reshape(-1, *stage.shape)
    images = np.pad(images, ((0, 0), (around, around), (around, around), (0, 0)))
    for row, column in np.ndindex(stage.side, stage.side):
        rows = slice(row, row + stride * height, stride)
        columns = slice(column, column + stride * width, stride)
        yield row, column, images[:, rows, columns][:, :height, :width]


def _check_shapes(stage: IntegerConvolution) -> None:
    out, height, width, depth = stage.weights.shape
    channels = stage.shape[2]
    check_holds(height == width and height in SIDES, f"windows of {height}x{width} pixels")
    full, each = depth == channels, depth == 1 and out == channels
    check_holds(full or each, f"windows of {depth} channels of {channels}")
    check_holds(stage.bias.shape == (out,), f"{stage.bias.size} biases of {out} channels")
    check_holds(stage.stride in STRIDES, f"windows that move by {stage.stride} pixels")
    height, width, _ = stage.output_shape
    check_holds(min(height, width) >= 1, "windows that are larger than their image")
    most = max(stage.shape[0] + stage.side, width, stage.side * channels, out)
    check_holds(most <= MOST_IN_A_ROW, f"convolutions that count up to {most:,} in a byte")


def _check_numbers(stage: IntegerConvolution) -> None:
    bits, multiplier, shift = stage.weight_bits, stage.multiplier, stage.shift
    check_holds(bits in WEIGHT_BITS, f"weights of {bits} bits")
    most = 1 << (bits - 1)
    low, high = int(stage.weights.min()), int(stage.weights.max())
    check_holds(-most <= low and high < most, f"weights in {low}..{high} of {bits} bits")
    check_holds(1 <= multiplier <= _MOST_MULTIPLIER, f"the multiplier {multiplier:,}")
    check_holds(shift in SHIFTS, f"values that are shifted by {shift} bits")
    check_holds(shift == SHIFTS[0] or not stage.to_even, f"halves at a shift of {shift} bits")
    largest = max(stage.maximum, stage.input_maximum)
    least = min(stage.maximum, stage.input_maximum)
    check_holds(least >= 1 and largest <= 255, f"values up to {least} or {largest}")


def packed(weights: NDArray[np.int8], bits: int) -> NDArray[np.uint8]:
    """Return weights of 8, 4 or 2 bits as bytes, the first one in the lowest bits."""
    each = 8 // bits
    flat = weights.ravel().view(np.uint8) & np.uint8((1 << bits) - 1)
    flat = np.pad(flat, (0, -len(flat) % each)).reshape(-1, each)
    together: NDArray[np.uint8] = np.bitwise_or.reduce(
        flat << (bits * np.arange(each, dtype=np.uint8)), axis=1
    )
    return together
