"""Prototypes that give the answers of an estimator, exactly or nearly, and the sizes that fit.

A classifier of linear functions has an exact counterpart.

Its class has the largest ``w_l z + c_l``. Take any point ``p = A z`` and prototypes

    b_l = b_0 + s A^-T w_l,   z_l = exp(gamma^2 (2 s c_l + ||b_l||^2))

Then ``log(z_l exp(-gamma^2 ||b_l - p||^2)) = 2 gamma^2 s (w_l z + c_l)`` plus a term common to
all classes: L prototypes, one per class, rank the classes as the linear functions do. They are in
the span of the differences of the w_l, which has at most L - 1 dimensions.

A, s, b_0 and gamma are free, and determine how well integers represent the model: points should be
within the prototypes' reach. A makes the spread within classes isotropic, as linear discriminants
do, and s and b_0 bring the prototypes as near as possible to the means of the classes.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from protonn_edge.boards import Board
from protonn_edge.build.checks import check_estimate
from protonn_edge.chain.head import Remedies
from protonn_edge.chain.model import Model
from protonn_edge.chain.statistics import InputStatistics
from protonn_edge.codegen import Limits, Plan, make_plan
from protonn_edge.conversion.estimators import FittedEstimator, LinearRule
from protonn_edge.conversion.scaling import Float64
from protonn_edge.errors import CheckFailed, InputError
from protonn_edge.kinds.protonn.head import ProtoNNHead, rbf
from protonn_edge.kinds.protonn.prototypes.integers import RBF_CUTOFF
from protonn_edge.kinds.protonn.train.budget_rules import ModelSizes, sizes_within
from protonn_edge.quantization import IntegerChain
from protonn_edge.training.calibration import fitted_sharpness
from protonn_edge.training.initialization import (
    clustered_prototypes,
    median_gamma,
    principal_projection,
    sample_with_all_classes,
)
from protonn_edge.training.normalization import normalizer_from
from protonn_edge.training.points import Float32, Indices

REACHES = (1.5, 2.0, 3.0, 4.5)
"""Exponents to try of the RBF for the point at `_FARTHEST`; the table ends at 4.85."""

PROJECTIONS = 20
PROTOTYPES_A_CLASS, PROTOTYPES = 10, 40

_FARTHEST = 0.999
_RANK_TOLERANCE = 1e-9
_SHRINKAGE = 1e-3
_SHRINK = 0.85
GAMMA_NUMERATORS = (2.0, 1.4, 1.0, 0.7, 0.5, 0.2, 0.1)
"""Values to try for gamma times the median distance. The first is best on validation points of
USPS; the others are for outliers, which integers may not reach otherwise."""

_POINTS = 20_000
_RIDGE = 1e-3


@dataclass(frozen=True, eq=False)
class Prototypes:
    """A ProtoNN model of an estimator's own features."""

    projection: Float64  # (d, k)
    prototypes: Float64  # (d, m)
    labels: Float64  # (L, m)
    gamma: float


def exact_prototypes(rule: LinearRule, Z: Float64, answers: Indices) -> list[Prototypes]:
    """Return models equivalent to the rule, one for each of `REACHES`.

    Only A, s, b_0 and gamma depend on representative points Z (n, k), with the rule's answers (n,).
    Raises `InputError` if the rule's functions are equal for all classes.
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
            "the estimator has the same coefficients for all classes, so no feature affects the "
            "answer; fit it on data that separates the classes"
        )
    basis: Float64 = axes[:rank]
    return basis


def _class_means(Q: Float64, answers: Indices, n_classes: int) -> Float64:
    """Return the mean (r, L) of the points of each answer; of all points if it has none."""
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


def reduced_prototypes(
    estimator: FittedEstimator,
    X: Float32,
    answers: Indices,
    sizes: ModelSizes,
    seed: int,
    gamma_numerator: float = GAMMA_NUMERATORS[0],
) -> Prototypes:
    """Return a model of the estimator's own features that approximates the estimator.

    It answers like the estimator for raw representative points X (n, D), with every class among the
    answers (n,). The last number is gamma times the median distance of points from prototypes.
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
) -> Model:
    """Return prototypes among an estimator's own features as a model of raw features.

    Training and quantizing use this package's own normalization; the estimator's becomes part of W.
    """
    normalizer = normalizer_from("standard", inputs)
    W = estimator.features.weights(found.projection)
    origin = found.projection @ estimator.features.apply(normalizer.offset[None])[0]
    head = ProtoNNHead(
        projection=(W / normalizer.scale).astype(np.float32),
        prototypes=(found.prototypes - origin[:, None]).astype(np.float32),
        labels=found.labels.astype(np.float32),
        gamma=found.gamma,
        cutoff=cutoff,
    )
    model = Model(head=head, normalizer=normalizer, inputs=inputs, classes=classes)
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


@dataclass(frozen=True)
class SizeLimit:
    """The size limits of a converted model."""

    board: Board  # the board that its firmware must fit
    budget: int | None = None  # bytes of int8 parameters
    n_projections: int | None = None  # d and m, if they are given
    n_prototypes: int | None = None
    smaller: str = "fewer projections or prototypes"  # what makes a model fit

    def plan(self, model: IntegerChain) -> Plan:
        """Return the fastest plan that fits the board and the budget, or raise `CheckFailed`."""
        limits = Limits.of(self.board)
        plan = make_plan(model, limits)
        remedies = Remedies((self.smaller,), self.smaller, self.smaller, self.smaller)
        check_estimate(plan, self.board, remedies)
        if not limits.hold(plan):
            raise CheckFailed(
                f"needs about {plan.flash_bytes:,} B flash and {plan.sram_bytes:,} B SRAM, "
                f"{self.board.name} has {self.board.flash_bytes:,} and {self.board.sram_bytes:,}; "
                f"try {self.smaller}"
            )
        if self.budget is not None and model.model_bytes > self.budget:
            raise CheckFailed(
                f"takes {model.model_bytes:,} B of int8 parameters, but the budget is "
                f"{self.budget:,}; try {self.smaller}"
            )
        return plan

    def sizes(
        self, *, n_features: int, n_classes: int, n_points: int, most_projections: int
    ) -> Iterator[ModelSizes]:
        """Yield sizes to try, the largest first, with no more projections than are useful.

        It is only one if both are given. Sizes that alone exceed the board's flash are left out.
        """
        sizes = {"n_features": n_features, "n_classes": n_classes, "n_points": n_points}
        given_d = None if self.n_projections is None else min(self.n_projections, most_projections)
        wanted = ModelSizes(
            given_d or min(PROJECTIONS, most_projections),
            min(self.n_prototypes or max(PROTOTYPES, PROTOTYPES_A_CLASS * n_classes), n_points),
        )
        if self.n_projections is not None and self.n_prototypes is not None:
            yield wanted
            return
        taken = wanted.device_bytes(n_features, n_classes)
        budget = float(taken if self.budget is None else self.budget)
        if self.budget is None and taken <= self.board.flash_bytes:
            yield wanted
            budget *= _SHRINK
        budget = min(budget, self.board.flash_bytes)
        while (found := _within(int(budget), given_d, most_projections, sizes)) is not None:
            m = found.n_prototypes
            yield ModelSizes(found.n_projections, min(self.n_prototypes or m, m))
            budget *= _SHRINK


def _within(
    budget: int, given_d: int | None, most_projections: int, sizes: dict[str, int]
) -> ModelSizes | None:
    """Return the sizes for a budget, None if it is too small for any."""
    try:
        found = sizes_within(budget, n_projections=given_d, **sizes)
        if found.n_projections > most_projections:
            found = sizes_within(budget, n_projections=most_projections, **sizes)
    except InputError:
        return None
    return found
