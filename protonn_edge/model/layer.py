"""Layers: products of weights and rows of inputs, whose sums a scale converts to values.

The stages that begin with a matrix product, and those that move a window over an image, state here
what generated code needs of them.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Protocol, Self

import numpy as np
from numpy.typing import NDArray

from protonn_edge.model.formulas import Operand
from protonn_edge.model.integer_stage import IntArray, IntegerStage, Range
from protonn_edge.system.arrays import Array

Pair = tuple[int, int]


@dataclass(frozen=True, eq=False)
class LayerWeights:
    """Weights, and the rows of inputs that they are for: those of each place of a window.

    A matrix product has one place, whose only row has all inputs.
    """

    weights: NDArray[np.int8]  # (outputs, rows, inputs of a row)
    places: Pair = (1, 1)  # down and across
    steps: Pair = (0, 0)  # inputs from one place to the next, down and across
    line: int = 0  # inputs from one row of the window to the next
    channels: int = 0  # of a depthwise layer, which has an input of each output in turn; else 0


class Requantization(Protocol):
    """How the sums of a layer become values."""

    def values(self, sums: Operand) -> Operand:
        """Return the values (..., outputs) of sums."""

    @property
    def numbers(self) -> Mapping[str, Array]:
        """The constants that each output has of its own, (outputs,), in types that C has."""

    def c(self, name: str) -> list[str]:
        """Return lines of C, of which the last one is the value of the sum `a` of the output `k`.

        - `name`: in front of the names of tables of `numbers`.
        """


@dataclass(frozen=True, eq=False)
class Scale:
    """Converts sums a_k to values, within `low` and `high`, which do not fall as a sum grows.

    With h the sum without its lowest bits, `dropped`::

        v_k = (h_k * multiplier + offset_k) >> shift

    rounded down, or to nearest, and halves to even.
    """

    sums: Range  # that are possible
    multiplier: int  # 1..65535
    shift: int
    low: int
    high: int
    dropped: int = 0
    offset: IntArray | int | None = None  # (outputs,), or the same for all: 0 if there is none
    to_even: bool = False

    def unlimited(self, sums: Operand) -> Operand:
        """Return the values (..., outputs) of sums, without limits."""
        products = (sums >> self.dropped if self.dropped else sums) * self.multiplier
        if self.offset is not None:
            products = products + self.offset
        if self.to_even:  # an odd number carries from a half on, an even one from above it
            odd = (products >> self.shift).op("Mod", 2)
            products = products + ((1 << (self.shift - 1)) - 1) + odd
        return products >> self.shift

    def values(self, sums: Operand) -> Operand:
        """Return the values (..., outputs) of sums."""
        return self.unlimited(sums).op("Clip", self.low, self.high)

    @cached_property
    def reached(self) -> Range:
        """The range of the values without limits."""
        return Range.of(self.sums.interval.rising(self.unlimited))

    @property
    def clips(self) -> Pair:
        """Whether some sum needs the lower limit, and whether some needs the upper one."""
        low, high = self.reached.ends
        return low < self.low, high > self.high

    @property
    def offsets(self) -> IntArray:
        """The offset of each output, (outputs,)."""
        return np.zeros(len(self.sums.low), np.int64) + (0 if self.offset is None else self.offset)

    @property
    def numbers(self) -> Mapping[str, Array]:
        """The offsets, if outputs have their own."""
        own = isinstance(self.offset, np.ndarray)
        return {"offsets": self.offsets.astype(np.int32)} if own else {}

    def raised(self, by: int) -> Self:
        """Return the scale whose values are larger by a constant."""
        offset = self.offsets + (by << self.shift)
        return replace(self, offset=offset, low=self.low + by, high=self.high + by)

    @property
    def formula(self) -> str:
        """The formula, for comments."""
        upper = f"(a[k] >> {self.dropped})" if self.dropped else "a[k]"
        product = f"{upper} * {self.multiplier}"
        if self.offset is not None:
            product = f"({product} + {'offset[k]' if self.numbers else self.offset})"
        if self.to_even:
            return f"{product} / {1 << self.shift}, rounded, halves to even"
        return f"{product} >> {self.shift}"

    def c(self, name: str, offset: str = "", low: str = "", high: str = "") -> list[str]:
        """Return lines of C, of which the last one is the value of the sum `a` of the output `k`.

        - `name`: in front of the name of the table of offsets.
        - `offset`, `low`, `high`: expressions for them, if the scale's are further apart.
        """
        (below, above), signed, unit, lines = self.clips, "int32_t", "", list[str]()
        if below and self.low == 0 and self.offset is None:
            below, signed, unit = False, "uint32_t", "u"
            lines += ["if (a <= 0) {", "    return 0;", "}"]
        upper = f"(a >> {self.dropped})" if self.dropped else "a"
        product = f"(uint32_t){upper} * {self.multiplier}u"
        if self.offset is not None:
            own = (offset or f"{name}_offsets[k]") if self.numbers else self.offset
            product = f"({product}) + (uint32_t){own}"
        if self.to_even:
            lines.append(f"const uint32_t product = {product};")
            half = (1 << self.shift - 1) - 1
            product = f"product + {half}u + ((product >> {self.shift}) & 1u)"
        lines.append(f"const {signed} v = ({signed})({product}) >> {self.shift};")
        low, high = low or f"{self.low}" * below, high or f"{self.high}{unit}" * above
        value = f"(v > {high}) ? {high} : v" if high else "v"
        return [*lines, f"(v < {low}) ? {low} : ({value})" if low else value]


class LayerStage(IntegerStage):
    """A stage that is a layer."""

    bias: IntArray  # (outputs,): the initial sums

    @property
    @abstractmethod
    def layer(self) -> LayerWeights:
        """Its weights, and where they are used."""

    @property
    @abstractmethod
    def accumulators(self) -> Range:
        """The range of the sums and partial sums."""

    @property
    @abstractmethod
    def scale(self) -> Requantization | None:
        """How its sums become values; None if they are the values."""

    @abstractmethod
    def sums(self, x: Operand) -> Operand:
        """Return the sums of inputs (n, n_inputs)."""

    @property
    def padded_bytes(self) -> int:
        """The size of the image with its margins; 0 without margins."""
        return 0

    def scaled(self, sums: Operand) -> Operand:
        """Return the values of sums."""
        return sums if self.scale is None else sums.rising(self.scale.values)
