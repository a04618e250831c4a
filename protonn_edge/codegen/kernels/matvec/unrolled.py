"""Weights as instructions: a piece of code for each input, one after the other.

Registers are as in `protonn_edge.codegen.kernels.matvec.loops`. A product is in r1:r0, or, if it
fits a byte for any input, in r0 alone; r25 is 0. Code consists of pieces, each a macro of the
assembler.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from protonn_edge.codegen.kernels.listing import BEGIN, END, Listing, repeated
from protonn_edge.codegen.kernels.matvec.loops import Block, Cycles, load, store
from protonn_edge.model.input_quantizer import BYTE_MAXIMUM

INPUT_PIECE = Listing("2: ld r23, X+\ntst r23\nbreq 2f")
PASS_PIECE = Listing("2: adiw r26, \\\\count")
_MOST_PASSED = 63  # inputs that an instruction passes over

_MADE = {
    "itself": "",
    "twice": "mov r0, {input}\nlsl r0",
    "one_more": "add r0, {input}",
    "two_more": "add r0, {input}\nadd r0, {input}",
    "doubled": "lsl r0",
    "doubled_and_one": "lsl r0\nadd r0, {input}",
    "wide_one_more": "add r0, {input}\nadc r1, {zero}",
    "wide_doubled": "lsl r0\nrol r1",
    "product": "ldi {constant}, {size}\nmul {constant}, {input}",
}
"""Instructions that make a multiple of the input from the previous one; `_made_of` chooses."""

MULTIPLES = {
    name: Listing(text.format(input="r23", constant="r22", zero="r25", size="\\\\size"))
    for name, text in _MADE.items()
}
"""These instructions as pieces of the code of a product."""


def straight(piece: Listing) -> int:
    """Return the cycles of a piece without branches."""
    return piece.path(BEGIN, [END], {}) if piece.code_bytes else 0


PASS_CYCLES = straight(PASS_PIECE)
"""Cycles of passing over adjacent inputs without weights."""

_ZERO_CYCLES, _INPUT_CYCLES = (
    Listing(f"{INPUT_PIECE.source}\n2:").path(BEGIN, [END], {"2f": p}) for p in (1, 0)
)
_MADE_CYCLES = {name: straight(piece) for name, piece in MULTIPLES.items()}


@dataclass(frozen=True)
class Multiple:
    """A multiple of an input, and the outputs that it is added to and taken from."""

    size: int  # 1..128
    made: str  # how it is made of the one before; see `MULTIPLES`
    # the outputs
    plus: tuple[int, ...]
    minus: tuple[int, ...]

    @property
    def outputs(self) -> tuple[int, ...]:
        """All outputs."""
        return self.plus + self.minus

    @property
    def cycles(self) -> int:
        """To make it."""
        return _MADE_CYCLES[self.made]

    def lines(self, **registers: str) -> list[str]:
        """Return the instructions, with the registers of the `input`, a `constant` and `zero`."""
        return _MADE[self.made].format(size=self.size, **registers).splitlines()

    def fits(self, largest: int) -> bool:
        """Whether it fits a byte for any input of at most `largest`."""
        return self.size * largest <= BYTE_MAXIMUM


@dataclass(frozen=True)
class InputCode:
    """The code of an input, or of adjacent ones without weights."""

    feature: int  # the first one
    multiples: tuple[Multiple, ...] = ()  # the multiples to add; none if inputs are passed over
    passed: int = 0  # number of inputs passed over at once; 0 for one with weights


@dataclass(frozen=True, eq=False)
class Unrolled:
    """The code of a block, for weights (size, D) and inputs of at most `largest`."""

    input: ClassVar[Listing] = INPUT_PIECE
    passing: ClassVar[Listing] = PASS_PIECE
    multiples: ClassVar[Mapping[str, Listing]] = MULTIPLES

    block: Block
    weights: NDArray[np.int8]
    largest: int

    @cached_property
    def lines(self) -> tuple[InputCode, ...]:
        """The code of all inputs."""
        lines: list[InputCode] = []
        for feature, multiples in enumerate(multiples_of(self.weights, self.largest)):
            if multiples:
                lines.append(InputCode(feature, multiples))
            elif lines and 0 < lines[-1].passed < _MOST_PASSED:
                lines[-1] = replace(lines[-1], passed=lines[-1].passed + 1)
            else:
                lines.append(InputCode(feature, passed=1))
        return tuple(lines)

    @property
    def entry(self) -> Listing:
        """The code in front of the first input."""
        return Listing(f"{load(self.block.bytes)}\nclr r25")

    @property
    def leaving(self) -> Listing:
        """The code after the last input."""
        return Listing(f"2: clr __zero_reg__\n{store(self.block.bytes)}")

    def added(self, low: str, high: str) -> Listing:
        """Return code that adds a product in two registers to a sum, or subtracts it."""
        place = f"+ {self.block.width} * \\\\output"
        upper = repeated(range(4, 2 + self.block.width), f"\\\\high {{0}} {place}, r25")
        return Listing(f"\\\\low 2 {place}, {low}\n\\\\high 3 {place}, {high}\n{upper}")

    @property
    def cycles(self) -> Cycles:
        """Cycles of each input."""
        added = straight(self.added("r0", "r1"))
        cycles = np.zeros((2, self.weights.shape[1]), np.int64)
        for line in self.lines:
            each = (multiple.cycles + added * len(multiple.outputs) for multiple in line.multiples)
            weighted = _ZERO_CYCLES, _INPUT_CYCLES + sum(each)
            cycles[:, line.feature] = PASS_CYCLES if line.passed else weighted
        return cycles

    @property
    def around(self) -> int:
        """Cycles besides those of inputs."""
        return straight(self.entry) + straight(self.leaving)

    @property
    def code_bytes(self) -> int:
        """Its flash."""
        size: int = self.entry.code_bytes + self.leaving.code_bytes
        for line in self.lines:
            piece = PASS_PIECE if line.passed else INPUT_PIECE
            made = (MULTIPLES[multiple.made].code_bytes for multiple in line.multiples)
            size += piece.code_bytes + sum(made)
        return size + self.added("r0", "r1").code_bytes * int(np.count_nonzero(self.weights))


def multiples_of(weights: NDArray[np.int8], largest: int) -> list[tuple[Multiple, ...]]:
    """Return the multiples of each input, at most `largest`, for weights (d, D).

    Outputs with weights of one magnitude share a product.
    """
    features = []
    for column in weights.T.tolist():
        before, multiples = 0, []
        outputs: dict[int, tuple[list[int], list[int]]] = {}
        for k, weight in enumerate(column):
            if weight:
                outputs.setdefault(abs(weight), ([], []))[weight < 0].append(k)
        for size, (plus, minus) in sorted(outputs.items()):
            made = _made_of(before, size, largest)
            multiples.append(Multiple(size, made, tuple(plus), tuple(minus)))
            before = size
        features.append(tuple(multiples))
    return features


def _made_of(before: int, size: int, largest: int) -> str:
    """Return how to make a multiple of the one before.

    One that fits a byte for any input needs one instruction to grow by the input, or to twice
    itself; others need two, or, like any multiple, an ldi and a mul.
    """
    if size == 1:
        return "itself"
    if size * largest <= BYTE_MAXIMUM:
        if size == 2:
            return "twice"
        of = {2 * before + 1: "doubled_and_one", before + 2: "two_more"}
        of |= {2 * before: "doubled", before + 1: "one_more"}
        return of.get(size, "product") if before > 1 else "product"
    of = {2 * before: "wide_doubled", before + 1: "wide_one_more"}
    return of.get(size, "product") if before * largest > BYTE_MAXIMUM else "product"
