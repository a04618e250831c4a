"""Losses besides the cross-entropy: the paper's, and that of stochastic neighbour compression."""

from __future__ import annotations

import numpy as np

from protonn_edge.learn.objective import Loss, Matrix, cross_entropy, mean_loss, weighted

_LEAST_SHARE = 1e-4  # of a class, so that prototypes cannot all move away together


def squared_error(
    scores: Matrix, Y: Matrix, sharpness: Matrix, weights: Matrix | None
) -> tuple[float, Matrix, Matrix]:
    """Return the mean of ``||s_i - y_i||^2`` (paper, equation 2) and its derivatives."""
    residual = scores - Y
    value = mean_loss(np.einsum("ij,ij->i", residual, residual), weights)
    residual *= 2.0 / len(Y)
    return value, weighted(residual, weights), np.zeros_like(sharpness)


def hinge(
    scores: Matrix, Y: Matrix, sharpness: Matrix, weights: Matrix | None
) -> tuple[float, Matrix, Matrix]:
    """Return the mean of ``sum_l max(0, 1 - (2 y_il - 1) (2 s_il - 1))`` and its derivatives.

    It compares one class or label with the rest: the score should be at least 1 for the point's own
    classes, and at most 0, as far from prototypes, for others.
    """
    sides = 2.0 * Y - 1.0
    missing = 1.0 - sides * (2.0 * scores - 1.0)
    np.maximum(missing, 0.0, out=missing)
    value = mean_loss(missing.sum(axis=1), weights)
    slope = (missing > 0) * sides
    slope *= -2.0 / len(Y)
    return value, weighted(slope, weights), np.zeros_like(sharpness)


def neighbour_likelihood(
    scores: Matrix, Y: Matrix, sharpness: Matrix, weights: Matrix | None
) -> tuple[float, Matrix, Matrix]:
    """Return the mean of ``-log(s_iy / sum_l s_il)``, negative scores as 0, and its derivatives.

    If each prototype has a fixed class, the share is the probability that a randomly drawn
    neighbour is of the point's class: the loss of stochastic neighbour compression (Kusner et al.,
    ICML 2014, equation 3).
    """
    shares = np.maximum(scores, 0.0) + scores.dtype.type(_LEAST_SHARE)
    totals, labels = shares.sum(axis=1), Y.sum(axis=1)
    losses = labels * np.log(totals) - np.einsum("ij,ij->i", Y, np.log(shares))
    slope = (labels / totals)[:, None] - Y / shares
    slope *= (scores > 0) / scores.dtype.type(len(Y))
    return mean_loss(losses, weights), weighted(slope, weights), np.zeros_like(sharpness)


LOSSES: dict[str, Loss] = {
    "cross_entropy": cross_entropy,
    "squared_error": squared_error,
    "hinge": hinge,
    "neighbour_likelihood": neighbour_likelihood,
}


def loss_named(name: str) -> Loss:
    """Return a loss by its name."""
    return LOSSES[name]
