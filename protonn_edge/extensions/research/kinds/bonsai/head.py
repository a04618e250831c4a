"""The float models of Bonsai and of local deep kernels, its variant without a projection.

Each inner product that a node adds to a score is gated by a second one::

    z = Z x of Bonsai, and x itself of a local deep kernel
    t_l = sum over the nodes k on z's way:  (W_kl z) tanh(V_kl z)
    z goes right from node k if T_k z >= 0

Each row of W, V and T has one more weight, the bias.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from protonn_edge.extensions.research.kinds.bonsai.integers import (
    CompleteTree,
    along,
    depth_of,
    paths,
)
from protonn_edge.extensions.research.kinds.bonsai.parameters import DEPTHS
from protonn_edge.model.checks import Float32, Float64, checked_matrix, set_checked
from protonn_edge.model.head import Head, Remedies, Size, member
from protonn_edge.model.sums import scores_of_sums
from protonn_edge.system.arrays import Array
from protonn_edge.system.checks import check


@dataclass(frozen=True, eq=False, kw_only=True)
class TreeHead(CompleteTree, Head):
    """The common base of both; see the module's docstring.

    For two classes, R = 1 and the scores are -t/2 and t/2, so that their softmax is the logistic
    function of t; for more classes they are t. Nodes are numbered level by level.

    Raises `InputError` if shapes, values or names disagree; the sentence names the array.
    """

    # (nodes R, d + 1): R rows per node
    weights: Float32 = member("W", "rows", "columns")
    gates: Float32 = member("V", "rows", "columns")
    # (inner nodes, d + 1); none for a single node
    branches: Float32 = member(
        *("T", "inner", "columns"),
        optional=True,
        default_factory=lambda: np.zeros((0, 1), np.float32),
    )

    def __post_init__(self) -> None:
        columns = self.n_coordinates + 1
        if np.shape(self.branches)[:1] != (0,):
            set_checked(
                self, "branches", checked_matrix(self.branches, "branches", columns=columns)
            )
        W = checked_matrix(self.weights, "weights", columns=columns)
        set_checked(self, "weights", W)
        set_checked(
            self, "gates", checked_matrix(self.gates, "gates", rows=len(W), columns=columns)
        )
        fits = depth_of(len(self.branches)) in DEPTHS and len(W) % self.n_nodes == 0
        found = f"{len(W):,} rows with {len(self.branches):,} branches"
        check(fits, "weights", found, f"a tree of at most {DEPTHS[-1]} levels")

    @property
    def n_classes(self) -> int:
        """L."""
        return max(2, self.n_rows)

    @property
    def sizes(self) -> tuple[Size, ...]:
        """The number of nodes."""
        return (Size("nodes", "K", self.n_nodes),)

    @property
    @abstractmethod
    def n_coordinates(self) -> int:
        """d, the number of inputs of the tree."""

    @abstractmethod
    def coordinates(self, X: Array) -> Float64:
        """Return the inputs of the tree, (n, d), for normalized points X (n, D)."""

    @property
    def values_a_point(self) -> int:
        """Values per point."""
        return self.n_coordinates + 3 * len(self.weights)

    def scores(self, X: Array) -> Float64:
        """Return the scores (n, L) of normalized points X (n, D), dense or sparse."""
        return self.scores_of_coordinates(self.coordinates(X))

    def scores_of_coordinates(self, z: Float64) -> Float64:
        """Return the scores (n, L) for inputs of the tree, (n, d)."""
        sums, arguments = (affine(z, rows) for rows in (self.weights, self.gates))
        ways = paths(affine(z, self.branches))
        gated = (sums * np.tanh(arguments)).reshape(len(z), self.n_nodes, self.n_rows)
        return scores_of_sums(along(ways, gated))


def affine(z: Array, rows: Array) -> Float64:
    """Return the products (n, r) of points z (n, d) and rows (r, d + 1) that end with a bias."""
    if not len(rows):
        return np.zeros((len(z), 0))
    wide = rows.astype(np.float64)
    return z @ wide[:, :-1].T + wide[:, -1]


@dataclass(frozen=True, eq=False, kw_only=True)
class BonsaiHead(TreeHead):
    """A trained Bonsai (Kumar et al., ICML 2017)."""

    kind: ClassVar[str] = "bonsai"
    remedies: ClassVar[Remedies] = Remedies(
        flash=("a smaller --projection-dim", "a smaller --lambda-w", "a smaller --depth"),
        sram="a smaller --projection-dim or fewer classes",
        cycles="a smaller --projection-dim or --lambda-w",
        accuracy="a larger --projection-dim",
    )
    projection: Float32 = member("Z", "d", "D")

    def __post_init__(self) -> None:
        set_checked(self, "projection", checked_matrix(self.projection, "projection"))
        super().__post_init__()

    @property
    def n_inputs(self) -> int:
        """D."""
        return int(self.projection.shape[1])

    @property
    def sizes(self) -> tuple[Size, ...]:
        """The numbers of projections and nodes."""
        return Size("projections", "d", len(self.projection)), *super().sizes

    @property
    def n_coordinates(self) -> int:
        """d."""
        return len(self.projection)

    def coordinates(self, X: Array) -> Float64:
        """Return the projected points (n, d)."""
        projected: Float64 = X @ self.projection.astype(np.float64).T
        return projected


@dataclass(frozen=True, eq=False, kw_only=True)
class LocalDeepKernelHead(TreeHead):
    """A trained local deep kernel (Jose et al., ICML 2013)."""

    kind: ClassVar[str] = "local-deep-kernel"
    remedies: ClassVar[Remedies] = Remedies(
        flash=("a smaller --lambda-weights", "a smaller --depth"),
        sram="fewer classes",
        cycles="a smaller --lambda-weights",
        accuracy="a larger --lambda-weights",
    )

    @property
    def n_inputs(self) -> int:
        """D."""
        return int(np.shape(self.weights)[-1]) - 1 if np.ndim(self.weights) else 0

    @property
    def n_coordinates(self) -> int:
        """D."""
        return self.n_inputs

    def coordinates(self, X: Array) -> Float64:
        """Return the points unchanged."""
        return np.asarray(X, dtype=np.float64)
