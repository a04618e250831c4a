"""Trees as instructions: each test is a comparison with a constant, followed by a branch.

Tests compare bytes; those of `floats.py`, with which the same trees take raw floats, compare these.
The smaller of two subtrees comes first, so that few branches are far. Leaves share code: a branch
goes to the nearest place in its tree with the same action.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar, NamedTuple

import numpy as np

from protonn_edge.codegen.kernels.listing import Facts, Listing
from protonn_edge.kinds.forest.layout import Held, Line, Reading, TreeLines
from protonn_edge.kinds.forest.leaves import LeafCode
from protonn_edge.kinds.forest.table import ForestTable

_MOST_NODES = 8_000  # with more, instructions exceed the flash of any chip
_LARGEST_BYTE = 255
_KEPT = {1, 28, 29, 30, 31}  # registers that the code restores, and Z


def can_be_instructions(table: ForestTable) -> bool:
    """Return whether the tests can be instructions."""
    return (
        len(table.thresholds) <= _MOST_NODES
        and int(table.thresholds.max(initial=0)) < _LARGEST_BYTE
    )


class Asked(NamedTuple):
    """The instructions of a test, its branches to the left and to the right, and the state then."""

    lines: list[str]
    left: str
    right: str
    held: Held


@dataclass(frozen=True, eq=False)
class ByteTests:
    """Each inner node compares a byte, which is less on the left."""

    table: ForestTable
    size: ClassVar[int] = 1  # bytes of an input

    @cached_property
    def _limits(self) -> list[int]:
        return [round(each) + 1 for each in self.table.trees.at_nodes(self.table.thresholds)]

    def begin(self) -> Iterator[str]:
        """Yield the instructions before all others; none."""
        yield from ()

    @property
    def facts(self) -> Facts:
        """How often loops there are passed."""
        return {}

    def ask(self, node: int, reading: Reading, held: Held) -> Asked:
        """Return the test of an inner node."""
        feature = int(self.table.trees.features[node])
        loading, register, held = reading.load(feature, held)
        test = f"cpi  r{register}, {self._limits[node]} ; @feature {feature}"
        return Asked([*loading, test], "brcs", "brcc", held)


class Written(NamedTuple):
    """The instructions, the label of each node, and the child to which each node branches."""

    listing: Listing
    places: dict[int, str]
    jumps: dict[int, int]


@dataclass(frozen=True, eq=False)
class IfElse:
    """The instructions of a forest; Z initially points to its inputs."""

    leaves: LeafCode
    tests: ByteTests

    @property
    def table(self) -> ForestTable:
        """The forest."""
        return self.leaves.table

    @cached_property
    def reading(self) -> Reading:
        """The places where inputs are read."""
        trees, leaves, size = self.table.trees, self.leaves, self.tests.size
        kept = leaves.kept if size == 1 else ()
        asked = size * trees.features[trees.inner]
        return Reading.of(asked, kept, leaves.pairs, moves=leaves.moves, size=size)

    @property
    def facts(self) -> Facts:
        """How often loops are passed."""
        return {**self.tests.facts, **self.leaves.facts}

    @cached_property
    def sizes(self) -> list[int]:
        """The number of nodes in the subtree of each node."""
        trees = self.table.trees
        sizes, right = [1] * len(trees.features), trees.right.tolist()
        for node in reversed(np.flatnonzero(trees.inner).tolist()):
            sizes[node] = 1 + sizes[node + 1] + sizes[right[node]]
        return sizes

    @cached_property
    def does(self) -> list[str]:
        """The action of the leaf of a node, (N,); none at inner nodes."""
        does = [""] * len(self.table.trees.features)
        for number, node in enumerate(self.leaves.nodes.tolist()):
            does[node] = "\n".join(self.leaves.action(number))
        return does

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
            lines += self.leaves.at_end(tree)
        return Written(Listing("\n".join([*lines, *self._end()])), places, jumps)

    def _begin(self) -> Iterator[str]:
        """Yield the setup of scores, pointers and registers."""
        yield "start:"
        if self.reading.fixed is not None:
            yield from ("push r28", "push r29")
        yield from self.tests.begin()
        yield from self.leaves.begin()
        yield from self.reading.set_up()

    def _end(self) -> Iterator[str]:
        """Yield the instructions after the trees."""
        yield f"tree_{len(self.table.trees.roots)}:"
        yield from self.leaves.finish()
        if self.reading.fixed is not None:
            yield from ("pop  r29", "pop  r28")
        yield "end:"

    def _tree(self, tree: int) -> tuple[list[Line], dict[int, int]]:
        """Return the lines of a tree, and the child to which each inner node branches."""
        trees, jumps = self.table.trees, dict[int, int]()
        lines, waiting = TreeLines(tree), [(int(trees.roots[tree]), self.reading.at_root)]
        while waiting:
            node, held = waiting.pop()
            if not trees.inner[node]:
                lines.leaf(node, self.does[node], last=not waiting)
                continue
            asked = self.tests.ask(node, self.reading, held)
            lines.ask(node, asked.lines)
            there, following = self._order(node, lines)
            branch = asked.left if there == node + 1 else asked.right
            lines.branch(branch, there, self.does[there])
            jumps[node] = there
            if trees.inner[there]:
                waiting.append((there, asked.held))
            waiting.append((following, asked.held))
        return lines.finished(), jumps

    def _order(self, node: int, lines: TreeLines) -> tuple[int, int]:
        """Return the child to which a node branches, and the one that follows it."""
        trees, sizes = self.table.trees, self.sizes
        left, right = node + 1, int(trees.right[node])
        if trees.inner[left] and trees.inner[right]:
            there = max(left, right, key=lambda child: sizes[child])
        elif trees.inner[left] or trees.inner[right]:
            there = left if trees.inner[right] else right
        else:
            there = right if lines.is_near(self.does[right]) else left
        return there, left if there == right else right
