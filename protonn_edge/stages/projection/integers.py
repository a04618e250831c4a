"""The projection in integers: the sums of a matrix product, requantized to signed bytes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from protonn_edge.stages.integer_stage import IntArray, IntegerStage, Range, check_holds
from protonn_edge.stages.matvec.integers import products, range_of_products

# A coordinate is a byte, so what is beyond is clamped. Quantizing leaves so much room around the
# prototypes that a point there is far from all of them anyway.
COORDINATE_MINIMUM, COORDINATE_MAXIMUM = -128, 127
ACCUMULATOR_BITS = (16, 24)
MAXIMUM_MULTIPLIER = 0xFFFF
OFFSET_STEP = 1 << 8  # a coordinate's offset has no lowest byte, which would take time to add
REQUANTIZED_LIMIT = (1 << 31) - (1 << 24)  # 32 bits, with room for the least coordinate
REQUANTIZE_SHIFT = 16  # two whole bytes: an 8-bit chip shifts by renaming registers


@dataclass(frozen=True, eq=False)
class IntegerProjection(IntegerStage):
    """From bytes to coordinates of a signed byte.

    With a the accumulators of 16 or 24 bits and h their upper 16 bits::

        a_k = bias_k + sum_i W_ki q_i
        p_k = (h_k * multiplier + offset_k) >> 16         limited to a signed byte

    Attributes
    ----------
    weights : ndarray of shape (d, D), int8
        W.
    bias : ndarray of shape (d,), int64
        What the accumulators begin with.
    accumulator_bits : int
        16 or 24.
    multiplier : int
        1..65535.
    offset : ndarray of shape (d,), int64
        Multiples of 256, with half a step for rounding.
    input_maximum : int
        The largest input, 1..255.
    wanted : Range
        Beyond it, coordinates are alike to the next stage; within a signed byte.
    """

    kind: ClassVar[str] = "projection"

    weights: NDArray[np.int8]
    bias: IntArray
    accumulator_bits: int
    multiplier: int
    offset: IntArray
    input_maximum: int
    wanted: Range

    def __post_init__(self) -> None:
        """Refuse numbers with which some input could overflow a sum."""
        bits = self.accumulator_bits
        check_holds(bits in ACCUMULATOR_BITS, f"accumulators of {bits} bits")
        low, high = self.accumulators.ends
        limit = 1 << (bits - 1)
        check_holds(-limit <= low and high < limit, f"accumulators in {low:,}..{high:,}")
        multiplier = self.multiplier
        check_holds(1 <= multiplier <= MAXIMUM_MULTIPLIER, f"multiplier {multiplier:,}")
        product = (max(-low, high) >> (bits - 16)) * multiplier + int(np.abs(self.offset).max())
        check_holds(product < REQUANTIZED_LIMIT, f"requantized accumulators up to {product:,}")
        aligned = not (self.offset % OFFSET_STEP).any()
        check_holds(aligned, "offsets that are no multiples of 256")

    @property
    def n_inputs(self) -> int:
        """D."""
        return int(self.weights.shape[1])

    @property
    def n_outputs(self) -> int:
        """d."""
        return int(self.weights.shape[0])

    @cached_property
    def accumulators(self) -> Range:
        """What the accumulators can be."""
        return range_of_products(self.weights, self.bias, self.input_maximum)

    @cached_property
    def unlimited(self) -> Range:
        """What each coordinate can be before it is limited."""
        reached = self.accumulators
        return Range(self.requantized(reached.low), self.requantized(reached.high))

    @cached_property
    def clamps(self) -> bool:
        """Whether some input may push a coordinate out of a signed byte."""
        low, high = self.projection_range
        return low < COORDINATE_MINIMUM or high > COORDINATE_MAXIMUM

    @property
    def projection_range(self) -> tuple[int, int]:
        """Bounds of all coordinates before they are limited, by those of all accumulators."""
        ends = np.array([[end] * self.n_outputs for end in self.accumulators.ends])
        reached = self.requantized(ends)
        return int(reached.min()), int(reached.max())

    @cached_property
    def output(self) -> Range:
        """What the device's coordinates can be: of some, all that is far is one value."""
        return self.wanted if self.clamps else self.unlimited

    def requantized(self, accumulators: IntArray) -> IntArray:
        """Return accumulators (n, d) as coordinates without limits."""
        upper = accumulators >> (self.accumulator_bits - 16)
        scaled: IntArray = (upper * self.multiplier + self.offset) >> REQUANTIZE_SHIFT
        return scaled

    def run(self, x: NDArray[Any]) -> IntArray:
        """Return the coordinates (n, d), -128..127, of bytes (n, D)."""
        unlimited = self.requantized(products(self.weights, self.bias, x))
        return np.clip(unlimited, COORDINATE_MINIMUM, COORDINATE_MAXIMUM)

    def parameters(self) -> Iterator[NDArray[Any]]:
        """Yield W."""
        yield self.weights
