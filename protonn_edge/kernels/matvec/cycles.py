"""Cycles of each loop that multiplies a matrix by bytes that are pushed.

The loops are those of ``templates/c/matvec``, counted by hand. Numbers are those of the AVR
instruction set for an ATmega328P: lpm 3; ld, st, lds, sts, mul, adiw, rjmp and a branch that is
taken 2; all others 1. Cycles of compiled code around the loops were measured on the emulator
(avr-gcc 5.4 at -O2), and are named accordingly.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Literal

import numpy as np
from numpy.typing import NDArray

KernelName = Literal["columns", "masked", "unrolled", "packed"]
KERNELS: tuple[KernelName, ...] = ("columns", "masked", "unrolled", "packed")

# Multiply and add, by the bytes of a sum: lpm, mulsu, add, adc; a sign and one more adc for each
# byte above the second.
MULTIPLY_ADD = {2: 7, 3: 9, 4: 10}

# Compiled code around the loops: per call that pushes, and per block of sums in it.
PUSH_CALL_BY_COMPILER = 56
PUSH_BLOCK_BY_COMPILER = 84
FRAME_BY_COMPILER = 10  # at most, of pointers on the stack, where sums leave no registers for them
FREE_REGISTERS_CYCLES = 14  # of a block whose sums do not use r18..r21
SPLIT_BY_COMPILER = 40  # of what is counted in a byte: the projection is called, not inlined
GROUPS_BY_COMPILER = 110
WAITING_BY_COMPILER, MEAN_WAITING_BY_COMPILER = 40, 30
BEGIN_BY_COMPILER = 20
BEGIN_WAITING_CYCLES = 2  # if inputs wait for the others of their group
BEGIN_BLOCK_CYCLES = 6  # if a block has a pointer to its next weights

# A register that a function saves for its caller, push and pop; and which these are.
SAVED_REGISTER_CYCLES = 4
SAVED_BY_CALLEE = range(2, 18)

# Inputs that are counted in a byte; where they are counted in two, what the upper one takes.
COUNTED_IN_A_BYTE = 255
UPPER_BYTE_CYCLES = 2

# Sums of 2 bytes fill r2..r21; where they are wider, r20 holds a product's sign.
_REGISTERS = {2: 20, 3: 18, 4: 16}

# Features whose code is entered and left together if weights are instructions.
GROUP = 8
GROUP_CYCLES = 3
PASS_CYCLES = 2  # over features without weights


@dataclass(frozen=True)
class Block:
    """Sums that are kept in registers at once.

    Attributes
    ----------
    number : int
        The number of the block, from 0.
    first : int
        The first output of the block.
    size : int
        The number of its outputs.
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
        """Cycles of loading and storing its sums."""
        return 4 * self.bytes + 6


@dataclass(frozen=True)
class FeatureCycles:
    """Cycles of each of D features if it is 0, and if it is not; each (D,), int64."""

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
    zero, other = np.sum(parts, axis=0)
    return FeatureCycles(zero, other)


_Cycles = NDArray[np.int64]  # (2, D): of features that are 0, and that are not


def _columns(weights: NDArray[np.int8], width: int, _: int) -> _Cycles:
    return _both(9, np.full(weights.shape[1], 7 + MULTIPLY_ADD[width] * len(weights)))


def _masked(weights: NDArray[np.int8], width: int, _: int) -> _Cycles:
    looking = 11 + 3 * -(-len(weights) // 8) + 3 * len(weights)
    return _both(14, looking + (MULTIPLY_ADD[width] - 1) * np.count_nonzero(weights, axis=0))


def _packed(weights: NDArray[np.int8], width: int, _: int) -> _Cycles:
    pairs, alone = divmod(len(weights), 2)
    cycles = 7 + width + (9 + 2 * width) * pairs + (5 + width) * alone
    return _both(9, np.full(weights.shape[1], cycles))


def unpacking_cycles(block: Block) -> int:
    """Return the cycles of a call for subtracting the offset of packed weights."""
    width, pairs = block.width, block.size // 2
    sixteen_times = 3 * width + width * (width - 1) // 2
    return 8 + 5 * width + 2 * sixteen_times * pairs + width * block.size


def _both(zero: int, other: NDArray[np.int64]) -> _Cycles:
    return np.stack([np.full(len(other), zero), other])


def _unrolled(weights: NDArray[np.int8], width: int, largest: int) -> _Cycles:
    cycles = np.zeros((2, weights.shape[1]), np.int64)
    for line in lines_of(weights, largest):
        each = (multiple.cycles + width * len(multiple.outputs) for multiple in line.multiples)
        cycles[:, line.feature] = PASS_CYCLES if line.passed else (5, 4 + sum(each))
    return cycles


_CYCLES = {"columns": _columns, "masked": _masked, "unrolled": _unrolled, "packed": _packed}


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
        To compute it from the previous one.
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
    """Return the multiples of each feature, at most `largest`, for weights (d, D).

    Outputs with weights of one magnitude share a product; `_made_of` has the cost of the next one.
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
            multiples.append(Multiple(size, tuple(plus), tuple(minus), *made))
            before = size
        features.append(tuple(multiples))
    return features


@dataclass(frozen=True)
class Line:
    """The code of a feature, or of adjacent ones without weights.

    Attributes
    ----------
    feature : int
        The first one.
    multiples : tuple of Multiple
        The multiples to add; none if features are skipped.
    passed : int
        Number of features skipped at once; 0 for a feature with weights.
    """

    feature: int
    multiples: tuple[Multiple, ...] = ()
    passed: int = 0


def lines_of(weights: NDArray[np.int8], largest: int) -> list[Line]:
    """Return the code of all features, with a new line at the beginning of each group."""
    lines: list[Line] = []
    for feature, multiples in enumerate(multiples_of(weights, largest)):
        if multiples:
            lines.append(Line(feature, multiples))
        elif feature % GROUP and lines[-1].passed:
            lines[-1] = replace(lines[-1], passed=lines[-1].passed + 1)
        else:
            lines.append(Line(feature, passed=1))
    return lines


def _made_of(before: int, size: int, largest: int) -> tuple[int, int]:
    """Return cycles and words of a multiple from the previous one, as in `matvec/unrolled.j2`.

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
    if kernel == "packed":
        width, pairs = blocks[0].width, d // 2
        unpacking = (14 + 8 * width) * len(blocks) + (16 * width - 2) * pairs
        return (pairs + d % 2) * D, moves + loops + unpacking
    if kernel == "masked":
        masks = sum(1 + -(-block.size // 8) for block in blocks)
        return nonzero + D * masks, moves + loops + 4 * d
    words = blocks[0].width * nonzero
    for block in blocks:
        for line in lines_of(weights[block.first : block.first + block.size], largest):
            words += 1 if line.passed else 3 + sum(each.words for each in line.multiples)
    return 0, moves + 2 * words + len(blocks) * (10 * -(-D // GROUP) + 120)


def blocks_of(outputs: int, width: int, together: int = 1) -> tuple[Block, ...]:
    """Split `outputs` into as few blocks as possible, of nearly equal size.

    A number of outputs, `together`, are kept in one block; it divides the maximum block size.
    """
    at_most = _REGISTERS[width] // width
    number = -(-outputs // at_most)
    groups = -(-outputs // together)
    bounds = [min(together * (groups * i // number), outputs) for i in range(number + 1)]
    return tuple(Block(i, low, high - low, width) for i, (low, high) in enumerate(pairwise(bounds)))
