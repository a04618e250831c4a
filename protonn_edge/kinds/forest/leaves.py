"""What leaves do in trees that are instructions: they add values to scores.

If each tree adds to one score, two registers have the score of its class. If leaves vote for few
classes, a register counts the votes of each class; for many, a leaf loads its class, and the end
of a tree adds to the score. If leaves add to several of few scores, all scores are in registers.
Otherwise, or in less flash, a leaf points to a list of what it adds, and a loop at the end of a
tree adds it.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np

from protonn_edge.codegen.kernels.listing import Facts, Passed
from protonn_edge.kinds.forest.layout import SCRATCH
from protonn_edge.kinds.forest.table import ForestTable
from protonn_edge.model.integer_stage import IntArray

_CLASS, _VALUE = 23, 25  # registers
_SCORE = 22  # the lower of two registers
_STORED = (f"st   X+, r{_SCORE}", f"st   X+, r{_SCORE + 1}")
_FIRST = 2  # the first register of counts, sums or the address of scores
# limits of classes, and of votes for one, that registers can count
_MOST_COUNTED, _MOST_VOTES = 12, 255
_MOST_SUMMED = 10  # sums of two registers
_MOST_CLASSES = 128
_MANY_LEAVES = 32  # of a tree, of which some have the same values
_BYTE, _WORD = 0xFF, 0xFFFF


@dataclass(frozen=True, eq=False)
class LeafCode(ABC):
    """The instructions of leaves."""

    table: ForestTable
    moves: ClassVar[bool] = False  # whether leaves change Z

    @property
    def kept(self) -> Sequence[int]:
        """The registers for inputs."""
        return range(16, _CLASS)

    @property
    def pairs(self) -> Sequence[int]:
        """The lower registers of pairs for addresses of inputs."""
        return range(14, 1, -2)

    @cached_property
    def content(self) -> bytes:
        """The lists in flash; none."""
        return b""

    @property
    def facts(self) -> Facts:
        """How often loops are passed; there are none."""
        return {}

    @cached_property
    def nodes(self) -> IntArray:
        """The node of each leaf."""
        return np.flatnonzero(~self.table.trees.inner)

    @cached_property
    def tree_of(self) -> IntArray:
        """The tree of each leaf."""
        return np.searchsorted(self.table.trees.roots, self.nodes, side="right") - 1

    def begin(self) -> Iterator[str]:
        """Yield the setup of scores."""
        yield from _address(26)
        for byte in self.table.bias.astype("<i2").tobytes():
            if byte:
                yield f"ldi  r{SCRATCH}, {byte}"
            yield f"st   X+, r{SCRATCH if byte else 1}"

    @abstractmethod
    def action(self, leaf: int) -> Iterator[str]:
        """Yield what a leaf does."""

    def at_end(self, _tree: int) -> Iterator[str]:
        """Yield the instructions after the leaves of a tree; there are none."""
        yield from ()

    def finish(self) -> Iterator[str]:
        """Yield the instructions after the trees; there are none."""
        yield from ()


@dataclass(frozen=True, eq=False)
class ClassByClassLeaves(LeafCode):
    """Trees are in the order of their classes, and the score of the present one is in registers.

    A leaf adds its value. In large trees with values of one byte, from the least one on, it loads
    this byte, which more leaves share, and the end of the tree adds it; the initial score has the
    least value.
    """

    @property
    def kept(self) -> Sequence[int]:
        """The registers for inputs."""
        return [*range(16, _SCORE), *([] if any(self._loads) else [_VALUE])]

    def begin(self) -> Iterator[str]:
        """Yield the initial score of the first class with trees, and those before it."""
        yield from (*_address(26), *self._from(0, self._class_of(0)))

    def action(self, leaf: int) -> Iterator[str]:
        """Yield the addition of a leaf's value, or its byte."""
        tree = self.tree_of[leaf]
        if self._loads[tree]:
            yield f"ldi  r{_VALUE}, {self.table.values[leaf] - self._least[tree]}"
            return
        low, high = (-int(self.table.values[leaf]) & _WORD).to_bytes(2, "little")
        yield from (f"subi r{_SCORE}, {low}", f"sbci r{_SCORE + 1}, {high}")

    def at_end(self, tree: int) -> Iterator[str]:
        """Yield the end of a class behind its last tree."""
        if self._loads[tree]:
            yield from (f"add  r{_SCORE}, r{_VALUE}", f"adc  r{_SCORE + 1}, r1")
        own, following = self._class_of(tree), self._class_of(tree + 1)
        if following != own:
            yield from (*_STORED, *self._from(own + 1, following))

    @cached_property
    def _least(self) -> IntArray:
        """The least value in each tree, (T,)."""
        least: IntArray = np.minimum.reduceat(self.table.values, self.table.trees.leaf_starts)
        return least

    @cached_property
    def _loads(self) -> list[bool]:
        """Whether leaves of a tree load their bytes."""
        values, starts = self.table.values, self.table.trees.leaf_starts
        spans = np.maximum.reduceat(values, starts) - self._least
        many = np.diff(starts, append=len(values)) >= _MANY_LEAVES
        return [*map(bool, many & (spans <= _BYTE))]

    @cached_property
    def _begun(self) -> IntArray:
        """What the initial scores have besides, (L,)."""
        classes = [self._class_of(tree) for tree in range(len(self._loads))]
        begun = np.zeros(len(self.table.bias), np.int64)
        np.add.at(begun, classes, self._least * self._loads)
        return begun

    def _class_of(self, tree: int) -> int:
        """Return the class of a tree, or the number of classes behind the last one."""
        classes = self.table.classes
        assert classes is not None
        return int(classes[tree]) if tree < len(classes) else len(self.table.bias)

    def _from(self, first: int, last: int) -> Iterator[str]:
        """Yield the initial scores of classes, of which only the last one has trees, if any."""
        for label in range(first, min(last + 1, len(self.table.bias))):
            start = int(self.table.bias[label] + self._begun[label])
            low, high = (start & _WORD).to_bytes(2, "little")
            yield from (f"ldi  r{_SCORE}, {low}", f"ldi  r{_SCORE + 1}, {high}")
            yield from _STORED if label < last else ()


@dataclass(frozen=True, eq=False)
class MarkedLeaves(LeafCode):
    """Leaves vote: each loads its class, whose score the end of a tree adds to."""

    @cached_property
    def classes(self) -> IntArray:
        """The class of each leaf."""
        classes: IntArray = self.table.leaves.argmax(axis=1)
        return classes

    def action(self, leaf: int) -> Iterator[str]:
        """Yield what a leaf does."""
        yield f"ldi  r{_CLASS}, {2 * self.classes[leaf]} ; @class {self.classes[leaf]}"

    def at_end(self, _tree: int) -> Iterator[str]:
        """Yield the addition to a score at the end of a tree."""
        yield from (*_address(26), f"add  r26, r{_CLASS}", "adc  r27, r1")
        yield from (f"ldi  r{_VALUE}, {self.table.vote}", "ld   r0, X", f"add  r0, r{_VALUE}")
        yield from ("st   X+, r0", "ld   r0, X", "adc  r0, r1", "st   X, r0")


@dataclass(frozen=True, eq=False)
class VotingLeaves(MarkedLeaves):
    """Registers count the votes for each class."""

    @property
    def kept(self) -> Sequence[int]:
        """The registers for inputs."""
        return [*range(16, SCRATCH), _VALUE, 26, 27]

    @property
    def pairs(self) -> Sequence[int]:
        """The lower registers of pairs for addresses of inputs."""
        return [0, *range(14, _FIRST + len(self.table.bias) - 1, -2)]

    def begin(self) -> Iterator[str]:
        """Yield the setup of counts."""
        yield from (f"clr  r{_FIRST + label}" for label in range(len(self.table.bias)))

    def action(self, leaf: int) -> Iterator[str]:
        """Yield the count of a vote."""
        yield f"inc  r{_FIRST + self.classes[leaf]} ; @class {self.classes[leaf]}"

    def at_end(self, _tree: int) -> Iterator[str]:
        """Yield nothing."""
        yield from ()

    def finish(self) -> Iterator[str]:
        """Yield the scores of the counts."""
        yield from _address(30)
        yield f"ldi  r{SCRATCH}, {self.table.vote}"
        for label, start in enumerate(self.table.bias.tolist()):
            yield f"mul  r{_FIRST + label}, r{SCRATCH}"
            if start:
                low, high = start.to_bytes(2, "little", signed=True)
                yield from (f"ldi  r26, {low}", f"ldi  r27, {high}")
                yield from ("add  r0, r26", "adc  r1, r27")
            yield from ("st   Z+, r0", "st   Z+, r1")
        yield "clr  r1"


@dataclass(frozen=True, eq=False)
class SummedLeaves(LeafCode):
    """All scores are in registers, to which a leaf adds what is not 0."""

    @property
    def kept(self) -> Sequence[int]:
        """The registers for inputs."""
        first = max(16, _FIRST + 2 * len(self.table.bias))
        return [*range(first, SCRATCH), 26, 27]

    @property
    def pairs(self) -> Sequence[int]:
        """The lower registers of pairs for addresses of inputs."""
        return range(14, _FIRST + 2 * len(self.table.bias) - 1, -2)

    def begin(self) -> Iterator[str]:
        """Yield the initial scores."""
        for place, byte in enumerate(self.table.bias.astype("<i2").tobytes(), _FIRST):
            if byte:
                yield from (f"ldi  r{SCRATCH}, {byte}", f"mov  r{place}, r{SCRATCH}")
            else:
                yield f"clr  r{place}"

    def action(self, leaf: int) -> Iterator[str]:
        """Yield the additions of a leaf, equal values one after the other."""
        values, loaded = self.table.leaves[leaf].astype(int).tolist(), 0
        if not any(values):
            yield "mov  r0, r0 ; adds nothing: leaves are told apart by what they do"
        for label in sorted(np.flatnonzero(values), key=lambda label: abs(values[label])):
            value, low = values[label], _FIRST + 2 * label
            if abs(value) != loaded:
                loaded = abs(value)
                yield f"ldi  r{_VALUE}, {loaded}"
            plain, carrying = ("add", "adc") if value > 0 else ("sub", "sbc")
            yield from (f"{plain}  r{low}, r{_VALUE}", f"{carrying}  r{low + 1}, r1")

    def finish(self) -> Iterator[str]:
        """Yield the scores."""
        yield from _address(30)
        sums = range(_FIRST, _FIRST + 2 * len(self.table.bias))
        yield from (f"st   Z+, r{place}" for place in sums)


@dataclass(frozen=True, eq=False)
class ListedLeaves(LeafCode):
    """A leaf points to a list: how many scores it adds to, and offset and value for each."""

    moves: ClassVar[bool] = True

    @property
    def pairs(self) -> Sequence[int]:
        """The lower registers of pairs for addresses of inputs."""
        return range(14, _FIRST, -2)

    @cached_property
    def _offsets(self) -> dict[bytes, int]:
        """The place of each list in flash, which equal leaves share."""
        offsets, end = dict[bytes, int](), 0
        for leaf in range(len(self.nodes)):
            each = self._list(leaf)
            if each not in offsets:
                offsets[each], end = end, end + len(each)
        return offsets

    def _list(self, leaf: int) -> bytes:
        values = self.table.leaves[leaf].astype(int).tolist()
        labels = np.flatnonzero(values).tolist() or [0]
        pairs = (bytes([2 * label, values[label] & _BYTE]) for label in labels)
        return bytes([len(labels)]) + b"".join(pairs)

    @cached_property
    def content(self) -> bytes:
        """The lists in flash."""
        return b"".join(self._offsets)

    def begin(self) -> Iterator[str]:
        """Yield the setup of scores, and of their address."""
        yield from super().begin()
        yield from (*_address(SCRATCH), f"movw r{_FIRST}, r{SCRATCH}")

    def action(self, leaf: int) -> Iterator[str]:
        """Yield the address of the list."""
        yield from _address(30, self._offsets[self._list(leaf)], of="leaves")

    def at_end(self, tree: int) -> Iterator[str]:
        """Yield the loop that adds a list."""
        yield from (f"lpm  r{_CLASS}, Z+", f"pair_{tree}:", f"lpm  r{_VALUE}, Z+")
        yield from (f"lpm  r{SCRATCH}, Z+", f"movw r26, r{_FIRST}")
        yield from (f"add  r26, r{_VALUE}", "adc  r27, r1")
        yield from ("ld   r0, X", f"add  r0, r{SCRATCH}", "st   X+, r0")
        if self._signed:
            yield from ("ld   r0, X", "adc  r0, r1")
            yield from (f"sbrc r{SCRATCH}, 7", "dec  r0 ; its sign", "st   X, r0")
        else:
            yield from (f"brcc added_{tree}", "ld   r0, X", "inc  r0", "st   X, r0")
            yield f"added_{tree}:"
        yield from (f"dec  r{_CLASS}", f"brne pair_{tree}")

    @property
    def _signed(self) -> bool:
        return int(self.table.leaves.min()) < 0

    @property
    def facts(self) -> Facts:
        """How many scores the leaves of each tree add to."""
        starts = self.table.trees.leaf_starts
        most, least = (each.reduceat(self.table.pairs, starts) for each in (np.maximum, np.minimum))
        ends = enumerate(zip(most.tolist(), least.tolist(), strict=True))
        return {f"pair_{tree}": Passed(*of_tree) for tree, of_tree in ends}


def leaf_codes(table: ForestTable) -> Iterator[LeafCode]:
    """Yield the ways in which leaves can add, the fastest first."""
    classes, trees = len(table.bias), len(table.trees.roots)
    if table.classes is not None:
        yield ClassByClassLeaves(table)
    elif classes > _MOST_CLASSES:
        return
    elif table.vote:
        few = classes <= _MOST_COUNTED and trees <= _MOST_VOTES
        yield VotingLeaves(table) if few else MarkedLeaves(table)
    else:
        if classes <= _MOST_SUMMED:
            yield SummedLeaves(table)
        yield ListedLeaves(table)


def _address(register: int, ahead: int = 0, of: str = "scores") -> tuple[str, str]:
    """Return code that points two registers to scores or lists, or `ahead` bytes further."""
    place = f"%[{of}]+{ahead}"
    return f"ldi  r{register}, lo8({place})", f"ldi  r{register + 1}, hi8({place})"
