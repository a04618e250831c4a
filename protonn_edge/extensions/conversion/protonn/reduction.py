"""Prototypes that answer almost like an estimator, and the sizes that fit."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace

import numpy as np

from protonn_edge.extensions.conversion.affine import Float64
from protonn_edge.extensions.conversion.search import (
    Candidate,
    FittedEstimator,
    ModelSearch,
    SizeLimit,
)
from protonn_edge.kinds.protonn.head import ProtoNNHead, rbf
from protonn_edge.kinds.protonn.prototypes.integers import RBF_CUTOFF
from protonn_edge.kinds.protonn.train.budget_rules import ModelSizes, sizes_within
from protonn_edge.kinds.protonn.train.classifier import ProtoNNClassifier
from protonn_edge.learn.calibration import fitted_sharpness
from protonn_edge.learn.initialization import (
    clustered_prototypes,
    initial_projection,
    median_gamma,
    principal_projection,
)
from protonn_edge.learn.normalization import normalizer_from
from protonn_edge.learn.points import Float32, Indices, sample_with_all_classes
from protonn_edge.model.model import Model
from protonn_edge.model.statistics import InputStatistics
from protonn_edge.system.errors import CheckFailed, InputError, InvalidValue, ProtoNNEdgeError

PROJECTIONS = 20
PROTOTYPES_A_CLASS, PROTOTYPES = 10, 40

_SHRINK = 0.85
GAMMA_NUMERATORS = (2.0, 1.4, 1.0, 0.7, 0.5, 0.2, 0.1)
"""Values to try for gamma times the median distance. The first is best on validation points of
USPS; the others are for outliers, which integers may not reach otherwise."""

_POINTS = 20_000
_RIDGE = 1e-3


def reduced_model(
    estimator: FittedEstimator,
    X: Float32,
    answers: Indices,
    inputs: InputStatistics,
    classes: tuple[str, ...],
    sizes: ModelSizes,
    seed: int,
    gamma_numerator: float,
) -> Model:
    """Return a model of raw features, with these statistics, that approximates the estimator.

    It reproduces the answers (n,) for raw representative points X (n, D), which must include every
    class. The last argument is gamma times the median distance between points and prototypes.
    Training and quantizing use this package's normalization; the estimator's is folded into W.
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
    normalizer = normalizer_from("standard", inputs)
    origin = W @ estimator.features.apply(normalizer.offset[None])[0]
    head = ProtoNNHead(
        projection=(estimator.features.weights(W) / normalizer.scale).astype(np.float32),
        prototypes=(B - origin[:, None]).astype(np.float32),
        labels=(labels * fitted_sharpness(K @ labels.T, answers)).astype(np.float32),
        gamma=gamma,
        cutoff=RBF_CUTOFF,
    )
    model = Model(head=head, normalizer=normalizer, inputs=inputs, classes=classes)
    return replace(model, feature_names=estimator.feature_names)


def _axes(estimator: FittedEstimator, Z: Float64, d: int) -> Float64:
    """Return W of shape (d, k), with fewer rows if there are fewer directions."""
    differences = estimator.rule.directions
    if differences is None:
        given = np.zeros(len(Z), np.int64), d, None, np.random.default_rng(0)  # d counts
        return initial_projection("pca", Z.astype(np.float32), *given).astype(np.float64)
    values = (Z @ differences.T).astype(np.float32)
    most = min(d, int(np.linalg.matrix_rank(differences)))
    directions: Float64 = principal_projection(values, most).astype(np.float64) @ differences
    return directions


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
    labels = np.linalg.solve(products + ridge * np.eye(len(products)), K.T @ targets)
    return np.asarray(labels.T, dtype=np.float64)


def reduced(search: ModelSearch) -> Candidate:
    """Return the largest reduced model that fits, trained if that is better."""
    if len(np.unique(search.answers)) < len(search.classes):
        raise InputError(
            f"the {search.estimator.name} predicts only {len(np.unique(search.answers)):,} of its "
            f"{len(search.classes):,} classes for these points; use points of "
            "every class, scaled as in its training"
        )
    start = _largest_that_fits(search)
    if start is None:
        raise CheckFailed(
            f"not even the smallest model of {search.X.shape[1]:,} features and "
            f"{len(search.classes):,} classes is small enough for the {search.limit.board.name} or "
            "the budget; use fewer features, or choose a larger board or budget"
        )
    if search.epochs == 0:
        return start
    learner = ProtoNNClassifier(
        initial_model=start.model, epochs=search.epochs, random_state=search.seed
    )
    trained = learner.fit(search.X, search.answers).to_model(
        classes=search.classes, feature_names=search.estimator.feature_names
    )
    candidates = [start]
    with suppress(ProtoNNEdgeError):  # too large, or without integers
        candidates.insert(0, search.candidate(*start.steps, ("trained", trained)))
    return max(candidates, key=lambda candidate: candidate.agreement)  # the first of equals


def _largest_that_fits(search: ModelSearch) -> Candidate | None:
    given = search.limit.n_projections is not None and search.limit.n_prototypes is not None
    for sizes in sizes_to_try(
        search.limit,
        n_features=search.X.shape[1],
        n_classes=len(search.classes),
        n_points=len(search.X),
        most_projections=_directions(search),
    ):
        try:
            return _reduced_candidate(search, sizes)
        except CheckFailed:
            if given:
                raise
    return None


def _reduced_candidate(search: ModelSearch, sizes: ModelSizes) -> Candidate:
    """Return a model of these sizes, with the narrowest RBF that can be quantized."""
    for numerator in GAMMA_NUMERATORS:
        given = search.estimator, search.X, search.answers, search.inputs, search.classes
        model = reduced_model(*given, sizes, search.seed, numerator)
        try:
            return search.candidate(("reduced", model))
        except InputError:  # the prototypes are too far apart for integers
            continue
    raise InvalidValue(
        "the points",
        "integers cannot represent both the outliers and the others",
        f"clip or scale the features, and fit the {search.estimator.name} again",
    )


def _directions(search: ModelSearch) -> int:
    """Return the maximum number of dimensions of the estimator's features."""
    directions = search.estimator.rule.directions
    if directions is None:
        return search.estimator.features.n_outputs
    return max(1, int(np.linalg.matrix_rank(directions)))


def sizes_to_try(
    limit: SizeLimit, *, n_features: int, n_classes: int, n_points: int, most_projections: int
) -> Iterator[ModelSizes]:
    """Yield sizes to try, largest first, with no more projections than are useful.

    If both d and m are given, these are the only sizes. Sizes whose parameters exceed the
    board's flash are left out.
    """
    sizes = {"n_features": n_features, "n_classes": n_classes, "n_points": n_points}
    given_d = None if limit.n_projections is None else min(limit.n_projections, most_projections)
    wanted = ModelSizes(
        given_d or min(PROJECTIONS, most_projections),
        min(limit.n_prototypes or max(PROTOTYPES, PROTOTYPES_A_CLASS * n_classes), n_points),
    )
    if limit.n_projections is not None and limit.n_prototypes is not None:
        yield wanted
        return
    taken = wanted.device_bytes(n_features, n_classes)
    budget = float(taken if limit.budget is None else limit.budget)
    if limit.budget is None and taken <= limit.board.flash_bytes:
        yield wanted
        budget *= _SHRINK
    budget = min(budget, limit.board.flash_bytes)
    while (largest := _within(int(budget), given_d, most_projections, sizes)) is not None:
        m = largest.n_prototypes
        yield ModelSizes(largest.n_projections, min(limit.n_prototypes or m, m))
        budget *= _SHRINK


def _within(
    budget: int, given_d: int | None, most_projections: int, sizes: dict[str, int]
) -> ModelSizes | None:
    """Return the sizes for a budget, None if it is too small for any."""
    try:
        largest = sizes_within(budget, n_projections=given_d, **sizes)
        if largest.n_projections > most_projections:
            largest = sizes_within(budget, n_projections=most_projections, **sizes)
    except InputError:
        return None
    return largest
