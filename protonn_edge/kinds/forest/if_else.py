"""Trees as instructions: each test is a comparison with a constant, followed by a branch.

The smaller of two subtrees comes first, so that few branches are far. Leaves share code: a branch
goes to the nearest place in its tree with the same action.

If leaves vote for few classes, a register counts the votes of each class. Otherwise leaves load
value and class into registers, and the end of a tree adds to the score.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from protonn_edge.chain.integer_stage import IntArray
from protonn_edge.kernels.listing import Listing
from protonn_edge.kinds.forest.integers import ForestTable
from protonn_edge.kinds.forest.layout import SCRATCH, Line, Reading, TreeLines

_CLASS, _VALUE = 23, 25  # registers
_FIRST_COUNT = 2
# limits of classes, and of votes for one, that registers can count
_MOST_COUNTED, _MOST_VOTES = 12, 255
_MOST_CLASSES = 128
_MOST_NODES = 8_000  # with more, instructions exceed the flash of any chip
_LARGEST_BYTE = 255
_KEPT = {1, 28, 29, 30, 31}  # registers that the code restores, and Z


def can_be_instructions(table: ForestTable) -> bool:
    """Return whether the trees can be instructions, because each leaf adds to only one score."""
    return (
        int(table.pairs.max()) == 1
        and len(table.bias) <= _MOST_CLASSES
        and len(table.thresholds) <= _MOST_NODES
        and int(table.thresholds.max(initial=0)) < _LARGEST_BYTE
    )


@dataclass(frozen=True, eq=False)
class Nodes:
    """The action of each node of a forest."""

    table: ForestTable

    @cached_property
    def classes(self) -> IntArray:
        """The class of each leaf."""
        classes: IntArray = np.abs(self.table.leaves.astype(np.int64)).argmax(axis=1)
        return classes

    @cached_property
    def values(self) -> IntArray:
        """The value that each leaf adds to the score of its class."""
        leaves = self.table.leaves.astype(np.int64)
        return leaves[np.arange(len(leaves)), self.classes]

    @cached_property
    def vote(self) -> int:
        """The value that every leaf adds; 0 if they differ."""
        values = self.values
        return int(values[0]) if values.min() == values.max() > 0 else 0

    @cached_property
    def counts(self) -> bool:
        """Whether registers count votes."""
        few = len(self.table.bias) <= _MOST_COUNTED and len(self.table.trees.roots) <= _MOST_VOTES
        return self.vote > 0 and few

    @cached_property
    def only_class(self) -> list[int | None]:
        """The class of each tree with leaves of one class but different values."""
        if self.vote:
            return [None] * len(self.table.trees.roots)
        starts = self.table.trees.leaf_starts
        ends = (each.reduceat(self.classes, starts) for each in (np.minimum, np.maximum))
        pairs = zip(*(each.tolist() for each in ends), strict=True)
        return [least if least == most else None for least, most in pairs]

    @cached_property
    def leaves(self) -> IntArray:
        """The node of each leaf."""
        return np.flatnonzero(~self.table.trees.inner)

    @cached_property
    def tree_of(self) -> IntArray:
        """The tree of each leaf."""
        return np.searchsorted(self.table.trees.roots, self.leaves, side="right") - 1

    @cached_property
    def does(self) -> list[str]:
        """The action of the leaf of a node, (N,); none at inner nodes."""
        does = [""] * len(self.table.trees.features)
        leaves = zip(self.leaves, self.tree_of, self.classes, self.values, strict=True)
        for node, tree, label, value in leaves:
            does[node] = "\n".join(self._leaf(int(label), int(value), self.only_class[tree]))
        return does

    def _leaf(self, label: int, value: int, only: int | None) -> Iterator[str]:
        if self.counts:
            yield f"inc  r{_FIRST_COUNT + label}"
        if not self.counts and only is None:
            yield f"ldi  r{_CLASS}, {2 * label}"
        if not self.counts and not self.vote:
            yield f"ldi  r{_VALUE}, {value & _LARGEST_BYTE}"

    @cached_property
    def limits(self) -> list[int]:
        """The constants with which inner nodes compare; smaller features go left."""
        return [round(each) + 1 for each in self.table.trees.at_nodes(self.table.thresholds)]

    @cached_property
    def sizes(self) -> list[int]:
        """The number of nodes in the subtree of each node."""
        trees = self.table.trees
        sizes, right = [1] * len(trees.features), trees.right.tolist()
        for node in reversed(np.flatnonzero(trees.inner).tolist()):
            sizes[node] = 1 + sizes[node + 1] + sizes[right[node]]
        return sizes


class Written(NamedTuple):
    """The instructions, the label of each node, and the child to which each node branches."""

    listing: Listing
    places: dict[int, str]
    jumps: dict[int, int]


@dataclass(frozen=True, eq=False)
class IfElse:
    """The instructions of a forest; Z initially points to its inputs."""

    table: ForestTable

    @cached_property
    def nodes(self) -> Nodes:
        """The actions of its nodes."""
        return Nodes(self.table)

    @cached_property
    def reading(self) -> Reading:
        """The places where inputs are read."""
        trees = self.table.trees
        kept, pairs = [*range(16, _CLASS)], [*range(14, 1, -2)]
        if self.nodes.counts:
            kept = [*range(16, SCRATCH), _VALUE, 26, 27]
            pairs = [0, *range(14, _FIRST_COUNT + len(self.table.bias) - 1, -2)]
        return Reading.of(trees.features[trees.inner], kept, pairs)

    @cached_property
    def around_cycles(self) -> int:
        """Cycles outside trees."""
        behind = f"tree_{len(self.table.trees.roots)}"
        return self._way("start", "tree_0") + self._way(behind, "end")

    @cached_property
    def leaf_cycles(self) -> IntArray:
        """Cycles of a tree for each leaf that may be reached, (leaves,)."""
        trees, nodes, places = self.table.trees, self.nodes, self.written.places
        left, right = np.zeros((2, len(trees.features)), np.int64)
        for node in np.flatnonzero(trees.inner).tolist():
            left[node], right[node] = self._questions(node)
        ends = [
            self._way(places[leaf], f"tree_{tree + 1}")
            for leaf, tree in zip(nodes.leaves.tolist(), nodes.tree_of.tolist(), strict=True)
        ]
        return np.asarray(trees.down(left, right)[nodes.leaves] + np.array(ends, np.int64))

    def _questions(self, node: int) -> tuple[int, int]:
        """Return the cycles to go left and to go right from an inner node."""
        listing, places, jumps = self.written
        left, right = node + 1, int(self.table.trees.right[node])
        there, on = (left, right) if jumps[node] == left else (right, left)

        def way(jumping: int) -> int:
            odds = {places[there]: jumping, f"past_{there}": 1 - jumping}
            return listing.path(places[node], [places[there], places[on]], odds)

        return (way(1), way(0)) if there == left else (way(0), way(1))

    def _way(self, start: str, end: str) -> int:
        """Return the cycles from one label to another, possibly at the same place."""
        listing, places = self.written.listing, self.written.listing.places
        return 0 if places[start] == places[end] else listing.path(start, [end], {})

    @cached_property
    def registers(self) -> tuple[str, ...]:
        """The registers that the code changes, except Z and those that it restores."""
        source = self.written.listing.source
        changed = re.findall(r"^\w+ +r(\d+)", source, re.MULTILINE)
        used = {int(number) for number in changed}
        used |= {int(upper) + 1 for upper in re.findall(r"movw r(\d+)", source)}
        used |= {26, 27} if "X+" in source else set()
        return tuple(f"r{number}" for number in sorted(used - _KEPT))

    @cached_property
    def written(self) -> Written:
        """The instructions."""
        lines, places, jumps = list(self._begin()), dict[int, str](), dict[int, int]()
        for tree in range(len(self.table.trees.roots)):
            of_tree, jumps_of_tree = self._tree(tree)
            jumps |= jumps_of_tree
            places |= {line.node: line.target or line.label for line in of_tree if line.node >= 0}
            lines += [line.source() for line in of_tree]
            lines += self._add(tree)
        return Written(Listing("\n".join([*lines, *self._end()])), places, jumps)

    def _begin(self) -> Iterator[str]:
        """Yield the setup of scores, pointers and registers."""
        yield "start:"
        if self.reading.fixed is not None:
            yield from ("push r28", "push r29")
        if self.nodes.counts:
            yield from (f"clr  r{_FIRST_COUNT + label}" for label in range(len(self.table.bias)))
        else:
            yield from _address(26)
            for byte in self.table.bias.astype("<i2").tobytes():
                if byte:
                    yield f"ldi  r{SCRATCH}, {byte}"
                yield f"st   X+, r{SCRATCH if byte else 1}"
        yield from self.reading.set_up()

    def _end(self) -> Iterator[str]:
        """Yield the instructions after the trees."""
        yield f"tree_{len(self.table.trees.roots)}:"
        if self.nodes.counts:
            yield from _address(30)
            yield f"ldi  r{SCRATCH}, {self.nodes.vote}"
            for label, start in enumerate(self.table.bias.tolist()):
                yield f"mul  r{_FIRST_COUNT + label}, r{SCRATCH}"
                if start:
                    low, high = start.to_bytes(2, "little", signed=True)
                    yield from (f"ldi  r26, {low}", f"ldi  r27, {high}")
                    yield from ("add  r0, r26", "adc  r1, r27")
                yield from ("st   Z+, r0", "st   Z+, r1")
            yield "clr  r1"
        if self.reading.fixed is not None:
            yield from ("pop  r29", "pop  r28")
        yield "end:"

    def _tree(self, tree: int) -> tuple[list[Line], dict[int, int]]:
        """Return the lines of a tree, and the child to which each inner node branches."""
        trees, nodes, jumps = self.table.trees, self.nodes, dict[int, int]()
        lines, waiting = TreeLines(tree), [(int(trees.roots[tree]), self.reading.at_root)]
        while waiting:
            node, held = waiting.pop()
            if not trees.inner[node]:
                lines.leaf(node, nodes.does[node], last=not waiting)
                continue
            loading, register, held = self.reading.load(int(trees.features[node]), held)
            lines.ask(node, [*loading, f"cpi  r{register}, {nodes.limits[node]}"])
            there, following = self._order(node, lines)
            lines.branch("brcs" if there == node + 1 else "brcc", there, nodes.does[there])
            jumps[node] = there
            if trees.inner[there]:
                waiting.append((there, held))
            waiting.append((following, held))
        return lines.finished(), jumps

    def _order(self, node: int, lines: TreeLines) -> tuple[int, int]:
        """Return the child to which a node branches, and the one that follows it."""
        trees, sizes = self.table.trees, self.nodes.sizes
        left, right = node + 1, int(trees.right[node])
        if trees.inner[left] and trees.inner[right]:
            there = max(left, right, key=lambda child: sizes[child])
        elif trees.inner[left] or trees.inner[right]:
            there = left if trees.inner[right] else right
        else:
            there = right if lines.is_near(self.nodes.does[right]) else left
        return there, left if there == right else right

    def _add(self, tree: int) -> Iterator[str]:
        """Yield the addition to a score at the end of a tree, unless registers count votes."""
        if self.nodes.counts:
            return
        only = self.nodes.only_class[tree]
        yield from _address(26, 2 * (only or 0))
        if only is None:
            yield from (f"add  r26, r{_CLASS}", "adc  r27, r1")
        if self.nodes.vote:
            yield f"ldi  r{_VALUE}, {self.nodes.vote}"
        yield from ("ld   r0, X", f"add  r0, r{_VALUE}", "st   X+, r0", "ld   r0, X", "adc  r0, r1")
        if self.nodes.values.min() < 0:
            yield from (f"sbrc r{_VALUE}, 7", "dec  r0 ; its sign")
        yield "st   X, r0"


def _address(register: int, ahead: int = 0) -> tuple[str, str]:
    """Return code that points two registers to the scores, or `ahead` bytes further."""
    place = f"%[scores]+{ahead}"
    return f"ldi  r{register}, lo8({place})", f"ldi  r{register + 1}, hi8({place})"
