"""Reduce a rule that compares with thousands of points to few prototypes in few dimensions.

1. **Projection**: the principal axes of the points in the estimator's features, of which it
   measures distances; for linear functions, those of the functions' values.
2. **Prototypes**: the estimator's own, support vectors or training points, if they are few enough;
   else the points that it answers alike are clustered, class by class.
3. **Label vectors**: regularized least squares to the estimator's answers, and then one factor for
   all of them that makes scores logits.

Training does the rest (`converting`). The factor is most important for it, because the
cross-entropy cannot learn from scores that hardly differ.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from protonn_edge.conversion.affine import Float64
from protonn_edge.conversion.estimators import FittedEstimator, Indices, LinearRule
from protonn_edge.conversion.linear import Prototypes
from protonn_edge.model import InputStatistics, ProtoNNModel, rbf
from protonn_edge.stages.prototypes.exponential import RBF_CUTOFF
from protonn_edge.training.budget_rules import ModelSizes
from protonn_edge.training.calibration import fitted_sharpness
from protonn_edge.training.initialization import (
    clustered_prototypes,
    median_gamma,
    principal_projection,
    sample_with_all_classes,
)
from protonn_edge.training.normalization import normalizer_from
from protonn_edge.training.points import Float32

GAMMA_NUMERATORS = (2.0, 1.4, 1.0, 0.7, 0.5, 0.2, 0.1)
"""Values to try for gamma times the median distance. The first is best on validation points of
USPS; the others are for outliers, which integers may not reach otherwise."""

_POINTS = 20_000
_RIDGE = 1e-3


def reduced_prototypes(
    estimator: FittedEstimator,
    X: Float32,
    answers: Indices,
    sizes: ModelSizes,
    seed: int,
    gamma_numerator: float = GAMMA_NUMERATORS[0],
) -> Prototypes:
    """Return a model of the estimator's own features that approximates the estimator.

    Parameters
    ----------
    estimator : FittedEstimator
    X : ndarray of shape (n, D), float32
        Raw representative points.
    answers : ndarray of shape (n,), int64
        The estimator's answers for them, with every class.
    sizes : ModelSizes
        d and m.
    seed : int
        Everything random follows from it.
    gamma_numerator : float
        Gamma times the median distance of points from prototypes.
    """
    generator = np.random.default_rng(seed)
    if len(X) > _POINTS:
        rows = sample_with_all_classes(answers, _POINTS, generator)
        X, answers = X[rows], answers[rows]
    Z = estimator.features.apply(X)
    W = _axes(estimator, Z, sizes.n_projections)
    projected = (Z @ W.T).astype(np.float32)
    B = _chosen(estimator, W, projected, answers, sizes.n_prototypes, generator)
    gamma = median_gamma(projected, B.astype(np.float32), gamma_numerator, generator)
    K = rbf(projected.astype(np.float64), B, gamma, RBF_CUTOFF)
    labels = _fitted_labels(K, np.eye(int(answers.max()) + 1)[answers])
    return Prototypes(W, B, labels * fitted_sharpness(K @ labels.T, answers), gamma)


def as_model(
    found: Prototypes,
    estimator: FittedEstimator,
    inputs: InputStatistics,
    classes: tuple[str, ...],
    cutoff: float,
) -> ProtoNNModel:
    """Return prototypes among an estimator's own features as a model of raw features.

    Training and quantizing use this package's own normalization; the estimator's becomes part of W.
    """
    normalizer = normalizer_from("standard", inputs)
    W = estimator.features.weights(found.projection)
    origin = found.projection @ estimator.features.apply(normalizer.offset[None])[0]
    model = ProtoNNModel(
        projection=(W / normalizer.scale).astype(np.float32),
        prototypes=(found.prototypes - origin[:, None]).astype(np.float32),
        labels=found.labels.astype(np.float32),
        gamma=found.gamma,
        normalizer=normalizer,
        inputs=inputs,
        classes=classes,
        cutoff=cutoff,
    )
    return replace(model, feature_names=estimator.feature_names)


def _axes(estimator: FittedEstimator, Z: Float64, d: int) -> Float64:
    """Return W of shape (d, k), or of fewer rows if there are fewer directions."""
    if not isinstance(estimator.rule, LinearRule):
        axes: Float64 = principal_projection(Z.astype(np.float32), d).astype(np.float64)
        return axes
    differences = estimator.rule.differences
    values = (Z @ differences.T).astype(np.float32)
    most = min(d, int(np.linalg.matrix_rank(differences)))
    found: Float64 = principal_projection(values, most).astype(np.float64) @ differences
    return found


def _chosen(
    estimator: FittedEstimator,
    W: Float64,
    projected: Float32,
    answers: Indices,
    count: int,
    generator: np.random.Generator,
) -> Float64:
    """Return the prototypes (d, m)."""
    landmarks = estimator.rule.landmarks
    if landmarks is not None and len(landmarks) <= count:
        own: Float64 = W @ landmarks.T
        return own
    B, _ = clustered_prototypes(projected, answers, min(count, len(projected)), generator)
    return B.astype(np.float64)


def _fitted_labels(K: Float64, targets: Float64) -> Float64:
    """Return Z (L, m) for which K (n, m) is nearest to the targets (n, L)."""
    products = K.T @ K
    ridge = _RIDGE * float(np.trace(products)) / len(products) + 1e-12
    found = np.linalg.solve(products + ridge * np.eye(len(products)), K.T @ targets)
    return np.asarray(found.T, dtype=np.float64)
