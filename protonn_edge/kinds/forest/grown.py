"""The grown trees of a forest, and cutting them to a size.

Minimal cost-complexity pruning (Breiman et al., 1984) reduces trees to a size in bytes: of all
subtrees with the same root, it chooses the one for which the sum of the leaves' risks, plus alpha
per leaf, is smallest. With one alpha for all trees, the least useful leaves of the whole forest are
removed first.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.ensemble import GradientBoostingClassifier

from protonn_edge.kinds.forest import quantize
from protonn_edge.kinds.forest.packed import PackedTable
from protonn_edge.kinds.forest.table import LEAF, Trees
from protonn_edge.model.checks import Float64
from protonn_edge.system.arrays import Array
from protonn_edge.system.errors import InputError, InvalidValue
from protonn_edge.system.schema import JsonObject

_OF_NODES = ("features", "thresholds", "values", "risks")

# The most that a leaf of boosting adds, in units of the shrinkage, is L, about as much as a pure
# leaf of the first round, or for few classes LogitBoost's limit (Friedman et al., 2000, section
# 4.3). scikit-learn has no limit and divides by values that may be almost 0.
_LEAST_LIMIT = 4.0
_ALPHAS = 1e-9  # smallest alpha to try, relative to the largest risk
_HALVINGS = 24  # steps of the bisection of log(alpha)


@dataclass(frozen=True, eq=False)
class GrownTrees:
    """The nodes of all trees, in preorder."""

    features: NDArray[np.int64]  # (N,): see `Trees`
    thresholds: Float64  # (N,): smaller or equal values go left; 0 at leaves
    values: Float64  # (N, L): the values that each node would have as a leaf
    risks: Float64  # (N,): impurity times the node's share of the points
    bias: Float64  # (L,): initial scores
    boosted: int = 0  # trees per round of boosting; 0 for independent trees
    on_bytes: bool = False  # whether thresholds are those of bytes, as a packed table needs

    @classmethod
    def of(cls, forest: Any, some: NDArray[np.float32]) -> Self:
        """Convert the trees of a scikit-learn ensemble; `some` is any point, (1, D)."""
        if not isinstance(forest, GradientBoostingClassifier):
            return cls.averaged([each.tree_ for each in forest.estimators_])
        first = [each.predict(some)[0] for each in forest.estimators_[0]]
        behind_first = next(forest.staged_decision_function(some)).ravel()
        start = behind_first - forest.learning_rate * np.array(first)
        rounds = [[each.tree_ for each in some] for some in forest.estimators_]
        return cls.boosting(rounds, forest.learning_rate, start)

    @classmethod
    def averaged(cls, trees: Sequence[Any]) -> Self:
        """Convert scikit-learn's trees, with class shares divided by the number of trees."""
        each = []
        for tree in trees:
            counts = tree.value[:, 0]
            each.append(nodes_of(tree, counts / counts.sum(axis=1)[:, None] / len(trees)))
        return cls(**joined_nodes(each), bias=np.zeros(trees[0].value.shape[2]))

    @classmethod
    def boosting(cls, rounds: Sequence[Sequence[Any]], rate: float, start: Float64) -> Self:
        """Convert rounds of scikit-learn's trees: one per class, or one for the second of two.

        Each tree adds with the weight `rate`; `start` (trees of a round,) are the initial scores.
        """
        each, together = [], len(start)
        bias = np.zeros(max(2, together))
        bias[-together:] = start
        for trees in rounds:
            for place, tree in enumerate(trees, len(bias) - together):
                values = np.zeros((tree.node_count, len(bias)))
                values[:, place] = rate * tree.value[:, 0, 0]
                each.append(nodes_of(tree, values))
        return cls(**joined_nodes(each), bias=bias, boosted=together)

    def limited(self, rate: float) -> Self:
        """Return the trees of boosting with leaves limited for this rate."""
        most = rate * max(_LEAST_LIMIT, len(self.bias))
        return replace(self, values=np.clip(self.values, -most, most))

    @cached_property
    def shape(self) -> Trees:
        """The trees' shape."""
        return Trees(self.features)

    @property
    def leaves(self) -> NDArray[np.float32]:
        """The values of leaves (leaves, L), as in a model."""
        return self.values[~self.shape.inner].astype(np.float32)

    @property
    def most_leaves(self) -> int:
        """The leaves of the tree that has the most."""
        starts = np.append(self.shape.leaf_starts, np.count_nonzero(~self.shape.inner))
        return int(np.diff(starts).max())

    @cached_property
    def n_bytes(self) -> int:
        """Bytes that the trees take on the device."""
        thresholds = np.floor(self.thresholds[self.shape.inner]) if self.on_bytes else 0
        of_inner = np.broadcast_to(np.uint8(thresholds), int(self.shape.inner.sum()))
        table, _ = quantize.quantized_table(self.shape, of_inner, self.leaves, self.bias)
        if self.on_bytes and (packed := PackedTable(table)).possible:
            return min(packed.n_bytes, table.n_bytes)
        return table.n_bytes

    def leaves_at(self, alpha: float) -> NDArray[np.bool_]:
        """Return which nodes are leaves once the trees are pruned with this cost per leaf.

        See the module's docstring; nodes below leaves may be leaves, too.
        """
        costs, leaf = self.risks + alpha, ~self.shape.inner
        for nodes in reversed(self.shape.levels):
            below = costs[nodes + 1] + costs[self.shape.right[nodes]]
            leaf[nodes] = costs[nodes] <= below
            costs[nodes] = np.minimum(costs[nodes], below)
        return leaf

    def with_leaves(self, leaf: NDArray[np.bool_]) -> Self:
        """Return the trees without the nodes below new leaves."""
        below = np.zeros(len(leaf), np.bool_)
        for nodes in self.shape.levels:
            for children in (nodes + 1, self.shape.right[nodes]):
                below[children] = below[nodes] | leaf[nodes]
        left, ends = self._part(np.flatnonzero(~below)), leaf[~below]
        return replace(
            left,
            features=np.where(ends, LEAF, left.features),
            thresholds=np.where(ends, 0, left.thresholds),
        )

    def voting(self) -> Self:
        """Return the trees with each leaf voting for its most frequent class.

        A node becomes a leaf if all of its leaves vote for the same class.
        """
        votes, classes = np.zeros_like(self.values), self.values.argmax(axis=1)
        votes[np.arange(len(votes)), classes] = self.values.sum(axis=1)
        leaf = ~self.shape.inner
        for nodes in reversed(self.shape.levels):
            leaf[nodes] = True
            for children in (nodes + 1, self.shape.right[nodes]):
                leaf[nodes] &= leaf[children] & (classes[children] == classes[nodes])
        return replace(self, values=votes).with_leaves(leaf)

    def first(self, count: int) -> Self:
        """Return the first trees."""
        end = len(self.features) if count >= len(self.shape.roots) else self.shape.roots[count]
        return self._part(np.arange(end))

    def _part(self, nodes: NDArray[np.int64]) -> Self:
        return replace(self, **{name: getattr(self, name)[nodes] for name in _OF_NODES})


def fitting(
    grown: GrownTrees,
    budget: int | None,
    finished: Callable[[GrownTrees], GrownTrees] = lambda trees: trees,
) -> tuple[GrownTrees, JsonObject]:
    """Return the trees reduced to a budget in bytes, and facts for the model's record.

    `finished` is applied to pruned trees. Raises `InputError` if no trees are left.
    """
    whole = finished(grown)
    if budget is None or whole.n_bytes <= budget:
        return whole, {}
    if grown.boosted:
        return _first_rounds(grown, budget)

    known = dict[bytes, GrownTrees]()  # different costs may leave the same trees

    def left(logarithm: float) -> GrownTrees:
        leaf = grown.leaves_at(float(np.exp(logarithm)))
        key = leaf.tobytes()
        if key not in known:
            known[key] = finished(grown.with_leaves(leaf))
        return known[key]

    low, high = np.log(grown.risks.max() * np.array([_ALPHAS, 1.0]))
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        low, high = (low, middle) if left(middle).n_bytes <= budget else (middle, high)
    pruned = left(high)
    if pruned.n_bytes > budget or not pruned.shape.inner.any():
        raise too_small(budget, len(grown.shape.roots))
    return pruned, {"ccp_alpha": float(np.exp(high))}


def _first_rounds(grown: GrownTrees, budget: int) -> tuple[GrownTrees, JsonObject]:
    """Return as many rounds of boosting as fit."""
    low, high = 0, len(grown.shape.roots) // grown.boosted
    while high - low > 1:
        middle = (low + high) // 2
        fits = grown.first(middle * grown.boosted).n_bytes <= budget
        low, high = (middle, high) if fits else (low, middle)
    if low == 0:
        raise too_small(budget, grown.boosted)
    return grown.first(low * grown.boosted), {"rounds": low}


def too_small(budget: int, trees: int) -> InputError:
    """Return the error for a budget that holds no trees."""
    return InvalidValue(
        f"a budget of {budget:,} B",
        f"too small for {trees:,} trees",
        "train with a larger --size-budget or fewer --trees",
    )


def joined_nodes(trees: Sequence[tuple[Array, ...]]) -> dict[str, Any]:
    """Return the arrays of all trees' nodes by name."""
    joined = (np.concatenate(arrays) for arrays in zip(*trees, strict=True))
    return dict(zip(_OF_NODES, joined, strict=True))


def preorder(tree: Any) -> NDArray[np.int64]:
    """Return the numbers of a scikit-learn tree's nodes, in preorder."""
    order, waiting = [], [0]
    left, right = tree.children_left.tolist(), tree.children_right.tolist()
    while waiting:
        node = waiting.pop()
        order.append(node)
        if left[node] >= 0:
            waiting += [right[node], left[node]]
    return np.array(order)


def nodes_of(tree: Any, values: Float64) -> tuple[Array, ...]:
    """Return features, thresholds, values and risks of a scikit-learn tree, in preorder."""
    places = preorder(tree)
    inner = tree.children_left[places] >= 0
    risks = (tree.impurity * tree.weighted_n_node_samples)[places]
    return (
        np.where(inner, tree.feature[places], LEAF).astype(np.int64),
        np.where(inner, tree.threshold[places], 0),
        values[places],
        risks / tree.weighted_n_node_samples[0],
    )
