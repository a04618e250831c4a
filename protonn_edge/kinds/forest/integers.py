"""Forests in integers: bytes are compared with bytes, and leaves add to the scores."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from protonn_edge.kinds.forest.packed import PackedTable
from protonn_edge.kinds.forest.table import ForestTable, Trees
from protonn_edge.model.formulas import Operand
from protonn_edge.model.integer_stage import IntArray, IntegerStage, Range, check_bits
from protonn_edge.system.arrays import Array

SCORE_BITS = 16
_LEAF_BITS = 8  # where a tree adds to several scores


@dataclass(frozen=True, eq=False)
class IntegerForest(IntegerStage):
    """Maps bytes to scores of 16 bits.

    Node i tests input ``features_i``; a point goes left if it is at most ``thresholds_i``. With v_t
    the values of the leaf that the point reaches in tree t::

        s_l = bias_l + sum_t v_tl
    """

    kind: ClassVar[str] = "forest"

    # (N,): the input that each node tests, `LEAF` at leaves; all trees in preorder
    features: IntArray
    thresholds: NDArray[np.uint8]  # (inner nodes,): the thresholds of inner nodes
    # (leaves, L): the values that a leaf adds to the scores; of 8 bits if a tree adds to several
    leaves: NDArray[np.int16]
    bias: IntArray  # (L,): the initial scores
    n_features: int  # D

    def __post_init__(self) -> None:
        """Refuse numbers with which a score could overflow."""
        check_bits("scores", self.output, SCORE_BITS)
        check_bits("biases", Range(self.bias, self.bias), SCORE_BITS)
        if self.table.classes is None:
            ends = Range(self.leaves.min(axis=0), self.leaves.max(axis=0))
            check_bits("leaves", ends, _LEAF_BITS)

    @property
    def n_inputs(self) -> int:
        """D."""
        return self.n_features

    @cached_property
    def trees(self) -> Trees:
        """The trees' shape."""
        return Trees(self.features)

    @cached_property
    def table(self) -> ForestTable:
        """The forest in flash."""
        return ForestTable(self.trees, self.thresholds, self.leaves, self.bias)

    @cached_property
    def packed(self) -> PackedTable:
        """The forest in flash, in fewer bytes if this is possible."""
        return PackedTable(self.table)

    @property
    def packs(self) -> bool:
        """Whether the packed table is possible, and smaller."""
        return self.packed.possible and self.packed.n_bytes < self.table.n_bytes

    @cached_property
    def output(self) -> Range:
        """The range of each score, for any combination of leaves.

        A walk by intervals would reach any leaf of any tree.
        """
        starts, values = self.trees.leaf_starts, self.leaves.astype(np.int64)
        low = np.minimum.reduceat(values, starts).sum(axis=0)
        high = np.maximum.reduceat(values, starts).sum(axis=0)
        return Range(self.bias + low, self.bias + high)

    def formula(self, x: Operand) -> Operand:
        """Return the scores (n, L) of bytes (n, D)."""
        trees, inner = self.trees, self.trees.inner
        limits = x.constant(trees.at_nodes(self.thresholds))
        at = trees.ends(x, x[slice(0, 1),] * 0 + trees.roots, limits)
        values = np.zeros((len(inner), self.n_outputs))
        values[~inner] = self.leaves
        return x.constant(values).op("Gather", at).op("ReduceSum", [1], keepdims=0) + self.bias

    def parameters(self) -> Iterator[Array]:
        """Yield the smaller table."""
        content = self.packed.content if self.packs else self.table.content
        yield np.frombuffer(content, np.uint8)
