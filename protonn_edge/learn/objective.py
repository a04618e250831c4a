"""The objective that training minimizes, and its gradients.

The RBF's width is folded into the matrices (V = gamma W, C = gamma B), which makes the RBF
``exp(-||c_j - V x||^2)``: the problem is better conditioned, and step sizes do not depend on the
data. A separate function, the loss, compares scores with targets.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from protonn_edge.system.arrays import Array

Matrix = Array

MATRICES = ("W", "B", "Z")
"""The trained matrices, in the order of `Parameters`."""

EXPOSURE_LOGIT = 8.0
"""Logit of "none of the classes" in outlier exposure, which all classes must stay below."""


@dataclass(frozen=True, eq=False)
class Parameters:
    """All trained parameters, or arrays of the same shapes, such as the gradient."""

    projection: Matrix  # (d, D): V = gamma W
    prototypes: Matrix  # (d, m): C = gamma B
    labels: Matrix  # (L, m): Z
    # (1,): logarithm of the factor on the scores before a softmax; not used by the squared error
    sharpness: Matrix

    def __iter__(self) -> Iterator[Matrix]:
        return iter((self.projection, self.prototypes, self.labels, self.sharpness))

    def copy(self) -> Parameters:
        """Return a copy with arrays of its own."""
        return Parameters(*(matrix.copy() for matrix in self))


RbfOf = Callable[[Matrix, Matrix], Matrix]
"""Maps squared distances and their ``exp(-s)`` to the RBF values that count."""


def smooth_rbf(_squares: Matrix, kernel: Matrix) -> Matrix:
    """Return the exponential itself."""
    return kernel


Loss = Callable[[Matrix, Matrix, Matrix, Matrix | None], tuple[float, Matrix, Matrix]]
"""Maps scores (n, L), targets (n, L), sharpness (1,) and weights (n,) with a mean of 1, or None, to
the mean loss and its derivatives by scores and sharpness."""


def cross_entropy(
    scores: Matrix, Y: Matrix, sharpness: Matrix, weights: Matrix | None, none: float | None = None
) -> tuple[float, Matrix, Matrix]:
    """Return the mean of ``-sum_l y_il log softmax(t s_i)_l``, t = exp(sharpness), and derivatives.

    The rows of Y are distributions over the classes: one-hot, or soft labels.

    - `none`: the logit of one more class, "none of them", to which rows of Y that are all 0 belong.
      Where all RBFs vanish, all scores are 0, so a point far from every prototype most likely has
      no class.
    """
    factor = np.exp(sharpness)
    logits = scores * factor
    largest = np.maximum.reduce(logits, axis=1, keepdims=True)
    if none is not None:
        largest = np.maximum(largest, none)
    logits -= largest
    likelihoods = np.exp(logits)
    totals = np.add.reduce(likelihoods, axis=1, keepdims=True)
    of_target = np.einsum("ij,ij->i", logits, Y)
    if none is not None:
        rest = none - largest
        totals += np.exp(rest)
        of_target += (1 - Y.sum(axis=1)) * rest[:, 0]
    value = mean_loss(np.log(totals[:, 0]) - of_target, weights)
    likelihoods /= totals
    likelihoods -= Y
    return value, *through_logits(likelihoods, scores, factor, weights)


def through_logits(
    slope: Matrix, scores: Matrix, factor: Matrix, weights: Matrix | None
) -> tuple[Matrix, Matrix]:
    """Return derivatives with respect to scores and sharpness, from those to the logits."""
    slope *= factor / len(scores)
    slope = weighted(slope, weights)
    return slope, np.vdot(slope, scores).astype(factor.dtype).reshape(1)


def mean_loss(losses: Matrix, weights: Matrix | None) -> float:
    """Return the mean of losses (n,) of points with weights (n,), 1 on average."""
    return float(losses.sum() if weights is None else losses @ weights) / len(losses)


def weighted(slope: Matrix, weights: Matrix | None) -> Matrix:
    """Return derivatives (n, L) of points with weights (n,)."""
    return slope if weights is None else slope * weights[:, None]


cross_entropy_or_none: Loss = partial(cross_entropy, none=EXPOSURE_LOGIT)
"""The cross-entropy if some points have no class."""


class BatchVoters(Protocol):
    """Points of a batch that vote beside the prototypes."""

    @property
    def rows(self) -> NDArray[np.int64]:
        """Which of the points vote, (e,), each at most once."""

    @property
    def vote(self) -> float:
        """The vote of each for its class."""

    def rbf(self, projected: Matrix, rbf_of: RbfOf) -> tuple[Matrix, Matrix]:
        """Return the RBF (n, e) of projected points (n, d), and the values of `rbf_of`."""

    def by_projected(self, projected: Matrix, by_rbf: Matrix) -> Matrix:
        """Return the derivatives (n, d) of projected points from ``dRBF * RBF``, (n, e)."""


def squared_distances(parameters: Parameters, projected: Matrix) -> Matrix:
    """Return ``||c_j - p_i||^2`` of shape (n, m) for projected points of shape (n, d)."""
    C = parameters.prototypes
    squares: Matrix = projected @ C
    squares *= -2.0
    squares += np.einsum("ij,ij->i", projected, projected)[:, None]
    squares += np.einsum("ij,ij->j", C, C)
    return np.maximum(squares, 0.0, out=squares)


def rbf_values(parameters: Parameters, projected: Matrix) -> Matrix:
    """Return ``exp(-||c_j - p_i||^2)`` of shape (n, m) for projected points of shape (n, d)."""
    exponents = squared_distances(parameters, projected)
    np.negative(exponents, out=exponents)
    return np.exp(exponents, out=exponents)


def scores_of(parameters: Parameters, X: Matrix) -> Matrix:
    """Return the scores, of shape (n, L), of normalized points X of shape (n, D)."""
    rbf = rbf_values(parameters, X @ parameters.projection.T)
    scores: Matrix = rbf @ parameters.labels.T
    return scores


def objective(
    parameters: Parameters, X: Matrix, Y: Matrix, loss: Loss, weights: Matrix | None = None
) -> float:
    """Return the mean loss of normalized points X (n, D) with targets Y (n, L)."""
    return loss(scores_of(parameters, X), Y, parameters.sharpness, weights)[0]


def objective_gradient(
    parameters: Parameters,
    X: Matrix,
    Y: Matrix,
    loss: Loss,
    weights: Matrix | None = None,
    rbf_of: RbfOf = smooth_rbf,
    voters: BatchVoters | None = None,
) -> tuple[float, Parameters]:
    """Return `objective` and its gradient.

    With K the RBF (n, m), P the projected points (n, d), S the loss's derivative with respect to
    the scores (n, L), and ``A = -(S Z) * K`` the derivative with respect to the squared distances:
    ``dZ = S'K``, ``dC = 2 (C diag(A'1) - P'A)``, ``dP = 2 (diag(A 1) P - A C')``, ``dV = dP'X``.

    - `rbf_of`: from squared distances to RBF values, if not the exponential itself. The derivatives
      with respect to the distances remain those of the exponential, so that prototypes beyond the
      end of the table are still attracted.
    - `voters`: points that vote, too.
    """
    V, C, Z, sharpness = parameters
    projected = X @ V.T
    squares = squared_distances(parameters, projected)
    rbf = np.exp(-squares)
    seen = rbf_of(squares, rbf)
    scores = seen @ Z.T
    if voters is not None:
        near, voting = voters.rbf(projected, rbf_of)
        votes = np.float32(voters.vote) * Y[voters.rows]
        scores += voting @ votes
    value, by_scores, by_sharpness = loss(scores, Y, sharpness, weights)
    by_labels = by_scores.T @ seen
    by_squares = by_scores @ Z
    by_squares *= rbf
    np.negative(by_squares, out=by_squares)
    by_prototypes, by_projected = through_distances(C, projected, by_squares)
    if voters is not None:
        by_projected += voters.by_projected(projected, by_scores @ votes.T * near)
    return value, Parameters(by_projected.T @ X, by_prototypes, by_labels, by_sharpness)


def through_distances(C: Matrix, projected: Matrix, by_squares: Matrix) -> tuple[Matrix, Matrix]:
    """Return the derivatives with respect to C and P from those to the squared distances, A."""
    by_prototypes = 2.0 * (C * by_squares.sum(axis=0) - projected.T @ by_squares)
    by_projected = 2.0 * (projected * by_squares.sum(axis=1)[:, None] - by_squares @ C.T)
    return by_prototypes, by_projected
