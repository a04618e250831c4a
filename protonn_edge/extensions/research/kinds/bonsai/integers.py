"""A tree of gated sums in integers: products of bytes, and a table of the tanh.

Trees are complete, and their nodes are numbered level by level: the children of node j are 2 j + 1,
on the left, and 2 j + 2.

A tree in flash is read from front to back, except for jumps to right subtrees. Nodes are in
preorder. For each of its scores, a node has the row of the gate and then the row of the weights. In
an inner node, the row of its branch follows, and then the size of its left subtree in bytes, as two
bytes in little-endian order.

A row consists of the initial value of its sum, three bytes in little-endian order, and its weights.
Either all weights are stored or, if it takes fewer bytes, their count in a byte and each weight
preceded by its distance, in inputs, from the previous one. Weights of 0 bridge distances that do
not fit a byte.
"""

from __future__ import annotations

from collections.abc import Iterator, Sized
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from protonn_edge.model.formulas import Operand
from protonn_edge.model.integer_stage import IntArray, IntegerStage, Range, check_bits, check_holds
from protonn_edge.system.arrays import Array
from protonn_edge.system.checks import check_range

LARGEST_SHIFT = 8  # from 24-bit sums to 16 bits


@dataclass(frozen=True, eq=False)
class Sums:
    """Sums ``bias_k + sum_i weights_ki x_i``."""

    weights: NDArray[np.int8]  # (r, d)
    bias: IntArray  # (r,)

    def __len__(self) -> int:
        return len(self.bias)

    def of(self, x: Operand, *, signed: bool = False) -> Operand:
        """Return the sums (n, r) of inputs x (n, d)."""
        return x.product(self.weights, signed=signed) + self.bias

    def range_for(self, feed: Range) -> Range:
        """Return the range of each sum for a range of inputs."""
        return Range.of(self.of(feed.interval, signed=feed.ends[0] < 0))


class CompleteTree:
    """A complete tree, in floats or integers, with equal numbers of rows for all nodes."""

    weights: Sized  # the rows of all nodes
    branches: Sized  # a row for each inner node

    @property
    def n_nodes(self) -> int:
        """The number of nodes."""
        return 2 * len(self.branches) + 1

    @property
    def n_rows(self) -> int:
        """R, the sums of a node: one for each class, or one for two classes."""
        return len(self.weights) // self.n_nodes

    @property
    def depth(self) -> int:
        """Levels of inner nodes."""
        depth = depth_of(len(self.branches))
        assert depth is not None
        return depth


def depth_of(inner: int) -> int | None:
    """Return the depth of a complete tree with `inner` inner nodes, None if there is none."""
    depth = (inner + 1).bit_length() - 1
    return depth if inner + 1 == 1 << depth else None


def paths(sums: Array) -> IntArray:
    """Return the nodes (n, depth + 1) on the paths of points from the root to a leaf.

    A point goes right from inner node j if its sum j of `sums` (n, inner) is not negative.
    """
    n, inner = sums.shape
    depth = depth_of(inner)
    assert depth is not None
    ways = np.zeros((n, depth + 1), np.int64)
    rows = np.arange(n)
    for level in range(depth):
        here = ways[:, level]
        ways[:, level + 1] = 2 * here + 1 + (sums[rows, here] >= 0)
    return ways


def along(ways: IntArray, values: Array) -> Array:
    """Return the sums (n, R) of values (n, nodes, R) over the nodes on paths (n, depth + 1)."""
    met: Array = np.take_along_axis(values, ways[:, :, None], axis=1)
    return np.asarray(met.sum(axis=1))


BIAS_BYTES = 3
SKIP_BYTES = 2
_BYTE, _WORD = 0xFF, 0xFFFF  # the largest numbers of one byte, and of two


@dataclass(frozen=True, eq=False)
class TreeTable:
    """The bytes of a tree; see the module's docstring."""

    tree: IntegerBonsaiTree
    sparse: bool  # whether rows store only non-zero weights

    @cached_property
    def lines(self) -> tuple[bytes, ...]:
        """The bytes, row by row, with the sizes of left subtrees; too large ones are refused."""
        return tuple(self._subtree(0))

    @cached_property
    def content(self) -> bytes:
        """All bytes."""
        return b"".join(self.lines)

    def entries(self, sums: Sums) -> IntArray:
        """Return the number of weights of each row in flash, (r,)."""
        counts = [_entries(row)[0].size if self.sparse else row.size for row in sums.weights]
        return np.array(counts, np.int64)

    def _subtree(self, node: int) -> list[bytes]:
        tree = self.tree
        places = range(node * tree.n_rows, (node + 1) * tree.n_rows)
        own = [self._row(sums, place) for place in places for sums in (tree.gates, tree.weights)]
        if node >= len(tree.branches):
            return own
        left, right = self._subtree(2 * node + 1), self._subtree(2 * node + 2)
        size = sum(map(len, left))
        check_range("bytes in a subtree", size, 0, _WORD)
        branch = self._row(tree.branches, node), size.to_bytes(SKIP_BYTES, "little")
        return [*own, *branch, *left, *right]

    def _row(self, sums: Sums, place: int) -> bytes:
        weights, bias = sums.weights[place], int(sums.bias[place])
        begin = bias.to_bytes(BIAS_BYTES, "little", signed=True)
        if not self.sparse:
            dense: bytes = weights.tobytes()
            return begin + dense
        gaps, values = _entries(weights)
        pairs = np.stack([gaps, values.astype(np.uint8)], axis=1).astype(np.uint8)
        entries: bytes = pairs.tobytes()
        return begin + bytes([len(gaps)]) + entries


def _entries(weights: NDArray[np.int8]) -> tuple[IntArray, NDArray[np.int8]]:
    """Return gaps and weights of a row, at least one."""
    places = np.flatnonzero(weights)
    gaps: list[int] = []
    values: list[int] = []
    at = 0
    for place in places.tolist() if len(places) else [0]:
        far, rest = divmod(place - at, _BYTE)
        gaps += [_BYTE] * far + [rest]
        values += [0] * far + [int(weights[place])]
        at = place
    return np.array(gaps, np.int64), np.array(values, np.int8)


SCORE_BITS = 16
SUM_BITS = 24
UPPER_BITS = 16  # bits of a shifted sum
TABLE_SIZE = 256
PRODUCT_SHIFT = 8


@dataclass(frozen=True, eq=False)
class IntegerBonsaiTree(CompleteTree, IntegerStage):
    """Maps bytes x to scores of 16 bits.

    All sums have 24 bits. Node k of a complete tree, numbered level by level, adds to score l::

        h = (weights_kl x + bias) >> weight_shift                 16 bits
        i = (gates_kl x + bias) >> gate_shift                     limited to -128..127
        s_l += (h * table[i + 128]) >> 8

    and x goes right from it if ``branches_k x + bias >= 0``. For two classes, with one row per
    node, s_1 is this sum and s_0 its negative.
    """

    kind: ClassVar[str] = "bonsai_tree"

    # R rows for each node
    weights: Sums
    gates: Sums
    branches: Sums  # a row for each inner node
    # 0..8
    weight_shift: int
    gate_shift: int
    table: NDArray[np.int8]  # (256,): the tanh
    feed: Range  # the range of the inputs, which are signed bytes if some can be negative

    def __post_init__(self) -> None:
        """Refuse numbers with which a sum or a score could overflow."""
        inner, rows = len(self.branches), len(self.weights)
        fits = depth_of(inner) is not None
        check_holds(fits, f"a tree of {inner:,} inner nodes", "complete trees")
        fits = rows % self.n_nodes == 0 and rows > 0
        check_holds(fits, f"{rows:,} rows of nodes", f"multiples of {self.n_nodes}")
        what = f"{len(self.gates):,} gates for {rows:,} rows of nodes"
        check_holds(len(self.gates) == rows, what, "one gate per row")
        shape = self.table.shape
        check_holds(shape == (TABLE_SIZE,), f"a table of shape {shape}", f"{TABLE_SIZE} values")
        least, most = self.feed.ends
        fits = (least >= -128 and most <= 127) or (least >= 0 and most <= 255)
        check_holds(fits, f"inputs from {least:,} to {most:,}", "-128 to 127, or 0 to 255")
        for shift in (self.weight_shift, self.gate_shift):
            fits = 0 <= shift <= LARGEST_SHIFT
            check_holds(fits, f"a shift of {shift} bits", f"0 to {LARGEST_SHIFT} bits")
        for name, sums, shift in (
            ("sums", self.weights, self.weight_shift),
            ("gates", self.gates, self.gate_shift),
            ("branches", self.branches, LARGEST_SHIFT),
        ):
            check_bits(name, sums.range_for(self.feed), UPPER_BITS + shift)
            check_bits(f"biases of {name}", Range(sums.bias, sums.bias), SUM_BITS)
        reached, half = self.gates.range_for(self.feed), TABLE_SIZE // 2
        indices = Range(reached.low, reached.high + (half << self.gate_shift))  # as the walk adds
        check_bits("indices of gates", indices, UPPER_BITS + self.gate_shift)
        check_bits("scores", self.output, SCORE_BITS)

    @property
    def n_inputs(self) -> int:
        """d."""
        return int(self.weights.weights.shape[1])

    @property
    def signed(self) -> bool:
        """Whether inputs are signed bytes, as coordinates of a projection are."""
        return self.feed.ends[0] < 0

    @cached_property
    def flash(self) -> TreeTable:
        """The table in flash, in its smaller form."""
        rows = (row for sums in (self.weights, self.gates, self.branches) for row in sums.weights)
        counted = all(_entries(row)[0].size <= _BYTE for row in rows)
        dense, sparse = (TreeTable(self, each) for each in (False, True))
        return sparse if counted and len(sparse.content) < len(dense.content) else dense

    @cached_property
    def output(self) -> Range:
        """The range of each score, for any combination of the bounds of sums and gates.

        Intervals cannot follow a path; of all paths, one has the least values, one the largest.
        """
        gated = Range.of(self.gated(self.feed.interval))
        scores = Range(
            self._along_ways(gated.low, np.minimum), self._along_ways(gated.high, np.maximum)
        )
        return scores if self.n_rows > 1 else Range.of(scores.interval @ [[-1, 1]])

    def _along_ways(self, values: IntArray, choose: np.ufunc) -> IntArray:
        """Return the sums (R,) of values (nodes R,) along the path that `choose` selects."""
        whole = values.reshape(self.n_nodes, -1).copy()
        for k in reversed(range(len(self.branches))):
            whole[k] += choose(whole[2 * k + 1], whole[2 * k + 2])
        root: IntArray = whole[0]
        return root

    def gated(self, x: Operand) -> Operand:
        """Return what each node's rows (n, nodes R) would add to the scores."""
        gates = (self.gates.of(x, signed=self.signed) >> self.gate_shift).op("Clip", -128, 127)
        upper = self.weights.of(x, signed=self.signed) >> self.weight_shift
        return (upper * x.constant(self.table).op("Gather", gates + 128)) >> PRODUCT_SHIFT

    def formula(self, x: Operand) -> Operand:
        """Return the scores (n, L) of inputs x (n, d)."""
        gated, branches = self.gated(x), self.branches.of(x, signed=self.signed)
        node = ways = x.op("ReduceMax", [1]) * 0
        for _ in range(self.depth):
            node = node * 2 + 1 + (branches.op("GatherElements", node, axis=1) > -1)
            ways = ways.op("Concat", node, axis=1)
        by_node = gated.op("Reshape", [-1, self.n_nodes, self.n_rows])
        met = by_node.op("GatherND", ways.op("Unsqueeze", [2]), batch_dims=1)
        scores = met.op("ReduceSum", [1], keepdims=0)
        return scores if self.n_rows > 1 else scores @ [[-1, 1]]

    def parameters(self) -> Iterator[Array]:
        """Yield the table in flash."""
        yield np.frombuffer(self.flash.content, np.uint8)
