"""The kernels of convolutions: weights read from flash, or as instructions.

Assembly computes an output pixel: the sums of a window, which start with the biases, and then the
values. The sums of up to 11 channels are in registers at once; more channels are computed in groups
that read the window in turn. Pointers to the window's rows are in SRAM, Z points to the next value,
and r29 counts pixels. Groups of packed weights, if they have the same size, share their
instructions: r23 counts the groups, and Z and r20 exchange pointers to weights and to values.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import product
from typing import ClassVar

import numpy as np

from protonn_edge.chips.cores import Core
from protonn_edge.codegen.kernels import compiled
from protonn_edge.codegen.kernels.kernel import Cost, Feed, Kernel
from protonn_edge.codegen.kernels.listing import Facts, Listing, Passed, moved
from protonn_edge.codegen.kernels.matvec.products import product_cycles
from protonn_edge.codegen.kernels.sums import ByteCode, started
from protonn_edge.features.convolution import window
from protonn_edge.features.convolution.integers import IntegerConvolution
from protonn_edge.features.images.image_rows import ImageKernel

_NEXT_PIXEL = "dec r29\nbreq done\njmp pixel\ndone:"
_EXCHANGE = "movw r16, r30\nmovw r30, r20\nmovw r20, r16"  # the pointers to weights and values
_AFTER_GROUP = f"{_EXCHANGE}\ndec  r23\nbreq end_groups\nrjmp group"

_DOUBLED_MOST = 255


@dataclass(frozen=True, eq=False)
class PixelCode:
    """The instructions of an output pixel."""

    stage: IntegerConvolution  # the layer
    # whether weights are read from flash, one or several per byte, or are instructions
    name: window.Name

    @cached_property
    def groups(self) -> tuple[window.Channels, ...]:
        """The channels."""
        return window.groups_of(len(self.stage.weights), self.name)

    @cached_property
    def turns(self) -> int:
        """How many groups share instructions."""
        alike = self.name == "packed" and len({group.size for group in self.groups}) == 1
        return len(self.groups) if alike else 1

    @property
    def written(self) -> tuple[window.Channels, ...]:
        """The groups that have instructions of their own."""
        return self.groups[: 1 if self.turns > 1 else None]

    @property
    def bias_bytes(self) -> int:
        """Bytes of biases in front of each group's weights; 0 if they are instructions."""
        return 2 * self.groups[0].size if self.turns > 1 else 0

    @cached_property
    def rows(self) -> dict[tuple[int, int], window.WindowRow]:
        """The rows of the window, by group and row."""
        stage, places = self.stage, product(self.written, range(self.stage.window[0]))
        return {
            (group.number, row): window.unrolled_row(stage, group, row, self._doubled)
            if self.name == "unrolled"
            else window.column_row(stage, group, row, self.name)
            for group, row in places
        }

    @cached_property
    def weights(self) -> tuple[tuple[int, ...], ...]:
        """The bytes of the weights in reading order, group by group: a tuple for each row.

        In front of each group's weights are its biases, if groups share instructions.
        """
        rows = list[tuple[int, ...]]()
        for group in self.groups:
            if self.bias_bytes:
                biases = np.asarray(self.stage.bias[group.channels], "<i2")
                rows.append(tuple(biases.tobytes()))
            rows += map(tuple, window.weights_of(self.stage, group, self.name))
        return tuple(rows)

    @cached_property
    def _doubled(self) -> int:
        """How often inputs are doubled, which makes even weights smaller."""
        common = int(np.gcd.reduce(np.abs(self.stage.weights.astype(np.int64)), axis=None))
        times = 0
        while common and not common & 1 and self.stage.input_maximum << times + 1 <= _DOUBLED_MOST:
            common, times = common >> 1, times + 1
        return times

    @cached_property
    def _parts(self) -> tuple[window.Part, ...]:
        """All instructions in order."""
        stage, shared, parts = self.stage, self.turns > 1, list[window.Part]()
        if shared:
            parts.append(_first_group(self.turns))
        for group in self.written:
            parts.append(_next_biases(group) if shared else self._begin(group))
            for row in range(stage.window[0]):
                own = self.rows[group.number, row]
                parts += [_row_begin(group, row), *own.parts]
                if group is self.groups[-1]:  # there is no other, so X moves on
                    parts.append(_row_end(stage, row, own.advance))
            parts.append(self._scale(group))
            names = (f"value_{group.number}_{place}" for place in range(group.size))
            ends = zip(group.registers.sums, names, strict=True)
            parts += [_value(stage, *each) for each in ends]
        if shared:
            parts += _after_groups(stage, self.groups[0])
        if self.name == "packed":
            parts.append(window.Part("end", "pop  r29"))
        return tuple(parts)

    @cached_property
    def listing(self) -> Listing:
        """The loop over the pixels of a row."""
        sources = [part.source for part in self._parts]
        return Listing("\n".join(["pixel:", *sources, _NEXT_PIXEL, "clr r1"]))

    def _begin(self, group: window.Channels) -> window.Part:
        """Return code that loads the biases."""
        lines = [f"clr  {window.ZERO}"]
        if self.name != "unrolled":
            offset = sum(map(len, self.weights[: group.number * self.stage.window[0]]))
            lines = ["push r29"] if self.name == "packed" and group.number == 0 else []
            lines += ["push r30", "push r31"]
            lines += [f"ldi  r30, lo8(%[weights]+{offset})", f"ldi  r31, hi8(%[weights]+{offset})"]
        if self.name == "packed":
            lines += ["clr  r24", "clr  r25"]
        biases = self.stage.bias[group.channels].tolist()
        lines += started(group.registers.sums, 2, biases, 16)
        return window.Part(f"begin_{group.number}", "\n".join(lines))

    def _scale(self, group: window.Channels) -> window.Part:
        """Return code that loads the registers for all values of a group."""
        lines = window.taken_off(group, self.stage.weight_bits) if self.name == "packed" else []
        if self.turns > 1:
            lines.append(_EXCHANGE)
        elif self.name != "unrolled":
            lines += ["pop  r31", "pop  r30"]
        lines += _byte_code(self.stage).begin
        return window.Part(f"scale_{group.number}", "\n".join(lines))


def _byte_code(stage: IntegerConvolution) -> ByteCode:
    """Return the instructions from sums to values."""
    return ByteCode(stage.scale, "r17", ("r16",), ("r26", "r27"))


def _value(stage: IntegerConvolution, sum_: int, name: str) -> window.Part:
    """Return code that converts a sum to a value and stores it."""
    return window.Part(name, "\n".join([*_byte_code(stage).of(sum_, name), "st   Z+, r17"]))


def _first_group(turns: int) -> window.Part:
    """Return code in front of the groups that share instructions."""
    lines = ["push r29", f"ldi  r23, {turns}", "movw r20, r30"]
    lines += ["ldi  r30, lo8(%[weights])", "ldi  r31, hi8(%[weights])"]
    return window.Part("first", "\n".join(lines))


def _next_biases(group: window.Channels) -> window.Part:
    """Return code that reads the biases of the next group that shares instructions."""
    halves = (half for low in group.registers.sums for half in (low, low + 1))
    lines = ["group:", *(f"lpm  r{half}, Z+" for half in halves), "clr  r24", "clr  r25"]
    return window.Part("begin", "\n".join(lines))


def _after_groups(stage: IntegerConvolution, group: window.Channels) -> list[window.Part]:
    """Return code behind the values of a group that shares instructions."""
    moved = (
        part
        for row in range(stage.window[0])
        for part in (_row_begin(group, row, "again"), _row_end(stage, row, 0))
    )
    return [window.Part("groups", _AFTER_GROUP), *moved, window.Part("output", "movw r30, r20")]


def _row_begin(group: window.Channels, row: int, name: str = "row") -> window.Part:
    """Return code that points X to a row of the window."""
    at = f"%[window]+{2 * row}"
    return window.Part(f"{name}_{group.number}_{row}", f"lds  r26, {at}\nlds  r27, {at}+1")


def _row_end(stage: IntegerConvolution, row: int, advance: int) -> window.Part:
    """Return code that moves the pointer to the window of the next pixel."""
    at, on = f"%[window]+{2 * row}", stage.stride[1] * stage.shape[2] - advance
    lines = [*moved(26, on), f"sts  {at}, r26", f"sts  {at}+1, r27"]
    return window.Part(f"moved_{row}", "\n".join(lines))


_TURNS_OF_A_LINE = 3  # finding the next line of a window, and storing its pointer

_VALUE_CYCLES = 30  # of a sum's begin and end


@dataclass(frozen=True, eq=False)
class ConvolutionKernel(ImageKernel):
    """Sums of a window in registers; weights are in "columns", "packed", or code ("unrolled")."""

    changed: ClassVar[tuple[str, ...]] = ("r0", *(f"r{number}" for number in range(2, 28)))

    stage: IntegerConvolution
    name: window.Name

    @classmethod
    def of(cls, stage: IntegerConvolution, core: Core) -> tuple[Kernel, ...]:
        """Return the kernels with weights in flash, and one with weights as instructions."""
        names: list[window.Name] = ["columns", "unrolled"]
        if stage.weight_bits < 8 and not stage.depthwise:
            names.append("packed")
        return tuple(cls(stage, core, name) for name in names)

    @cached_property
    def code(self) -> PixelCode:
        """The instructions of a pixel."""
        return PixelCode(self.stage, self.name)

    def cost(self, _feed: Feed | None, /) -> Cost:
        """Return its cost."""
        rows, (height, width, out) = self.rows, self.stage.output_shape
        weights, passes = self.stage.weights.reshape(out, -1), len(self.code.groups)
        products = product_cycles(self.name, weights, passes=passes)
        if self.name == "unrolled" and self.stage.padding_value == 0:
            products *= self._share_inside  # the others are skipped
        each = products + _VALUE_CYCLES * out
        tables = sum(map(len, self.code.weights)) * self.weights_in_flash
        return self._with_code(
            height * width * each + self._around + rows.cycles,
            tables,
            state=2 * self.stage.window[0] + 2 + rows.state,
        )

    @property
    def _share_inside(self) -> float:
        """The share of all windows' pixels that are in the image, not in its padding."""
        stage, share = self.stage, 1.0
        for axis, (before, _) in enumerate(stage.margins):
            begins = np.arange(stage.output_shape[axis]) * stage.stride[axis] - before
            places = begins[:, None] + np.arange(stage.window[axis])
            share *= float(((places >= 0) & (places < stage.shape[axis])).mean())
        return share

    @property
    def listings(self) -> tuple[Listing, ...]:
        """The loop over the pixels of a row."""
        return (self.code.listing,)

    @property
    def facts(self) -> Facts:
        """How often the loops over a row's pixels, and over the values of a window, are passed."""
        height, places, _ = self.stage.output_shape
        pixels, turns = height * places, self.code.turns
        taps = pixels * turns * self.row_taps
        facts = {"pixel": Passed(pixels, pixels)}
        if turns > 1:
            facts["group"] = Passed(pixels * turns, pixels * turns)
        if self.weights_in_flash:
            for group, row in self.code.rows:
                facts[f"tap_{group}_{row}"] = Passed(taps, taps)
        return facts

    @property
    def row_taps(self) -> int:
        """Passes of the loop over a row of the window: its values, or its pixels."""
        return self.stage.window[1] * (1 if self.stage.depthwise else self.stage.shape[2])

    @property
    def margin(self) -> int:
        """Number of padding values at a row's end."""
        return self.stage.margins[1][0] * self.stage.shape[2]

    @property
    def _around(self) -> float:
        """Cycles outside the pixels: of input rows, padding, and output rows with their windows."""
        stage, outputs = self.stage, self.stage.output_shape[0]
        padded = sum(stage.margins[0])
        turns = padded * stage.row_values + stage.filled
        turns += _TURNS_OF_A_LINE * outputs * stage.window[0]
        functions = stage.shape[0] / 3 + padded + 2 * outputs
        return compiled.TURN_CYCLES * turns + compiled.calls(functions, self.core)

    @property
    def weights_in_flash(self) -> bool:
        """Whether weights are data rather than instructions."""
        return self.name != "unrolled"

    @property
    def packed_bits(self) -> int:
        """Bits of a weight if a byte holds several weights, else 0."""
        return self.stage.weight_bits if self.name == "packed" else 0


kernels = ConvolutionKernel.of
