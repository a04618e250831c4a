"""The float forest, with scores that are sums over leaves of decision trees."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from protonn_edge.kinds.forest.table import LEAF, Trees, sum_of_leaves
from protonn_edge.model.checks import Float64, checked_matrix, checked_vector, set_checked
from protonn_edge.model.head import Head, Remedies, Size, member
from protonn_edge.system.checks import check, check_kind, check_range


@dataclass(frozen=True, eq=False, kw_only=True)
class ForestHead(Head):
    """Trained decision trees: a random forest, extra trees, or gradient boosting.

    The scores of a point are the bias plus the values of the leaf that it reaches in each tree.

    Raises `InputError` if shapes, values or names disagree; the sentence names the array.
    """

    kind: ClassVar[str] = "forest"
    remedies: ClassVar[Remedies] = Remedies(
        flash=("a smaller --size-budget",),
        sram="fewer classes",
        cycles="fewer --trees",
        accuracy="more --trees",
    )

    # (N,): the feature that each node tests, `LEAF` at leaves; all trees in preorder
    features: NDArray[np.int64] = member("nodes", "N")
    # (inner nodes,): a point goes left if its normalized feature is at most this
    thresholds: Float64 = member("thresholds", "inner")
    # (leaves, L): contributions to the scores
    leaves: NDArray[np.float32] = member("leaves", "leaves", "L")
    bias: Float64 = member("bias", "L")  # initial scores
    n_features: int  # D

    def __post_init__(self) -> None:
        set_checked(self, "features", self._checked_features())
        inner = int(self.trees.inner.sum())
        if inner or np.size(self.thresholds):  # all trees may be single leaves
            checked = checked_vector(self.thresholds, "thresholds", size=inner)
            set_checked(self, "thresholds", checked)
        set_checked(self, "bias", checked_vector(self.bias, "bias"))
        rows, columns = len(self.features) - inner, len(self.bias)
        leaves = checked_matrix(self.leaves, "leaves", rows=rows, columns=columns)
        set_checked(self, "leaves", leaves)

    def _checked_features(self) -> NDArray[np.int64]:
        given = np.asarray(self.features)
        check_kind("features", given, "iu", 1)
        check(given.size > 0, "features", "none", "at least one")
        low, high = int(given.min()), int(given.max())
        check_range("features", low, LEAF, high)
        check_range("features", high, LEAF, self.n_inputs - 1)
        features = given.astype(np.int64)
        features.flags.writeable = False
        Trees(features).roots  # noqa: B018 (refuses incomplete trees)
        return features

    @cached_property
    def trees(self) -> Trees:
        """The trees' shape."""
        return Trees(self.features)

    @property
    def n_inputs(self) -> int:
        """D."""
        return self.n_features

    @property
    def sizes(self) -> tuple[Size, ...]:
        """The numbers of trees and leaves."""
        trees = Size("trees", "T", len(self.trees.roots))
        return trees, Size("leaves", "n", len(self.leaves))

    @property
    def n_classes(self) -> int:
        """L."""
        return len(self.bias)

    @property
    def values_a_point(self) -> int:
        """Values per point."""
        return 4 * len(self.trees.roots) + self.n_classes

    def scores(self, X: Float64) -> Float64:
        """Return the scores (n, L) of normalized points X (n, D)."""
        ends = self.trees.leaves_of(X, self.thresholds)
        return np.asarray(sum_of_leaves(ends, self.leaves.astype(np.float64), self.bias))
