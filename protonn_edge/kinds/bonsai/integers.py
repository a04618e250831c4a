"""A tree of gated sums in integers: products of bytes, and a table for the tanh."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from protonn_edge.chain.integer_stage import IntArray, IntegerStage, Range, check_holds
from protonn_edge.kinds.bonsai.paths import along, depth_of, paths
from protonn_edge.kinds.bonsai.sums import Sums
from protonn_edge.kinds.bonsai.table import TreeTable
from protonn_edge.kinds.bonsai.walk import LARGEST_SHIFT

SCORE_BITS = 16
SUM_BITS = 24
UPPER_BITS = 16  # of a shifted sum
TABLE_SIZE = 256
PRODUCT_SHIFT = 8


@dataclass(frozen=True, eq=False)
class IntegerBonsaiTree(IntegerStage):
    """Maps bytes x to scores of 16 bits.

    With all sums of 24 bits, node k of a complete tree, numbered level by level, adds to score l::

        h = (weights_kl x + bias) >> weight_shift                 16 bits
        i = (gates_kl x + bias) >> gate_shift                     limited to -128..127
        s_l += (h * table[i + 128]) >> 8

    and x goes right from it if ``branches_k x + bias >= 0``. Of two classes with one row a node,
    s_1 is this sum and s_0 its negative.

    Attributes
    ----------
    weights, gates : Sums
        R rows for each node.
    branches : Sums
        A row for each inner node.
    weight_shift, gate_shift : int
        0..8.
    table : ndarray of shape (256,), int8
        The tanh.
    feed : Range
        The range of the inputs: signed bytes if some can be negative, otherwise unsigned ones.
    """

    kind: ClassVar[str] = "bonsai_tree"

    weights: Sums
    gates: Sums
    branches: Sums
    weight_shift: int
    gate_shift: int
    table: NDArray[np.int8]
    feed: Range

    def __post_init__(self) -> None:
        """Refuse numbers with which some input could overflow a sum, or a score."""
        inner, rows = len(self.branches.bias), len(self.weights.bias)
        check_holds(depth_of(inner) is not None, f"a tree of {inner:,} inner nodes")
        check_holds(rows % self.n_nodes == 0 and rows > 0, f"{rows:,} rows of nodes")
        check_holds(len(self.gates.bias) == rows, f"{len(self.gates.bias):,} gates")
        check_holds(self.table.shape == (TABLE_SIZE,), f"a table of shape {self.table.shape}")
        least, most = self.feed.ends
        signed = least >= -128 and most <= 127
        check_holds(signed or (least >= 0 and most <= 255), f"inputs in {least:,}..{most:,}")
        for shift in (self.weight_shift, self.gate_shift):
            check_holds(0 <= shift <= LARGEST_SHIFT, f"a shift of {shift}")
        for name, sums, shift in (
            ("sums", self.weights, self.weight_shift),
            ("gates", self.gates, self.gate_shift),
            ("branches", self.branches, LARGEST_SHIFT),
        ):
            _check_bits(f"{name} in", sums.range_for(self.feed), UPPER_BITS + shift)
            _check_bits(f"{name} that begin with", Range(sums.bias, sums.bias), SUM_BITS)
        _check_bits("scores in", self.output, SCORE_BITS)

    @property
    def n_inputs(self) -> int:
        """d."""
        return int(self.weights.weights.shape[1])

    @property
    def n_nodes(self) -> int:
        """The number of nodes."""
        return 2 * len(self.branches.bias) + 1

    @property
    def n_rows(self) -> int:
        """R."""
        return len(self.weights.bias) // self.n_nodes

    @property
    def n_outputs(self) -> int:
        """L."""
        return max(2, self.n_rows)

    @property
    def depth(self) -> int:
        """Levels of inner nodes."""
        depth = depth_of(len(self.branches.bias))
        assert depth is not None
        return depth

    @property
    def signed(self) -> bool:
        """Whether inputs are signed bytes, as coordinates of a projection are."""
        return self.feed.ends[0] < 0

    @cached_property
    def flash(self) -> TreeTable:
        """The tree as flash has it."""
        return TreeTable.smaller(self.weights, self.gates, self.branches)

    @cached_property
    def output(self) -> Range:
        """The range of each score: at each node, sum and gate may have any of their bounds."""
        sums, indices = (
            (each.low >> shift, each.high >> shift)
            for each, shift in (
                (self.weights.range_for(self.feed), self.weight_shift),
                (self.gates.range_for(self.feed), self.gate_shift),
            )
        )
        first, last = (np.clip(end, -128, 127) + 128 for end in indices)
        spans = [self.table[a : b + 1].astype(np.int64) for a, b in zip(first, last, strict=True)]
        gates = [np.array([reached(span) for span in spans]) for reached in (np.min, np.max)]
        corners = np.stack([(h * t) >> PRODUCT_SHIFT for h in sums for t in gates])
        low, high = (
            self._along_ways(reached(corners, axis=0), choose)
            for reached, choose in ((np.min, np.minimum), (np.max, np.maximum))
        )
        scores = Range(low, high)
        return scores if self.n_rows > 1 else scores.with_either_sign

    def _along_ways(self, values: IntArray, choose: np.ufunc) -> IntArray:
        """Return the sums (R,) of values (nodes R,) on the path chosen at each node."""
        whole = values.reshape(self.n_nodes, -1).copy()
        for k in reversed(range(len(self.branches.bias))):
            whole[k] += choose(whole[2 * k + 1], whole[2 * k + 2])
        root: IntArray = whole[0]
        return root

    def run(self, x: NDArray[Any]) -> IntArray:
        """Return the scores (n, L) of inputs x (n, d)."""
        h = self.weights.of(x) >> self.weight_shift
        i = np.clip(self.gates.of(x) >> self.gate_shift, -128, 127)
        gated = (h * self.table.astype(np.int64)[i + 128]) >> PRODUCT_SHIFT
        s = along(paths(self.branches.of(x)), gated.reshape(len(x), self.n_nodes, -1))
        scores: IntArray = s if self.n_rows > 1 else np.concatenate([-s, s], axis=1)
        return scores

    def activity(self, x: NDArray[Any]) -> tuple[NDArray[np.float64], ...]:
        """Return the number of inputs that pass each node."""
        met = paths(self.branches.of(x))
        return (np.bincount(met.ravel(), minlength=self.n_nodes).astype(np.float64),)

    def parameters(self) -> Iterator[NDArray[Any]]:
        """Yield the table in flash."""
        yield np.frombuffer(self.flash.content, np.uint8)


def _check_bits(what: str, reached: Range, bits: int) -> None:
    if reached.low.size:
        low, high = reached.ends
        limit = 1 << (bits - 1)
        check_holds(-limit <= low and high < limit, f"{what} {low:,}..{high:,}")
