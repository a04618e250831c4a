"""The parameters of Bonsai and local deep kernels, apart so that help needs no scikit-learn."""

from __future__ import annotations

from dataclasses import dataclass

from protonn_edge.learn.parameters import (
    N_PROJECTIONS,
    SHARE,
    SPARSITY_PROJECTION,
    Choices,
    MiniBatchParameters,
    parameter,
)

DEPTHS = range(5)
"""Levels of branches."""


@dataclass(kw_only=True, eq=False, repr=False)
class LocalDeepKernelParameters(MiniBatchParameters):
    """The parameters for training a tree of gated sums.

    Parameters
    ----------
    depth : int in 0..4, default=1
        Levels of branches; a point passes ``depth + 1`` of the ``2^(depth + 1) - 1`` nodes.
    sparsity_weights, sparsity_gates, sparsity_branches : float in (0, 1]
        Largest shares of non-zero entries of W, V and T (lambda in the paper).
    epochs : int, default=200
        Passes over the training points, each of at most 200 steps.
    batch_size : int or "auto", default="auto"
        Points per step; "auto" is 256.
    learning_rate : float, default=0.01
        Largest step; it is warmed up, and decays to 0.
    input_noise : float or "auto", default="auto"
        Deviation of the Gaussian noise added to the normalized features while training. "auto" is a
        tenth of the median distance between neighbouring points.
    """

    depth: int = parameter(1, Choices(tuple(DEPTHS)), help="Levels of branches.", option="--depth")
    sparsity_weights: float = parameter(
        1.0,
        SHARE,
        help="Maximum share of nonzeros in W, the nodes' weights.",
        option="--lambda-weights",
    )
    sparsity_gates: float = parameter(
        1.0, SHARE, help="Maximum share of nonzeros in V, the weights inside the tanh."
    )
    sparsity_branches: float = parameter(
        1.0, SHARE, help="Maximum share of nonzeros in T, the branches' weights."
    )

    @property
    def sparsity(self) -> tuple[float, float, float, float]:
        """Shares of non-zero entries of the projection, W, V and T."""
        return 1.0, self.sparsity_weights, self.sparsity_gates, self.sparsity_branches


@dataclass(kw_only=True, eq=False, repr=False)
class BonsaiParameters(LocalDeepKernelParameters):
    """The parameters for training a tree of gated sums after a projection.

    Parameters
    ----------
    n_projections : int, default=10
        Dimension d of the projected space; limited to the number of inputs.
    sparsity_projection : float in (0, 1], default=1.0
        Largest share of non-zero entries of the projection.
    """

    n_projections: int = N_PROJECTIONS(10)
    sparsity_projection: float = SPARSITY_PROJECTION(1.0)

    @property
    def sparsity(self) -> tuple[float, float, float, float]:
        """Shares of non-zero entries of the projection, W, V and T."""
        return (self.sparsity_projection, *super().sparsity[1:])
