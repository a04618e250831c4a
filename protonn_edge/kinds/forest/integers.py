"""Forests in integers: bytes are compared with bytes, and leaves add to the scores."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from protonn_edge.chain.integer_stage import IntArray, IntegerStage, Range, check_holds
from protonn_edge.kinds.forest.table import ForestTable
from protonn_edge.kinds.forest.trees import Trees, sum_of_leaves

SCORE_BITS = 16


@dataclass(frozen=True, eq=False)
class IntegerForest(IntegerStage):
    """Maps bytes to scores of 16 bits.

    In each tree, node i tests input ``features_i``; a point goes left up to ``thresholds_i``. With
    v_t the values of the leaf that it reaches in tree t::

        s_l = bias_l + sum_t v_tl

    Attributes
    ----------
    features : ndarray of shape (N,), int64
        The inputs that inner nodes test, `trees.LEAF` at leaves; all trees in preorder.
    thresholds : ndarray of shape (inner nodes,), uint8
        The thresholds of inner nodes.
    leaves : ndarray of shape (leaves, L), int8
        The values that a leaf adds to the scores.
    bias : ndarray of shape (L,), int64
        The initial scores.
    n_features : int
        D.
    """

    kind: ClassVar[str] = "forest"

    features: IntArray
    thresholds: NDArray[np.uint8]
    leaves: NDArray[np.int8]
    bias: IntArray
    n_features: int

    def __post_init__(self) -> None:
        """Refuse numbers with which some input could overflow a score."""
        low, high = self.output.ends
        limit = 1 << (SCORE_BITS - 1)
        check_holds(-limit <= low and high < limit, f"scores in {low:,}..{high:,}")
        least, most = int(self.bias.min()), int(self.bias.max())
        check_holds(-limit <= least and most < limit, f"a bias in {least:,}..{most:,}")

    @property
    def n_inputs(self) -> int:
        """D."""
        return self.n_features

    @property
    def n_outputs(self) -> int:
        """L."""
        return len(self.bias)

    @cached_property
    def trees(self) -> Trees:
        """The trees' shape."""
        return Trees(self.features)

    @cached_property
    def table(self) -> ForestTable:
        """The forest in flash."""
        return ForestTable(self.trees, self.thresholds, self.leaves, self.bias)

    @cached_property
    def output(self) -> Range:
        """The range of each score, for any combination of leaves."""
        starts, values = self.trees.leaf_starts, self.leaves.astype(np.int64)
        low = np.minimum.reduceat(values, starts).sum(axis=0)
        high = np.maximum.reduceat(values, starts).sum(axis=0)
        return Range(self.bias + low, self.bias + high)

    def run(self, x: NDArray[Any]) -> IntArray:
        """Return the scores (n, L) of bytes (n, D)."""
        ends = self.trees.leaves_of(x, self.thresholds)
        return sum_of_leaves(ends, self.leaves, self.bias).astype(np.int64)

    def activity(self, x: NDArray[Any]) -> tuple[NDArray[np.float64], ...]:
        """Return the number of inputs that reach each leaf."""
        ends = self.trees.leaves_of(x, self.thresholds)
        return (np.bincount(ends.ravel(), minlength=len(self.leaves)).astype(np.float64),)

    def parameters(self) -> Iterator[NDArray[Any]]:
        """Yield the table."""
        yield np.frombuffer(self.table.content, np.uint8)
