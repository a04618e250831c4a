"""What the assembly kernels cost: cycles of each loop as the templates write it, counted by hand.

Numbers are those of the AVR instruction set for an ATmega328P: lpm 3; ld, st, lds, sts, mul, adiw,
rjmp and a branch that is taken 2; all others 1. What the compiler makes around the loops was read
off the emulator (avr-gcc 5.4 at -O2) and has a name that says so.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from protonn_edge.stages.decision.rejection import Statistic

KernelName = Literal["columns", "masked", "unrolled"]
KERNELS: tuple[KernelName, ...] = ("columns", "masked", "unrolled")

# Multiply and add, by the bytes of a sum: lpm, mulsu, add, adc; a sign and one more adc for each
# byte above the second.
MULTIPLY_ADD = {2: 7, 3: 9, 4: 10}

# Around the loops, by the compiler: a call of pnn_push_many; a block of the projection in it.
PUSH_CALL_BY_COMPILER = 56
PUSH_BLOCK_BY_COMPILER = 84
SPLIT_BY_COMPILER = 40  # of what is counted in a byte: the projection is called, not inlined
GROUPS_BY_COMPILER = 110
WAITING_BY_COMPILER = 40
FINISH_BY_COMPILER = 50
BEGIN_BY_COMPILER = 20
BEGIN_BLOCK_CYCLES = 6  # where a block has a pointer to its next weights

# A register that a function saves for its caller: push and pop.
SAVED_REGISTER_CYCLES = 4

# The votes, besides the comparisons and the sums of labels: once; each time that the list votes;
# and a block of the scores.
VOTES_CYCLES, ROUND_CYCLES, VOTE_BLOCK_CYCLES = 16, 13, 7

# A class, by the bytes of its score: to clear it, and to find the largest, at least and at most.
CLEAR_CYCLES = {2: 7, 4: 11}
LARGEST_LEAST_CYCLES, LARGEST_CYCLES = {2: 12, 4: 18}, {2: 13, 4: 20}

# Of rejection, by the compiler; for each near prototype, and for each class by the
# bytes of a score; and flash.
LEAST_SCORE_BY_COMPILER, LEAST_RBF_BY_COMPILER, LEAST_MARGIN_BY_COMPILER = 10, 10, 15
NEAREST_CYCLES, SECOND_CYCLES = 3, {2: 3, 4: 5}
LEAST_SCORE_BYTES, LEAST_RBF_BYTES, LEAST_MARGIN_BYTES = 18, 26, 46

# A prototype whose end looks like that of the last one, until the upper byte is looked at.
ACCIDENT_CYCLES = 4


# Features whose code is entered and left together where weights are instructions.
GROUP = 8
GROUP_CYCLES = 3


@dataclass(frozen=True)
class Block:
    """Sums that are kept in registers at once.

    Attributes
    ----------
    number : int
        Of the block, from 0 on.
    first : int
        The first output of the block.
    size : int
        How many outputs it has.
    width : int
        Bytes of a sum.
    """

    number: int
    first: int
    size: int
    width: int

    @property
    def bytes(self) -> int:
        """Bytes of all its sums."""
        return self.size * self.width

    @property
    def moves(self) -> int:
        """Cycles that its sums take to be loaded and stored."""
        return 4 * self.bytes + 6


@dataclass(frozen=True)
class FeatureCycles:
    """Cycles of each of D features where it is 0, and where it is not; each (D,), int64."""

    zero: NDArray[np.int64]
    other: NDArray[np.int64]


def feature_cycles(
    kernel: KernelName, weights: NDArray[np.int8], blocks: Sequence[Block], largest: int
) -> FeatureCycles:
    """Return the cycles of the projection by weights (d, D), one feature after the other.

    Features are at most `largest`.
    """
    parts = [
        _CYCLES[kernel](weights[block.first : block.first + block.size], block.width, largest)
        for block in blocks
    ]
    zero = np.full(weights.shape[1], sum(part[0] for part in parts), np.int64)
    return FeatureCycles(zero, np.sum([part[1] for part in parts], axis=0))


def _columns(weights: NDArray[np.int8], width: int, _: int) -> tuple[int, NDArray[np.int64]]:
    return 9, np.full(weights.shape[1], 7 + MULTIPLY_ADD[width] * len(weights), np.int64)


def _masked(weights: NDArray[np.int8], width: int, _: int) -> tuple[int, NDArray[np.int64]]:
    looking = 11 + 3 * -(-len(weights) // 8) + 3 * len(weights)
    return 14, looking + (MULTIPLY_ADD[width] - 1) * np.count_nonzero(weights, axis=0)


def _unrolled(weights: NDArray[np.int8], width: int, largest: int) -> tuple[int, NDArray[np.int64]]:
    cycles = [
        sum(multiple.cycles + width * len(multiple.outputs) for multiple in multiples)
        for multiples in multiples_of(weights, largest)
    ]
    return 5, 4 + np.array(cycles, np.int64)


_CYCLES = {"columns": _columns, "masked": _masked, "unrolled": _unrolled}


@dataclass(frozen=True)
class Multiple:
    """A multiple of a feature, and the outputs that it is added to and taken from.

    Attributes
    ----------
    size : int
        1..128.
    plus, minus : tuple of int
        The outputs.
    cycles, words : int
        To make it of the one before.
    """

    size: int
    plus: tuple[int, ...]
    minus: tuple[int, ...]
    cycles: int
    words: int

    @property
    def outputs(self) -> tuple[int, ...]:
        """All outputs."""
        return self.plus + self.minus


def multiples_of(weights: NDArray[np.int8], largest: int) -> list[tuple[Multiple, ...]]:
    """Return the multiples of each feature, at most `largest`, that weights (d, D) ask for.

    Outputs whose weights are of one size share a product; what the next size takes, see `_made_of`.
    """
    features = []
    for column in weights.T.tolist():
        before, multiples = 0, []
        for size in sorted({abs(weight) for weight in column} - {0}):
            plus = tuple(k for k, weight in enumerate(column) if weight == size)
            minus = tuple(k for k, weight in enumerate(column) if weight == -size)
            multiples.append(Multiple(size, plus, minus, *_made_of(before, size, largest)))
            before = size
        features.append(tuple(multiples))
    return features


def _made_of(before: int, size: int, largest: int) -> tuple[int, int]:
    """Return the cycles and words of a multiple, given the one before, as `avr_projection.j2` does.

    A product that fits a byte for any feature needs one instruction to grow by the feature, or to
    twice itself; others need two, or, like any multiple, an ldi and a mul.
    """
    if size == 1:
        return 0, 0
    if size * largest <= _BYTE_MAXIMUM:
        if size == 2:
            return 2, 2
        if before > 1 and size in (before + 1, 2 * before):
            return 1, 1
        if before > 1 and size in (before + 2, 2 * before + 1):
            return 2, 2
    elif before * largest > _BYTE_MAXIMUM and size in (before + 1, 2 * before):
        return 2, 2
    return 3, 2


_BYTE_MAXIMUM = 255


def projection_bytes(
    kernel: KernelName, weights: NDArray[np.int8], blocks: Sequence[Block], largest: int
) -> tuple[int, int]:
    """Return the flash of the weights, and that of the code that reads them."""
    d, D = weights.shape
    nonzero = int(np.count_nonzero(weights))
    moves = sum(4 * block.bytes + 12 for block in blocks)
    loops = sum(60 + (2 * block.width + 4) * block.size for block in blocks)
    if kernel == "columns":
        return d * D, moves + loops
    if kernel == "masked":
        masks = sum(1 + -(-block.size // 8) for block in blocks)
        return nonzero + D * masks, moves + loops + 4 * d
    words = blocks[0].width * nonzero
    for block in blocks:
        part = weights[block.first : block.first + block.size]
        words += sum(each.words for each in chain(*multiples_of(part, largest)))
    return 0, moves + 2 * words + len(blocks) * (6 * D + 10 * -(-D // GROUP) + 120)


@dataclass(frozen=True)
class Step:
    """How one coordinate of a point is compared with a prototype's.

    Attributes
    ----------
    register : int or None
        The number of the register that holds the point's coordinate; None if it is in SRAM.
    overflows : bool
        Whether the difference may need more than a byte and look small without.
    checked : bool
        Whether the prototype is left here if it is far by now.
    island : bool
        Whether a jump to the next prototype stands in front, for branches that do not reach it.
    far : {"1b", "3b", "3f"}
        The label to branch to: the next prototype, or a jump to it before or behind.
    """

    register: int | None
    overflows: bool
    checked: bool
    island: bool = False
    far: str = "1b"

    @property
    def words(self) -> int:
        """Flash words of its code, but for an island."""
        return 5 + 2 * (self.register is None) + self.overflows + self.checked

    @property
    def passed(self) -> int:
        """Cycles if the prototype is not left here."""
        return 2 * self.island + 9 - (not self.checked) + self.overflows + 2 * self._fetched

    @property
    def left(self) -> int:
        """Cycles if it is left here."""
        return self.passed + 1 + 2 * (self.far != "1b")

    @property
    def overflowed(self) -> int:
        """Cycles if it is left here because the difference needs more than a byte."""
        return 2 * self.island + 6 + 2 * self._fetched + 2 * (self.far != "1b")

    @property
    def _fetched(self) -> bool:
        return self.register is None


@dataclass(frozen=True)
class Comparison:
    """The loop over the prototypes, and what it takes.

    Attributes
    ----------
    steps : tuple of Step
        One for each coordinate.
    next : int
        Cycles to go on to the next prototype.
    listed : int
        Cycles for a prototype that is near, from the last coordinate on.
    start : int
        Cycles to begin, or to go on after the list has voted.
    """

    steps: tuple[Step, ...]
    next: int
    listed: int
    start: int

    @property
    def left_after(self) -> NDArray[np.int64]:
        """Cycles (d,) of a prototype that is far from each coordinate on."""
        cycles, passed, unchecked = [], self.next, 0
        for step in self.steps:
            unchecked += 1
            if step.checked:
                cycles += [passed + step.left] * unchecked
                unchecked = 0
            passed += step.passed
        return np.array(cycles, np.int64)

    @property
    def least(self) -> int:
        """Cycles of a prototype that is left at the first coordinate that may tell."""
        passed = self.next
        for step in self.steps:
            if step.overflows:
                return passed + step.overflowed
            if step.checked:
                return passed + step.left
            passed += step.passed
        return passed

    @property
    def near(self) -> int:
        """Cycles of a prototype that is near, but for its vote."""
        return self.next + sum(step.passed for step in self.steps) + self.listed


# Registers that hold coordinates of the point. The rest is fetched, at two cycles each.
_COORDINATE_REGISTERS = (*range(2, 18), 24, 25)

# How far branches reach, in words, with some left over; the code in front of the first coordinate.
_REACH = 60
_NEXT_WORDS = 5


def comparison(
    overflows: Sequence[bool], checked: Sequence[bool], distance_shift: int
) -> Comparison:
    """Return the loop for coordinates whose differences may overflow a byte, and those checked."""
    registers = (*_COORDINATE_REGISTERS, *([None] * len(overflows)))
    steps = [
        Step(*each) for each in zip(registers[: len(overflows)], overflows, checked, strict=True)
    ]
    placed = tuple(_with_islands(steps))
    in_registers = sum(step.register is not None for step in steps)
    distant = placed[-1].far != "1b"
    return Comparison(
        steps=placed,
        next=5,
        listed=distant + 18 + SHIFT_CYCLES[distance_shift],
        start=2 * in_registers + 5,
    )


# To the byte that begins at bit 0..6 of two.
SHIFT_CYCLES = (0, 2, 4, 6, 5, 6, 4)


def _with_islands(steps: Sequence[Step]) -> Iterator[Step]:
    """Yield the steps with the labels that their branches reach."""
    place, island = _NEXT_WORDS, -_REACH - 1
    waiting: int | None = None  # where the first branch is that needs an island behind it
    for step in steps:
        needs_island = waiting is not None and place + step.words + 2 - waiting > _REACH
        if needs_island:
            island, waiting, place = place + 1, None, place + 2
        end = place + step.words
        far = "1b" if end <= _REACH else "3b" if end - island <= _REACH else "3f"
        if far == "3f" and waiting is None:
            waiting = place
        yield replace(step, island=needs_island, far=far)
        place = end


def saved_registers(loop: Comparison, votes: Sequence[Block]) -> tuple[int, ...]:
    """Return which registers of the caller comparisons and votes use."""
    compared = {step.register for step in loop.steps if step.register is not None}
    voting = range(2, 2 + max(block.bytes for block in votes))
    return tuple(sorted((compared | {*voting}) & {*_SAVED_BY_CALLEE}))


_SAVED_BY_CALLEE = range(2, 18)


def vote_cycles(blocks: Sequence[Block]) -> tuple[int, int]:
    """Return the cycles of a vote, and those for each neighbour in it."""
    call = ROUND_CYCLES + sum(4 * block.bytes + VOTE_BLOCK_CYCLES for block in blocks)
    each = sum(
        9 + 2 * (block.first > 0) + MULTIPLY_ADD[block.width] * block.size for block in blocks
    )
    return call, each


def class_cycles(score_bytes: int) -> tuple[int, int]:
    """Return the least and the most cycles of a class: its score is cleared, and looked at."""
    clear = CLEAR_CYCLES[score_bytes]
    return clear + LARGEST_LEAST_CYCLES[score_bytes], clear + LARGEST_CYCLES[score_bytes]


# What requantizing may take less than `requantize_cycles`: in all, a coordinate that is limited.
REQUANTIZE_SPREAD, CLAMPING_SPREAD = 5, 2


def requantize_cycles(outputs: int, dropped_bytes: int, multiplier: int, clamps: bool) -> int:
    """Return the cycles of bringing the sums to the scale of the prototypes, at most."""
    product = 10 if multiplier < 256 else 17
    return 12 + outputs * (21 + 2 * dropped_bytes + product + 13 * clamps)


def rejection_cycles(by: Sequence[Statistic], classes: int, score_bytes: int, near: float) -> float:
    """Return the cycles of rejection with so many near prototypes, at most."""
    cycles = 0.0
    if "score" in by:
        cycles += LEAST_SCORE_BY_COMPILER
    if "distance" in by:
        cycles += LEAST_RBF_BY_COMPILER + NEAREST_CYCLES * near
    if "margin" in by:
        cycles += LEAST_MARGIN_BY_COMPILER + SECOND_CYCLES[score_bytes] * classes
    return cycles


def rejection_bytes(by: Sequence[Statistic]) -> int:
    """Return the flash of the same, about."""
    each = {
        "score": LEAST_SCORE_BYTES,
        "distance": LEAST_RBF_BYTES,
        "margin": LEAST_MARGIN_BYTES,
    }
    return sum(each[name] for name in by)
