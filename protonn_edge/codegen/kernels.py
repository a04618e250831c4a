"""What the assembly kernels cost: cycles of each loop as the templates write it, counted by hand.

Numbers are those of the AVR instruction set for an ATmega328P: lpm 3; ld, st, lds, sts, mul, adiw,
rjmp and a branch that is taken 2; all others 1. What the compiler makes around the loops was read
off the emulator (avr-gcc 5.4 at -O2) and has a name that says so.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

KernelName = Literal["columns", "masked", "unrolled"]
KERNELS: tuple[KernelName, ...] = ("columns", "masked", "unrolled")

# Multiply and add, by the bytes of a sum: lpm, mulsu, add, adc; a sign and one more adc for each
# byte above the second. With the weight in an ldi it is 2 cycles less, and no sign is needed.
MULTIPLY_ADD = {2: 7, 3: 9, 4: 10}
_MULTIPLY_ADD_CODE = {2: 5, 3: 6}
_ADD_CODE = {2: 2, 3: 3}

# Around the loops, by the compiler: a call of pnn_push_many; a block of the projection in it.
PUSH_CALL_BY_COMPILER = 70
PUSH_BLOCK_BY_COMPILER = 78
GROUPS_BY_COMPILER = 110
WAITING_BY_COMPILER = 40
FINISH_BY_COMPILER = 150
COMPARE_BY_COMPILER = 40
VOTE_BY_COMPILER = 24
BEGIN_BY_COMPILER = 40
SCORE_BY_COMPILER = 17


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
        return 4 * self.bytes


@dataclass(frozen=True)
class FeatureCycles:
    """Cycles of each of D features where it is 0, and where it is not; each (D,), int64."""

    zero: NDArray[np.int64]
    other: NDArray[np.int64]


def feature_cycles(
    kernel: KernelName, weights: NDArray[np.int8], blocks: Sequence[Block]
) -> FeatureCycles:
    """Return the cycles of the projection by weights (d, D), one feature after the other."""
    parts = [
        _CYCLES[kernel](weights[block.first : block.first + block.size], block.width)
        for block in blocks
    ]
    zero = np.full(weights.shape[1], sum(part[0] for part in parts), np.int64)
    return FeatureCycles(zero, np.sum([part[1] for part in parts], axis=0))


def _columns(weights: NDArray[np.int8], width: int) -> tuple[int, NDArray[np.int64]]:
    return 10, np.full(weights.shape[1], 7 + MULTIPLY_ADD[width] * len(weights), np.int64)


def _masked(weights: NDArray[np.int8], width: int) -> tuple[int, NDArray[np.int64]]:
    looking = 12 + 3 * -(-len(weights) // 8) + 3 * len(weights)
    return 14, looking + (MULTIPLY_ADD[width] - 1) * np.count_nonzero(weights, axis=0)


def _unrolled(weights: NDArray[np.int8], width: int) -> tuple[int, NDArray[np.int64]]:
    magnitudes = np.abs(weights.astype(np.int64))
    products, sums = (magnitudes > 1).sum(axis=0), (magnitudes == 1).sum(axis=0)
    return 5, 4 + _MULTIPLY_ADD_CODE[width] * products + _ADD_CODE[width] * sums


_CYCLES = {"columns": _columns, "masked": _masked, "unrolled": _unrolled}


def projection_bytes(
    kernel: KernelName, weights: NDArray[np.int8], blocks: Sequence[Block]
) -> tuple[int, int]:
    """Return the flash of the weights, and that of the code that reads them."""
    d, D = weights.shape
    nonzero = int(np.count_nonzero(weights))
    moves = sum(8 * block.bytes for block in blocks)  # a two-word instruction each way
    loops = sum(60 + (2 * block.width + 4) * block.size for block in blocks)
    if kernel == "columns":
        return d * D, moves + loops
    if kernel == "masked":
        masks = sum(1 + -(-block.size // 8) for block in blocks)
        return nonzero + D * masks, moves + loops + 4 * d
    ones = int((np.abs(weights.astype(np.int64)) == 1).sum())
    width = blocks[0].width
    products = (4 + 2 * width) * (nonzero - ones) + 2 * width * ones
    return 0, moves + products + len(blocks) * (6 * D + 10 * -(-D // GROUP) + 120)


@dataclass(frozen=True)
class Comparison:
    """Cycles of the loop over the prototypes.

    Attributes
    ----------
    next : int
        To go on to the next prototype.
    passed : tuple of int
        For each coordinate that leaves the prototype near; `left`, the same, where it shows that
        it is far by its square.
    listed : int
        For a prototype that is near.
    start : int
        To begin, or to go on after the list was full.
    """

    next: int
    passed: tuple[int, ...]
    left: tuple[int, ...]
    listed: int
    start: int


def comparison(overflows: Sequence[bool], head: int, distance_shift: int) -> Comparison:
    """Return the cycles for coordinates whose differences may overflow a byte, or not."""
    d = len(overflows)
    tail = d > head
    passed, left = [], []
    for k, overflow in enumerate(overflows[:head]):
        last = k == d - 1
        square = 9 + overflow
        passed.append(square + last)
        left.append(square + (2 if last else 1 if k < _FAR_BEHIND else 3))
    for k in range(head, d):
        passed.append(15 + (k == d - 1) + 3 * (k == head))
        left.append(15 + 3 * (k == head))
    shifts = 2 * (distance_shift if distance_shift <= 3 else 8 - distance_shift)
    return Comparison(
        next=6,
        passed=tuple(passed),
        left=tuple(left),
        listed=20 + shifts + 2 * tail,
        start=2 * head + COMPARE_BY_COMPILER,
    )


# Branches from the coordinates before this one reach back to where the next prototype begins.
_FAR_BEHIND = 8


def vote_cycles(blocks: Sequence[Block]) -> tuple[int, int]:
    """Return the cycles of a vote, and those for each neighbour in it."""
    call = sum(VOTE_BY_COMPILER + block.moves for block in blocks)
    each = sum(
        9 + 2 * (block.first > 0) + MULTIPLY_ADD[block.width] * block.size for block in blocks
    )
    return call, each


def rescaling_cycles(outputs: int, dropped_bytes: int, multiplier: int, clamps: bool) -> int:
    """Return the cycles of bringing the sums to the scale of the prototypes, at most."""
    product = 10 if multiplier < 256 else 17
    return 14 + outputs * (29 + 2 * dropped_bytes + product + 20 * clamps)
