"""Assembly that adds a row of the window to the sums in registers, with its cycles.

X points into the row; the sums of a group of channels are in the registers `REGISTERS`.

A weight is in r16, an input in r17; r28 counts inputs, or is 0 where weights are instructions.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np

from protonn_edge.codegen.kernels.listing import Listing
from protonn_edge.codegen.kernels.matvec.unrolled import Registers, moved, unrolled
from protonn_edge.features.convolution.integers import IntegerConvolution
from protonn_edge.model.integer_stage import IntArray

INPUT, CONSTANT, ZERO = "r17", "r16", "r28"

Name = Literal["columns", "packed", "unrolled"]

REGISTERS = tuple(f"r{low}" for low in (*range(2, 16, 2), *range(18, 26, 2)))
"""The lower registers of sums."""

SUMMED, UNPACKED = "r24", "r29"
"""The lower register of the sum of inputs, and a weight, where weights are packed."""

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

    @cached_property
    def listing(self) -> Listing:
        """The lines alone."""
        return Listing(f"begin:\n{self.source}")

    def cycles(self, start: str = "begin", **taken: int) -> int:
        """Return the cycles, given which branches are taken, by label."""
        start = start if start == "begin" else f"{start}_{self.name}"
        named = {f"{label}_{self.name}": each for label, each in taken.items()}
        ends = {f"end_{self.name}", start} - {"begin"}
        return self.listing.path(start, ends, named)


@dataclass(frozen=True)
class Group:
    """`size` channels from `first` on, with their sums in registers at once."""

    number: int
    first: int
    size: int

    @property
    def channels(self) -> slice:
        """The channels."""
        return slice(self.first, self.first + self.size)

    @property
    def registers(self) -> tuple[str, ...]:
        """The lower registers of their sums."""
        return REGISTERS[: self.size]


def groups_of(channels: int, name: Name) -> tuple[Group, ...]:
    """Return as few groups of channels as possible, of about the same size.

    Packed groups that have exactly the same size share instructions, so a few more are as good.
    """
    most = _MOST_PACKED if name == "packed" else len(REGISTERS)
    size = -(-channels // -(-channels // most))
    if name == "packed":
        alike = (each for each in range(size, _LEAST_SHARED - 1, -1) if channels % each == 0)
        size = next(alike, size)
    firsts = range(0, channels, size)
    return tuple(Group(n, first, min(size, channels - first)) for n, first in enumerate(firsts))


@dataclass(frozen=True, eq=False)
class WindowRow:
    """A row of the window for a group of channels."""

    parts: tuple[Part, ...]  # its instructions
    advance: int  # how far they advance X
    cycles: int  # of values that are not 0


def unrolled_row(stage: IntegerConvolution, group: Group, row: int, doubled: int) -> WindowRow:
    """Return a row with weights as instructions, for inputs that were doubled `doubled` times."""
    name, weights = f"{group.number}_{row}", _by_input(stage, group, row) >> doubled
    sums = [int(register[1:]) for register in group.registers]
    of = Registers(sums, INPUT, CONSTANT, ZERO)
    lines, advance = unrolled(weights, stage.input_maximum, of, f"{name}_", doubled)
    part = Part(name, "\n".join(lines))
    return WindowRow((part,), advance, part.cycles()) if lines else WindowRow((), 0, 0)


def column_row(stage: IntegerConvolution, group: Group, row: int, name: Name) -> WindowRow:
    """Return a row with weights in flash, from Z on, perhaps packed."""
    if stage.depthwise:
        return _row_of_channels(stage, group, row)
    each = 8 // stage.weight_bits if name == "packed" else 1
    products = [_multiplied(register) for register in group.registers]
    if name == "packed":
        products = [f"add  {SUMMED}, {INPUT}", "clr  r1", f"adc  {_above(SUMMED)}, r1"]
        products += _unpacked(group, stage.weight_bits)
    own, count = f"{group.number}_{row}", stage.window[1] * stage.shape[2]
    part = Part(
        own,
        "\n".join(
            [
                f"ldi  r28, {count}",
                f"tap_{own}:",
                f"ld  {INPUT}, X+",
                f"tst  {INPUT}",
                f"breq  zero_{own}",
                *products,
                "dec  r28",
                f"brne  tap_{own}",
                f"rjmp  end_{own}",
                f"zero_{own}:",
                f"adiw  r30, {-(-group.size // each)}",
                "dec  r28",
                f"brne  tap_{own}",
            ]
        ),
    )
    return WindowRow((part,), count, count * part.cycles("tap", zero=0, tap=1))


def _row_of_channels(stage: IntegerConvolution, group: Group, row: int) -> WindowRow:
    """Return a row that adds each value, also 0, to the sum of its own channel."""
    name, pixels, channels = f"{group.number}_{row}", stage.window[1], stage.shape[2]
    between = channels - group.size
    each = [f"ld  {INPUT}, X+\n{_multiplied(register)}" for register in group.registers]
    lines = [*moved(group.first), f"ldi  r28, {pixels}", f"tap_{name}:", *each]
    lines += [*moved(between), "dec  r28", f"brne  tap_{name}"]
    part = Part(name, "\n".join(lines))
    advance = group.first + pixels * channels
    return WindowRow((part,), advance, pixels * part.cycles("tap", tap=1))


def _by_input(stage: IntegerConvolution, group: Group, row: int) -> IntArray:
    """Return the weights (w channels, size) of the values of a row for a group."""
    own = stage.weights[group.channels, row].astype(np.int64)  # (size, w, channels or 1)
    if not stage.depthwise:
        return own.reshape(group.size, -1).T
    spread = np.zeros((stage.window[1], stage.shape[2], group.size), np.int64)
    for place in range(group.size):
        spread[:, group.first + place, place] = own[place, :, 0]
    return spread.reshape(-1, group.size)


def weights_of(stage: IntegerConvolution, group: Group, name: Name) -> Iterator[list[int]]:
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


def taken_off(group: Group, bits: int) -> list[str]:
    """Return code that corrects the sums for the offset that made packed weights positive."""
    lines = [f"lsl  {SUMMED}", f"rol  {_above(SUMMED)}"] * (bits - 1)
    for register in group.registers:
        lines += [f"sub  {register}, {SUMMED}", f"sbc  {_above(register)}, {_above(SUMMED)}"]
    return lines


def _unpacked(group: Group, bits: int) -> list[str]:
    """Return the instructions that unpack and multiply unsigned n-bit weights."""
    lines, each = [], 8 // bits
    for place, register in enumerate(group.registers):
        weight = UNPACKED
        if place % each == 0:
            lines.append("lpm  r16, Z+")
        if place % each == each - 1 or place == group.size - 1:
            weight = "r16"
        else:
            lines.append(f"mov  {weight}, r16")
        if bits == 4 or place % each < each - 1:  # of 2-bit weights, a last byte is partly used
            lines.append(f"andi  {weight}, {(1 << bits) - 1}")
        lines += [f"mul  {weight}, {INPUT}", f"add  {register}, r0", f"adc  {_above(register)}, r1"]
        if weight == UNPACKED:
            lines += ["swap  r16"] if bits == 4 else ["lsr  r16"] * bits
    return lines


def _multiplied(register: str) -> str:
    return f"lpm  r16, Z+\nmulsu  r16, {INPUT}\nadd  {register}, r0\nadc  {_above(register)}, r1"


def _above(register: str) -> str:
    return f"r{int(register[1:]) + 1}"
