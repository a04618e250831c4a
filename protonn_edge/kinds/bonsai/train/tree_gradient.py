"""The scores of a tree with soft branches, and their gradient.

A point takes both branches at each inner node, the right one with the weight ``(1 + tanh(s T_j z))
/ 2``, which for a large sharpness s is 0 or 1 (Kumar et al., ICML 2017, section 3).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from protonn_edge.training.objective import Loss, Matrix
from protonn_edge.training.points import Float32

_NO_SHARPNESS = np.zeros(1, np.float32)


@dataclass(frozen=True, eq=False)
class TreeParameters:
    """All trained parameters; also arrays of the same shapes, such as the gradient."""

    projection: Float32  # (d, D): Z, or no rows if the tree reads the points themselves
    # (nodes R, d + 1): W and V; the last column is a bias
    weights: Float32
    gates: Float32
    branches: Float32  # (inner nodes, d + 1): T

    def __iter__(self) -> Iterator[Float32]:
        return iter((self.projection, self.weights, self.gates, self.branches))


def tree_gradient(
    parameters: TreeParameters,
    X: Matrix,
    Y: Matrix,
    loss: Loss,
    sharpness: Matrix,
    weights: Matrix | None = None,
) -> tuple[float, TreeParameters]:
    """Return the mean loss of normalized points X (n, D) with targets Y (n, L), and its gradient.

    - `loss`: a function of scores; see `objective.LOSSES`.
    - `sharpness` (inner nodes,): s of each branch.
    """
    Z, W, V, T = parameters
    n, nodes = len(X), 2 * len(T) + 1
    z = _with_ones(Z, X)
    sums, gates = z @ W.T, np.tanh(z @ V.T)
    right = np.float32(0.5) * (1 + np.tanh(sharpness * (z @ T.T)))
    reached = _reached(right)
    gated = (sums * gates).reshape(n, nodes, -1)
    t = np.einsum("nk,nkr->nr", reached, gated)
    value, by_t = _through_scores(t, Y, loss, weights)

    by_gated = (reached[:, :, None] * by_t[:, None, :]).reshape(n, -1)
    by_sums = by_gated * gates
    by_arguments = by_gated * sums * (1 - gates * gates)
    by_right = _through_branches(right, reached, np.einsum("nkr,nr->nk", gated, by_t))
    by_branches = by_right * right * (1 - right) * (2 * sharpness)
    by_Z = np.zeros_like(Z)
    if len(Z):
        by_z = by_sums @ W + by_arguments @ V + by_branches @ T
        by_Z = by_z[:, :-1].T @ X
    return value, TreeParameters(by_Z, by_sums.T @ z, by_arguments.T @ z, by_branches.T @ z)


def branch_magnitudes(parameters: TreeParameters, X: Matrix) -> Matrix:
    """Return the mean magnitude of each branch's sums, (inner nodes,), of points X (n, D)."""
    sums = _with_ones(parameters.projection, X) @ parameters.branches.T
    return np.asarray(np.abs(sums).mean(axis=0))


def _with_ones(Z: Matrix, X: Matrix) -> Matrix:
    """Return the inputs of the tree for points X (n, D), with a 1 appended."""
    projected = X @ Z.T if len(Z) else X
    return np.concatenate([projected, np.ones((len(X), 1), X.dtype)], axis=1)


def _reached(right: Matrix) -> Matrix:
    """Return the weight with which each point reaches each node, (n, nodes)."""
    n, inner = right.shape
    reached = np.ones((n, 2 * inner + 1), right.dtype)
    for j in range(inner):
        reached[:, 2 * j + 2] = reached[:, j] * right[:, j]
        reached[:, 2 * j + 1] = reached[:, j] - reached[:, 2 * j + 2]
    return reached


def _through_branches(right: Matrix, reached: Matrix, by_reached: Matrix) -> Matrix:
    """Return the derivatives to the right-branch weights, from those to the node weights."""
    whole = by_reached.copy()  # of a node and its subtree
    by_right = np.empty_like(right)
    for j in reversed(range(right.shape[1])):
        left, difference = whole[:, 2 * j + 1], whole[:, 2 * j + 2] - whole[:, 2 * j + 1]
        by_right[:, j] = reached[:, j] * difference
        whole[:, j] += left + right[:, j] * difference
    return by_right


def _through_scores(
    t: Matrix, Y: Matrix, loss: Loss, weights: Matrix | None
) -> tuple[float, Matrix]:
    """Return the loss and its derivatives to t; for two classes the scores are -t/2 and t/2."""
    if t.shape[1] > 1:
        value, slope, _ = loss(t, Y, _NO_SHARPNESS, weights)
        return value, slope
    value, slope, _ = loss(np.concatenate([-t / 2, t / 2], axis=1), Y, _NO_SHARPNESS, weights)
    return value, (slope[:, 1:] - slope[:, :1]) / 2
