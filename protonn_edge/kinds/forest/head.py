"""The float forest: scores that are sums over leaves of decision trees."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from protonn_edge.chain.activity import Sizes
from protonn_edge.chain.array_checks import Arrays, check_type
from protonn_edge.chain.checks import checked_matrix, checked_vector, set_checked
from protonn_edge.chain.model import Model
from protonn_edge.chain.remedies import Remedies
from protonn_edge.chain.sizes import Size, Sized
from protonn_edge.errors import InputError
from protonn_edge.kinds.forest.trees import LEAF, Trees, sum_of_leaves

Float64 = NDArray[np.float64]


class SizedByTrees(Sized):
    """The sizes of a model of trees with values (leaves, L) of their leaves."""

    title: ClassVar[str] = "forest"
    remedies: ClassVar[Remedies] = Remedies(
        flash=("a smaller --size-budget",),
        sram="fewer classes",
        cycles="fewer --trees",
        accuracy="more --trees",
    )

    leaves: NDArray[Any]

    @property
    @abstractmethod
    def trees(self) -> Trees:
        """The trees' shape."""

    @property
    def sizes(self) -> tuple[Size, ...]:
        """The numbers of trees and leaves."""
        trees = Size("trees", "T", len(self.trees.roots))
        return trees, Size("leaves", "n", len(self.leaves))


@dataclass(frozen=True, eq=False, kw_only=True)
class ForestModel(SizedByTrees, Model):
    """Trained decision trees: a random forest, extra trees, or gradient boosting.

    The scores of a point are the bias plus the values of the leaves that it reaches, one in each
    tree. It has the fields of every `Model`, too.

    Attributes
    ----------
    features : ndarray of shape (N,), int64
        All trees in preorder: the feature that an inner node tests, `trees.LEAF` at leaves.
    thresholds : ndarray of shape (inner nodes,), float64
        A point goes left if the node's feature, normalized, is at most this.
    leaves : ndarray of shape (leaves, L), float32
        Their contributions to the scores.
    bias : ndarray of shape (L,), float64
        Initial scores.

    Raises
    ------
    InputError
        If shapes, values or names do not fit together; the sentence names the array.
    """

    kind: ClassVar[str] = "forest"
    hashed: ClassVar[Mapping[str, str]] = {
        "nodes": "forest.features",
        **{name: f"forest.{name}" for name in ("thresholds", "leaves", "bias")},
    }
    ARRAYS: ClassVar[tuple[str, ...]] = ("nodes", "thresholds", "leaves", "bias")

    features: NDArray[np.int64]
    thresholds: Float64
    leaves: NDArray[np.float32]
    bias: Float64

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
        super().__post_init__()

    def _checked_features(self) -> NDArray[np.int64]:
        given = np.asarray(self.features)
        if given.ndim != 1 or given.size == 0 or given.dtype.kind not in "iu":
            raise InputError(
                f"array 'nodes' has the shape {given.shape} and the type {given.dtype.name}; it "
                "must be a vector of integers, one per node; train the model again"
            )
        low, high = int(given.min()), int(given.max())
        if low < LEAF or high >= self.n_inputs:
            raise InputError(
                f"array 'nodes' has numbers in {low:,}..{high:,}; those of features are "
                f"0..{self.n_inputs - 1:,}, and leaves have {LEAF}; train the model again"
            )
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
        return len(self.normalizer.scale)

    @property
    def n_classes(self) -> int:
        """L."""
        return len(self.bias)

    @property
    def matrices(self) -> dict[str, NDArray[Any]]:
        """What was learned."""
        return {
            "nodes": self.features,
            "thresholds": self.thresholds,
            "leaves": self.leaves,
            "bias": self.bias,
        }

    @property
    def activity_sizes(self) -> Sizes:
        """Those of the features, and a share for each leaf."""
        return {**super().activity_sizes, "forest": (len(self.leaves),)}

    @classmethod
    def own_fields(cls, arrays: Arrays) -> dict[str, Any]:
        """Return the trees from a file's arrays."""
        for name, wanted in (("nodes", "i8"), ("thresholds", "f8"), ("leaves", "f4")):
            check_type(arrays[name], name, wanted)
        check_type(arrays["bias"], "bias", "f8")
        names = {"features": "nodes", "thresholds": "thresholds", "leaves": "leaves"}
        return {field: arrays[name] for field, name in names.items()} | {"bias": arrays["bias"]}

    @property
    def _values_a_point(self) -> int:
        return self.n_features + 4 * len(self.trees.roots) + self.n_classes

    def scores_of_normalized(self, X: Float64) -> Float64:
        """Return the scores (n, L) of normalized points X (n, D)."""
        ends = self.trees.leaves_of(X, self.thresholds)
        return np.asarray(sum_of_leaves(ends, self.leaves.astype(np.float64), self.bias))
