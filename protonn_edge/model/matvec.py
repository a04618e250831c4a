"""The integer product of an int8 matrix and bytes, and the stages that begin with one."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from protonn_edge.model.formulas import Operand
from protonn_edge.model.integer_stage import IntArray, Range, check_bits, check_holds
from protonn_edge.model.layer import LayerStage, LayerWeights
from protonn_edge.system.arrays import Array

NIBBLE_MAXIMUM = 7  # the largest magnitude of weights that take half a byte each
PACKED_BITS = 24  # maximum bits of the accumulator for such weights
NIBBLE_OFFSET = 8  # added to such a weight, so that it is not negative


@dataclass(frozen=True, eq=False)
class IntegerMatvec(LayerStage):
    """A stage that begins with a product: ``a_k = bias_k + sum_i W_ki q_i``."""

    widths: ClassVar[tuple[int, ...]]  # allowed numbers of accumulator bits
    weights: NDArray[np.int8]  # (d, D): W
    bias: IntArray  # (d,): the initial accumulators
    accumulator_bits: int  # one of `widths`; every sum fits for any input
    input_maximum: int  # the largest input, 1..255

    def __post_init__(self) -> None:
        """Refuse numbers with which a sum could overflow."""
        bits = self.accumulator_bits
        widths = " or ".join(map(str, self.widths))
        check_holds(bits in self.widths, f"accumulators of {bits} bits", widths)
        check_bits("accumulators", self.accumulators, bits)

    @property
    def n_inputs(self) -> int:
        """D."""
        return int(self.weights.shape[1])

    @property
    def n_sums(self) -> int:
        """d."""
        return int(self.weights.shape[0])

    @property
    def n_outputs(self) -> int:
        """Number of values computed from the sums, by default one from each."""
        return self.n_sums

    @cached_property
    def accumulators(self) -> Range:
        """The range of the accumulators."""
        return range_of_products(self.weights, self.bias, self.input_maximum)

    @property
    def layer(self) -> LayerWeights:
        """The matrix."""
        return LayerWeights(self.weights[:, None])

    def sums(self, x: Operand) -> Operand:
        """Return the sums a, (n, d), of bytes (n, D)."""
        return x.product(self.weights) + self.bias

    @cached_property
    def output(self) -> Range:
        """The range of each value, from the range of its sum."""
        return Range.of(self.scaled(self.accumulators.interval))

    def formula(self, x: Operand) -> Operand:
        """Return the values (n, n_outputs) of bytes (n, D)."""
        return self.scaled(self.sums(x))

    @cached_property
    def packs(self) -> bool:
        """Whether two weights fit into a byte, and sums are short enough for the kernel."""
        fits = int(np.abs(self.weights.astype(np.int64)).max()) <= NIBBLE_MAXIMUM
        return fits and self.accumulator_bits <= PACKED_BITS

    def parameters(self) -> Iterator[Array]:
        """Yield W, with two weights per byte if that is possible."""
        yield packed(self.weights) if self.packs else self.weights


def packed(weights: NDArray[np.int8]) -> NDArray[np.uint8]:
    """Return weights (d, D) in -7..7 as bytes (D, ceil(d / 2)), each for two outputs.

    With the offset, the first output's weight is the lower half; if d is odd, the last upper half
    is 0.
    """
    halves = (weights.T + NIBBLE_OFFSET).astype(np.uint8)
    halves = np.pad(halves, ((0, 0), (0, halves.shape[1] % 2)))
    return halves[:, ::2] | halves[:, 1::2] << np.uint8(4)


def range_of_products(weights: Array, bias: IntArray, maximum: int) -> Range:
    """Bound bias + W x and its partial sums for all x in 0..maximum."""
    return Range.of(Range.of_bytes(weights.shape[1], maximum).interval.product(weights) + bias)
