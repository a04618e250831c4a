"""Cycles of the loops that compare a point with prototypes, and that let near ones vote.

The loops are those of ``templates/c/prototypes``, counted as in `stages.matvec.cycles`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from protonn_edge.kernels.matvec.kernels import SAVED_BY_CALLEE
from protonn_edge.kernels.matvec.loops import Block

MULTIPLY_ADD = {2: 7, 3: 9, 4: 10}

FINISH_BY_COMPILER = 50

# The votes, without the comparisons and the sums of labels: once, per vote of the list, and per
# block of the scores.
VOTES_CYCLES, ROUND_CYCLES, VOTE_BLOCK_CYCLES = 16, 13, 7

# Clearing the score of a class, by its bytes; and checking whether a near prototype is the nearest.
CLEAR_CYCLES = {2: 7, 4: 11}
NEAREST_CYCLES = 3

# A prototype whose end differs from that of the last one only in the upper byte.
ACCIDENT_CYCLES = 4


@dataclass(frozen=True)
class Step:
    """The comparison of one coordinate of a point with a prototype's.

    Attributes
    ----------
    register : int or None
        The register with the point's coordinate; None if it is in SRAM.
    overflows : bool
        Whether the difference may exceed a byte, and seem small without the rest.
    checked : bool
        Whether the loop leaves the prototype here if it is far.
    island : bool
        Whether a jump to the next prototype precedes it, for branches that do not reach that.
    far : {"1b", "3b", "3f"}
        The label to branch to: the next prototype, or a jump to it before or after.
    """

    register: int | None
    overflows: bool
    checked: bool
    island: bool = False
    far: str = "1b"

    @property
    def words(self) -> int:
        """Flash words of its code, without an island."""
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
        """Cycles if it is left here because the difference exceeds a byte."""
        return 2 * self.island + 6 + 2 * self._fetched + 2 * (self.far != "1b")

    @property
    def _fetched(self) -> bool:
        return self.register is None


@dataclass(frozen=True)
class Comparison:
    """The loop over the prototypes, and its cycles.

    Attributes
    ----------
    steps : tuple of Step
        One for each coordinate.
    next : int
        Cycles of continuing with the next prototype.
    listed : int
        Cycles of a near prototype after the last coordinate.
    start : int
        Cycles of the setup, or of continuing after a vote of the list.
    """

    steps: tuple[Step, ...]
    next: int
    listed: int
    start: int

    @property
    def left_after(self) -> NDArray[np.int64]:
        """Cycles (d,) of a prototype that is found far at each coordinate."""
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
        """Cycles of a prototype that is left at the first check."""
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
        """Cycles of a near prototype, without its vote."""
        return self.next + sum(step.passed for step in self.steps) + self.listed


# Registers for coordinates of the point. The others are loaded, in two cycles each.
_COORDINATE_REGISTERS = (*range(2, 18), 24, 25)

# The reach of branches in words, with a margin; the code before the first coordinate.
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
    """Return the registers of the caller that comparisons and votes use."""
    compared = {step.register for step in loop.steps if step.register is not None}
    voting = range(2, 2 + max(block.bytes for block in votes))
    return tuple(sorted((compared | {*voting}) & {*SAVED_BY_CALLEE}))


def vote_cycles(blocks: Sequence[Block]) -> tuple[int, int]:
    """Return the cycles of a vote, and those for each neighbour in it."""
    call = ROUND_CYCLES + sum(4 * block.bytes + VOTE_BLOCK_CYCLES for block in blocks)
    each = sum(
        9 + 2 * (block.first > 0) + MULTIPLY_ADD[block.width] * block.size for block in blocks
    )
    return call, each
