"""Assembly that adds a row of the window to the sums in registers.

X points into the row; the sums of a group of channels are in the registers `REGISTERS`.

A weight is in r16, an input in r17; r28 counts inputs, or is 0 where weights are instructions.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

import numpy as np

from protonn_edge.codegen.kernels.listing import moved
from protonn_edge.codegen.kernels.matvec.products import (
    SumRegisters,
    added,
    loop,
    multiplied,
    multiplied_in_turn,
    unrolled,
)
from protonn_edge.features.convolution.integers import IntegerConvolution
from protonn_edge.model.integer_stage import IntArray

Name = Literal["columns", "packed", "unrolled"]

REGISTERS = (*range(2, 16, 2), *range(18, 26, 2))
"""The lower registers of sums."""

INPUT, ZERO, UNPACKED = "r17", "r28", "r29"
"""The registers of an input, of 0, and of a weight where weights are packed.

There, r25:r24 is the sum of the inputs.
"""

_MOST_PACKED = 8  # with more channels, branches could not reach
_LEAST_SHARED = 5  # channels of a group, for the sake of groups of the same size


@dataclass(frozen=True)
class Part:
    """Instructions that are entered at the beginning and left at the end."""

    name: str  # the suffix of its labels
    # the lines; a branch goes to a label inside, or to ``end_NAME`` behind them
    text: str

    @property
    def source(self) -> str:
        """The lines, with the label of its end."""
        return f"{self.text}\nend_{self.name}:\n"


@dataclass(frozen=True)
class Channels:
    """`size` channels from `first` on, with their sums in registers at once."""

    number: int
    first: int
    size: int

    @property
    def channels(self) -> slice:
        """The channels."""
        return slice(self.first, self.first + self.size)

    @property
    def registers(self) -> SumRegisters:
        """The registers of their sums, and of the loop."""
        return SumRegisters(REGISTERS[: self.size], INPUT, "r16", ZERO)


def groups_of(channels: int, name: Name) -> tuple[Channels, ...]:
    """Return as few groups of channels as possible, of about the same size.

    Packed groups that have exactly the same size share instructions, so a few more are as good.
    """
    most = _MOST_PACKED if name == "packed" else len(REGISTERS)
    size = -(-channels // -(-channels // most))
    if name == "packed":
        alike = (each for each in range(size, _LEAST_SHARED - 1, -1) if channels % each == 0)
        size = next(alike, size)
    firsts = range(0, channels, size)
    return tuple(Channels(n, first, min(size, channels - first)) for n, first in enumerate(firsts))


@dataclass(frozen=True, eq=False)
class WindowRow:
    """A row of the window for a group of channels."""

    parts: tuple[Part, ...]  # its instructions
    advance: int  # how far they advance X


def unrolled_row(stage: IntegerConvolution, group: Channels, row: int, doubled: int) -> WindowRow:
    """Return a row with weights as instructions, for inputs that were doubled `doubled` times."""
    name, weights = f"{group.number}_{row}", _by_input(stage, group, row) >> doubled
    of, maximum = group.registers, stage.input_maximum
    lines, advance = unrolled(weights, maximum, of, f"{name}_", doubled)
    part = Part(name, "\n".join(lines))
    return WindowRow((part,), advance) if lines else WindowRow((), 0)


def column_row(stage: IntegerConvolution, group: Channels, number: int, name: Name) -> WindowRow:
    """Return a row with weights in flash, from Z on, perhaps packed."""
    if stage.depthwise:
        return _row_of_channels(stage, group, number)
    each = 8 // stage.weight_bits if name == "packed" else 1
    products = multiplied(group.registers)
    if name == "packed":
        products = [f"add  r24, {INPUT}", "clr  r1", "adc  r25, r1"]
        products += _unpacked(group, stage.weight_bits)
    own, count = f"{group.number}_{number}", stage.window[1] * stage.shape[2]
    labels = f"tap_{own}", f"zero_{own}", f"end_{own}"
    lines = loop(group.registers, products, -(-group.size // each), "dec  r28", labels)
    part = Part(own, "\n".join([f"ldi  r28, {count}", *lines]))
    return WindowRow((part,), count)


def _row_of_channels(stage: IntegerConvolution, group: Channels, number: int) -> WindowRow:
    """Return a row that adds each value, also 0, to the sum of its own channel."""
    name, pixels, channels = f"{group.number}_{number}", stage.window[1], stage.shape[2]
    between, of = channels - group.size, group.registers
    lines = [
        *moved(26, group.first),
        f"ldi  r28, {pixels}",
        f"tap_{name}:",
        *multiplied_in_turn(of),
    ]
    lines += [*moved(26, between), "dec  r28", f"brne  tap_{name}"]
    part = Part(name, "\n".join(lines))
    advance = group.first + pixels * channels
    return WindowRow((part,), advance)


def _by_input(stage: IntegerConvolution, group: Channels, row: int) -> IntArray:
    """Return the weights (w channels, size) of the values of a row for a group."""
    own = stage.weights[group.channels, row].astype(np.int64)  # (size, w, channels or 1)
    if not stage.depthwise:
        return own.reshape(group.size, -1).T
    spread = np.zeros((stage.window[1], stage.shape[2], group.size), np.int64)
    for place in range(group.size):
        spread[:, group.first + place, place] = own[place, :, 0]
    return spread.reshape(-1, group.size)


def weights_of(stage: IntegerConvolution, group: Channels, name: Name) -> Iterator[list[int]]:
    """Yield the bytes of a group's weights in the order in which they are read, row by row.

    Packed weights are made positive; a byte holds several, the first in its lowest bits.
    """
    bits = stage.weight_bits
    for row in range(stage.window[0]):
        own = np.moveaxis(stage.weights[group.channels, row].astype(np.int64), 0, -1)
        if name == "packed":
            own = np.pad(own + (1 << bits - 1), ((0, 0), (0, 0), (0, -group.size % (8 // bits))))
            places = bits * np.arange(8 // bits)
            own = (own.reshape(-1, 8 // bits) << places).sum(axis=1)
        yield own.ravel().tolist()


def taken_off(group: Channels, bits: int) -> list[str]:
    """Return code that corrects the sums for the offset that made packed weights positive."""
    of, lines = group.registers, ["lsl  r24", "rol  r25"] * (bits - 1)
    return lines + [
        line for low in of.sums for line in added(of, low, "r24", "r25", names=("sub", "sbc"))
    ]


def _unpacked(group: Channels, bits: int) -> list[str]:
    """Return the instructions that unpack and multiply unsigned n-bit weights."""
    lines, each = [], 8 // bits
    for place, low in enumerate(group.registers.sums):
        weight = UNPACKED
        if place % each == 0:
            lines.append("lpm  r16, Z+")
        if place % each == each - 1 or place == group.size - 1:
            weight = "r16"
        else:
            lines.append(f"mov  {weight}, r16")
        if bits == 4 or place % each < each - 1:  # of 2-bit weights, a last byte is partly used
            lines.append(f"andi  {weight}, {(1 << bits) - 1}")
        lines += [f"mul  {weight}, {INPUT}", *added(group.registers, low, "r0", "r1")]
        if weight == UNPACKED:
            lines += ["swap  r16"] if bits == 4 else ["lsr  r16"] * bits
    return lines
