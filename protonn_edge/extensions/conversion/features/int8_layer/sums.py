"""Assembly that adds up a window for a group of channels, keeping their sums in registers."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from protonn_edge.codegen.kernels.compiled import bytes_of
from protonn_edge.codegen.kernels.listing import Facts, Listing, Passed, moved, repeated
from protonn_edge.codegen.kernels.matvec.products import (
    SumRegisters,
    loop,
    multiplied,
    multiplied_in_turn,
)
from protonn_edge.extensions.conversion.features.int8_layer.integers import (
    SUM_BITS,
    IntegerInt8Layer,
)

INPUT, WEIGHT, SIGN = "r21", "r20", "r23"
SUMS = range(2, 20)
"""The registers of sums."""

_STORED_BYTES = bytes_of("int32_t")  # bytes of a sum in SRAM
_MOST_IN_A_BYTE = 256  # passes for which a counter of 0 stands


@dataclass(frozen=True, eq=False)
class SumCode:
    """The instructions that add up a window."""

    stage: IntegerInt8Layer  # the layer

    @cached_property
    def bits(self) -> int:
        """24 or 32: the fewest bits for all sums without their bias."""
        low, high = self.stage.products.ends
        return next(bits for bits in SUM_BITS if -(1 << bits - 1) <= low and high < 1 << bits - 1)

    @cached_property
    def group(self) -> int:
        """Number of channels of a group; the last group may have unused ones."""
        out = len(self.stage.weights)
        sizes = range(1, len(SUMS) // (self.bits // 8) + 1)
        if self.stage.depthwise:
            return max(size for size in sizes if out % size == 0)
        return min(
            sizes, key=lambda size: (-(-out // size) * (7 + size * (6 + self.bits // 8)), size)
        )

    @property
    def groups(self) -> int:
        """The number of groups."""
        return -(-len(self.stage.weights) // self.group)

    @cached_property
    def weights(self) -> NDArray[np.int8]:
        """The weights in reading order, (groups rows, values of a row of the window, group)."""
        own = self.stage.weights
        out, height, width, depth = own.shape
        wide = np.pad(own, ((0, self.groups * self.group - out), (0, 0), (0, 0), (0, 0)))
        wide = wide.reshape(self.groups, self.group, height, width * depth)
        return np.ascontiguousarray(wide.transpose(0, 2, 3, 1)).reshape(-1, self.group)

    @property
    def taps(self) -> int:
        """Passes of the loop over a row of the window: its values, or its pixels."""
        width, channels = self.stage.window[1], self.stage.shape[2]
        return width if self.stage.depthwise else width * channels

    @property
    def registers(self) -> SumRegisters:
        """The registers of the sums, and of the loop."""
        size = self.bits // 8
        return SumRegisters(SUMS[::size][: self.group], INPUT, WEIGHT, width=size, sign=SIGN)

    @cached_property
    def listing(self) -> Listing:
        """The sums of a group at a pixel.

        Z goes through the weights, X through a row of the window, Y through the pointers to these
        rows. r22 counts rows, r25:r24 the values of one. If each channel has its own weights, r24
        counts pixels, and r25 is the first channel.
        """
        stage, of, size = self.stage, self.registers, self.bits // 8
        if stage.depthwise:
            first = f"clr  {SIGN}\nadd  r26, r25\nadc  r27, {SIGN}"
            between, taps = stage.shape[2] - self.group, ["tap:", *multiplied_in_turn(of)]
            taps += [*moved(26, between), self._count, "brne tap"]
        else:
            first = "" if self.taps <= _MOST_IN_A_BYTE else f"ldi  r25, {self.taps >> 8}"
            taps = loop(of, multiplied(of), self.group, self._count, ("tap", "zero", "next"))
        return Listing(
            f"""
                {repeated(SUMS[: size * self.group], "clr  r{0}")}
                ldi  r22, {stage.window[0]}
            row:
                ld   r26, Y+
                ld   r27, Y+
                {first}
                ldi  r24, {self.taps & 255}
                {repeated(taps, "{0}")}
            next:
                dec  r22
                brne row
            store:
                ldi  r26, lo8(%[sums])
                ldi  r27, hi8(%[sums])
                {"".join(_stored(range(low, low + size)) for low in of.sums)}
            """
        )

    @property
    def _count(self) -> str:
        """The instruction that counts the values of a row."""
        return "dec  r24" if self.taps <= _MOST_IN_A_BYTE else "sbiw r24, 1"

    @property
    def passes(self) -> int:
        """Number of rows of windows processed in a prediction, counted per group of channels."""
        height, width, _ = self.stage.output_shape
        return height * width * self.groups * self.stage.window[0]

    @property
    def facts(self) -> Facts:
        """How often the loops over the rows of windows, and over their values, are passed."""
        counts = {"row": self.passes, "tap": self.passes * self.taps}
        return {label: Passed(count, count) for label, count in counts.items()}


def _stored(sum_registers: range) -> str:
    """Return the instructions that store a sum in four bytes."""
    lines = [f"st   X+, r{register}" for register in sum_registers]
    if len(sum_registers) < _STORED_BYTES:
        lines += [f"mov  {SIGN}, r{sum_registers[-1]}", f"lsl  {SIGN}", f"sbc  {SIGN}, {SIGN}"]
        lines.append(f"st   X+, {SIGN}")
    return repeated(lines, "{0}")
