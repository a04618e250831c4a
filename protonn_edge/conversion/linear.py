"""Convert a classifier of linear functions exactly to one of prototypes.

The class is that of the largest ``w_l z + c_l``. Take any point ``p = A z`` and prototypes

    b_l = b_0 + s A^-T w_l,   z_l = exp(gamma^2 (2 s c_l + ||b_l||^2))

Then ``log(z_l exp(-gamma^2 ||b_l - p||^2)) = 2 gamma^2 s (w_l z + c_l)`` plus a term common to
all classes: L prototypes, one per class, rank the classes as the linear functions do. They are in
the span of the differences of the w_l, which has at most L - 1 dimensions.

A, s, b_0 and gamma are free, and determine how well integers represent the model: points should be
within the prototypes' reach. A makes the spread within classes isotropic, as linear discriminants
do, and s and b_0 bring the prototypes as near as possible to the means of the classes.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from protonn_edge.conversion.affine import Float64
from protonn_edge.conversion.estimators import Indices, LinearRule
from protonn_edge.errors import InputError

REACHES = (1.5, 2.0, 3.0, 4.5)
"""Exponents to try of the RBF for the point at `_FARTHEST`; the table ends at 4.85."""

_FARTHEST = 0.999
_RANK_TOLERANCE = 1e-9
_SHRINKAGE = 1e-3


@dataclass(frozen=True, eq=False)
class Prototypes:
    """A ProtoNN model of an estimator's own features.

    Attributes
    ----------
    projection : ndarray of shape (d, k), float64
    prototypes : ndarray of shape (d, m), float64
    labels : ndarray of shape (L, m), float64
    gamma : float
    """

    projection: Float64
    prototypes: Float64
    labels: Float64
    gamma: float


def exact_prototypes(rule: LinearRule, Z: Float64, answers: Indices) -> list[Prototypes]:
    """Return models equivalent to the rule, one for each of `REACHES`.

    Parameters
    ----------
    rule : LinearRule
    Z : ndarray of shape (n, k), float64
        Representative points; only A, s, b_0 and gamma depend on them.
    answers : ndarray of shape (n,), int64
        The rule's answers for them.

    Raises
    ------
    InputError
        If the rule's functions are equal for all classes.
    """
    span = _span(rule.differences)
    W, centre = span @ rule.differences.T, span @ Z.mean(axis=0)  # (r, L), (r,)
    Q = Z @ span.T - centre
    intercepts = rule.intercepts + centre @ W
    means = _class_means(Q, answers, len(rule.intercepts))
    A, inverse = _whitening(Q - means[:, answers].T)
    P, directions, means = Q @ A.T, inverse.T @ W, A @ means
    s, b_0 = _placed(directions, means, np.bincount(answers, minlength=W.shape[1]))
    B = b_0[:, None] + s * directions
    squares = np.stack([np.square(P - b).sum(axis=1) for b in B.T]).min(axis=0)
    farthest = float(np.quantile(squares, _FARTHEST)) or 1.0
    norms = np.square(B).sum(axis=0)
    models = []
    for reach in REACHES:
        gamma_squared = reach / farthest
        exponents = gamma_squared * (2.0 * s * intercepts + norms)
        labels = np.diag(np.exp(exponents - exponents.max()))
        shifted = B + (A @ centre)[:, None]  # P is of centred points, the projection is not
        models.append(Prototypes(A @ span, shifted, labels, float(np.sqrt(gamma_squared))))
    return models


def _span(differences: Float64) -> Float64:
    """Return an orthonormal basis, (r, k), of the rows' span."""
    _, sizes, axes = np.linalg.svd(differences, full_matrices=False)
    rank = int(np.count_nonzero(sizes > _RANK_TOLERANCE * sizes[0]))
    if rank == 0:
        raise InputError(
            "the estimator has the same coefficients for all classes, so features decide nothing; "
            "fit it on data that tells the classes apart"
        )
    basis: Float64 = axes[:rank]
    return basis


def _class_means(Q: Float64, answers: Indices, n_classes: int) -> Float64:
    """Return the mean (r, L) of the points of each answer; without points, that of all."""
    counts = np.bincount(answers, minlength=n_classes)
    sums = np.stack([np.bincount(answers, column, n_classes) for column in Q.T])
    overall = Q.mean(axis=0)[:, None]
    means: Float64 = np.where(counts > 0, sums / np.maximum(counts, 1), overall)
    return means


def _whitening(residuals: Float64) -> tuple[Float64, Float64]:
    """Return the matrix (r, r) that makes residuals (n, r) isotropic, and its inverse."""
    scatter = residuals.T @ residuals / len(residuals)
    mean = float(np.trace(scatter)) / len(scatter)
    scatter[np.diag_indices_from(scatter)] += _SHRINKAGE * mean if mean > 0 else 1.0
    values, vectors = np.linalg.eigh(scatter)
    roots = np.sqrt(values)
    return (vectors / roots) @ vectors.T, (vectors * roots) @ vectors.T


def _placed(directions: Float64, means: Float64, counts: Indices) -> tuple[float, Float64]:
    """Return s > 0 and b_0 (r,) such that ``b_0 + s directions`` is nearest to the means (r, L)."""
    shares = counts / counts.sum()
    centred = directions - (directions @ shares)[:, None]
    along = float((centred * means * shares).sum())
    size = float((np.square(centred) * shares).sum())
    s = along / size if along > 0 and size > 0 else 1.0
    return s, (means - s * directions) @ shares
