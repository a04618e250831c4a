"""Gradient-boosted trees of XGBoost, LightGBM and scikit-learn's histogram boosting.

Files are read without these libraries, and every node is
checked.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from protonn_edge.extensions.conversion import reading
from protonn_edge.extensions.conversion.affine import Float64
from protonn_edge.extensions.conversion.trees.trees import (
    BY_GAPS,
    TreeRule,
    check_gaps,
    unsupported,
)
from protonn_edge.kinds.forest.grown import GrownTrees
from protonn_edge.kinds.forest.table import LEAF
from protonn_edge.system.arrays import Array
from protonn_edge.system.errors import InputError

Indices = NDArray[np.int64]

_LIMIT_BYTES = 2**28  # for the values of all nodes


@dataclass(frozen=True, eq=False)
class StoredTree:
    """A tree of N nodes, in any order after the root; all arrays are (N,)."""

    leaf: NDArray[np.bool_]
    left: Indices  # children; arbitrary for leaves
    right: Indices
    features: Indices
    thresholds: Float64  # values up to this go left
    gaps: NDArray[np.bool_]  # whether a missing value (NaN) goes left
    values: Float64  # the values of leaves

    def preorder(self) -> Indices:
        """Return the reachable nodes; raises `ValueError` if they do not form a tree."""
        leaf, left, right = self.leaf.tolist(), self.left.tolist(), self.right.tolist()
        nodes, waiting, seen = [], [0], bytearray(len(leaf))
        while waiting:
            node = waiting.pop()
            if not 0 <= node < len(leaf) or seen[node]:
                raise ValueError("the nodes of a tree are not linked as a tree")
            seen[node] = True
            nodes.append(node)
            waiting += [] if leaf[node] else [right[node], left[node]]
        return np.array(nodes, np.int64)


def boosted_rule(
    trees: Sequence[StoredTree],
    columns: Indices,
    start: Float64,
    *,
    k: int,
    together: int,
    strict: bool = False,
) -> TreeRule:
    """Return the rule of trees for k features, with `together` trees per round.

    Each tree adds to the score of one class, its column. `start` (L,) are the initial scores, and
    `strict` is that of `TreeRule`. Raises `ValueError` if the arguments do not match.
    """
    if not trees or together < 1 or len(trees) % together:
        raise ValueError("the number of trees differs between rounds")
    if not 0 <= columns.min() <= columns.max() < len(start):
        raise ValueError("a tree belongs to an unknown class")
    if 8 * len(start) * sum(len(tree.leaf) for tree in trees) > _LIMIT_BYTES:
        raise ValueError("the trees have too many nodes")
    parts = []
    for tree, column in zip(trees, columns.tolist(), strict=True):
        order = tree.preorder()
        leaf, values = tree.leaf[order], np.zeros((len(order), len(start)))
        values[:, column] = np.where(leaf, tree.values[order], 0.0)
        thresholds = np.where(leaf, 0.0, tree.thresholds[order])
        features = np.where(leaf, LEAF, tree.features[order])
        if not ((features >= 0) & (features < k) | leaf).all():
            raise ValueError("a node tests an unknown feature")
        parts.append((features, thresholds, values, tree.gaps[order]))
    features, thresholds, values, gaps = (np.concatenate(each) for each in zip(*parts, strict=True))
    for numbers in (start, thresholds, values):
        if not (np.abs(numbers) < reading.LARGEST).all():
            raise ValueError(f"a number is not finite, or above {reading.LARGEST:g}")
    grown = GrownTrees(features, thresholds, values, np.zeros(len(features)), start, together)
    return TreeRule(grown, strict, fine=True, gaps=gaps)


def histogram_rule(classifier: object, k: int, n_classes: int) -> TreeRule:
    """Return the trees of a HistGradientBoostingClassifier."""
    what, together = f"the {type(classifier).__name__}", 1 if n_classes == 2 else n_classes
    with reading.refusing(what, "scikit-learn"):
        rounds = reading.attribute(classifier, "_predictors")
        trees = [_histogram_tree(each.nodes, what) for some in rounds for each in some]
        first = reading.numbers_of(classifier, "_baseline_prediction", (1, together))[0]
        start = np.concatenate([np.zeros(n_classes - together), first])
        columns = np.arange(len(trees)) % together + (n_classes - together)
        return boosted_rule(trees, columns, start, k=k, together=together)


def _histogram_tree(nodes: Any, what: str) -> StoredTree:
    n = len(nodes)
    if vector(nodes["is_categorical"], n).any():
        raise by_category(what)
    leaf, gaps, count = (
        vector(nodes[name], n) for name in ("is_leaf", "missing_go_to_left", "count")
    )
    left, right = (np.where(leaf, 0, vector(nodes[name], n)) for name in ("left", "right"))
    if not 0 <= min(left.min(), right.min()) <= max(left.max(), right.max()) < n:
        raise ValueError("a node refers to a child that does not exist")
    thresholds = vector(nodes["num_threshold"], n, "f")
    sides = np.where(np.isinf(thresholds), BY_GAPS, gaps)
    check_gaps(what, sides[leaf == 0], (count[left] > count[right])[leaf == 0])
    return StoredTree(
        leaf=leaf > 0,
        left=left,
        right=right,
        features=vector(nodes["feature_idx"], n),
        # Points become float32, too, and some are thresholds.
        thresholds=thresholds.astype(np.float32).astype(np.float64),
        gaps=gaps > 0,
        values=vector(nodes["value"], n, "f"),
    )


def vector(values: object, size: int, kinds: str = "iub") -> Array:
    """Return `size` numbers of these NumPy kinds as int64, or as float64 for the kind "f".

    Raises `ValueError` if the kind or size differs.
    """
    array = np.asarray(values)
    if array.shape != (size,) or (size and array.dtype.kind not in kinds):
        raise ValueError(
            f"an array must have the shape {(size,)}, but has the shape {array.shape} and the type "
            f"{array.dtype.name}"
        )
    return array.astype(np.float64 if kinds == "f" else np.int64)


def by_category(what: str) -> InputError:
    """Return the error for trees that test whether a feature is one of several categories."""
    remedy = "train on numeric features instead, such as one feature for each category"
    return unsupported(what, "splits by categories", remedy)
