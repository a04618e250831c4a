"""The projection in integers: the sums of a matrix product, requantized to signed bytes."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from protonn_edge.chain.integer_stage import IntArray, Range, check_counts, check_holds
from protonn_edge.chain.matvec import IntegerMatvec, products

# A coordinate is clamped to a byte. Quantization leaves enough margin around the prototypes for a
# clamped point to be far from all of them.
COORDINATE_MINIMUM, COORDINATE_MAXIMUM = -128, 127
MAXIMUM_MULTIPLIER = 0xFFFF
OFFSET_STEP = 1 << 8  # the lowest byte of an offset is 0, which saves adding it
REQUANTIZED_LIMIT = (1 << 31) - (1 << 24)  # 32 bits, with a margin for the smallest coordinate
REQUANTIZE_SHIFT = 16  # two whole bytes: an 8-bit chip shifts by renaming registers


@dataclass(frozen=True, eq=False)
class IntegerProjection(IntegerMatvec):
    """Maps bytes to coordinates of a signed byte.

    With a the accumulators of 16 or 24 bits and h their upper 16 bits::

        a_k = bias_k + sum_i W_ki q_i
        p_k = (h_k * multiplier + offset_k) >> 16         limited to a signed byte

    It has the attributes of an `IntegerMatvec`, too.

    Attributes
    ----------
    multiplier : int
        1..65535.
    offset : ndarray of shape (d,), int64
        Multiples of 256, with half a step for rounding.
    wanted : Range
        The range, within a signed byte, outside of which coordinates are equivalent for the next
        stage.
    """

    kind: ClassVar[str] = "projection"
    widths: ClassVar[tuple[int, ...]] = (16, 24)

    multiplier: int
    offset: IntArray
    wanted: Range

    def __post_init__(self) -> None:
        """Refuse numbers with which some input could overflow a sum, or a coordinate."""
        check_counts(projections=self.n_sums)
        super().__post_init__()
        (low, high), bits, multiplier = (
            self.accumulators.ends,
            self.accumulator_bits,
            self.multiplier,
        )
        check_holds(1 <= multiplier <= MAXIMUM_MULTIPLIER, f"multiplier {multiplier:,}")
        product = (max(-low, high) >> (bits - 16)) * multiplier + int(np.abs(self.offset).max())
        check_holds(product < REQUANTIZED_LIMIT, f"requantized accumulators up to {product:,}")
        aligned = not (self.offset % OFFSET_STEP).any()
        check_holds(aligned, "offsets that are no multiples of 256")

    @property
    def n_outputs(self) -> int:
        """d."""
        return self.n_sums

    @cached_property
    def unlimited(self) -> Range:
        """The range of each coordinate before clamping."""
        reached = self.accumulators
        return Range(self.requantized(reached.low), self.requantized(reached.high))

    @cached_property
    def clamps(self) -> bool:
        """Whether a coordinate may exceed a signed byte for some input."""
        low, high = self.projection_range
        return low < COORDINATE_MINIMUM or high > COORDINATE_MAXIMUM

    @property
    def projection_range(self) -> tuple[int, int]:
        """Bounds of all coordinates before clamping, from those of all accumulators."""
        ends = np.array([[end] * self.n_outputs for end in self.accumulators.ends])
        reached = self.requantized(ends)
        return int(reached.min()), int(reached.max())

    @cached_property
    def output(self) -> Range:
        """The range of the device's coordinates, after clamping."""
        return self.wanted if self.clamps else self.unlimited

    def requantized(self, accumulators: IntArray) -> IntArray:
        """Return accumulators (n, d) as coordinates without clamping."""
        upper = accumulators >> (self.accumulator_bits - 16)
        scaled: IntArray = (upper * self.multiplier + self.offset) >> REQUANTIZE_SHIFT
        return scaled

    def run(self, x: NDArray[Any]) -> IntArray:
        """Return the coordinates (n, d), -128..127, of bytes (n, D)."""
        unlimited = self.requantized(products(self.weights, self.bias, x))
        return np.clip(unlimited, COORDINATE_MINIMUM, COORDINATE_MAXIMUM)
