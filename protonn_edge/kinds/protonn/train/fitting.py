"""Training one ProtoNN: sizes, initial values, optimizer, resulting model."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from protonn_edge.kinds.protonn.head import ProtoNNHead, check_gamma, protonn_head
from protonn_edge.kinds.protonn.parameters import PROTOTYPES_PER_CLASS, ProtoNNParameters
from protonn_edge.kinds.protonn.quantize import widest_spread
from protonn_edge.kinds.protonn.train.budget_rules import ModelSizes, sizes_within
from protonn_edge.kinds.protonn.train.joint import minimize
from protonn_edge.kinds.protonn.train.rounding import QuantizationAware
from protonn_edge.learn.initialization import (
    initial_parameters,
    initial_projection,
)
from protonn_edge.learn.loop import settled
from protonn_edge.learn.objective import Parameters
from protonn_edge.learn.points import Float32
from protonn_edge.learn.progress import Learned
from protonn_edge.learn.training_set import TrainingSet
from protonn_edge.model.model import Model
from protonn_edge.system.errors import InputError

_PROTOTYPES_OF_ONE_CLASS = 32
_PROTOTYPES_PER_LABEL = 2  # as in the paper
_PROTOTYPES_FOR_LABELS = 200  # default maximum
_BATCH_SIZE = 256
_SPREAD = 0.8  # of prototypes at the start, as a share of what integers cover; training adds some


def learned_head(settings: ProtoNNParameters, data: TrainingSet) -> Learned:
    """Learn W, B and Z with the chosen optimizer; see `DeviceClassifier.learn`."""
    generator, voters = np.random.default_rng(data.seed), settings.voters_training
    if voters is not None:
        voters.check(data.n_classes + voters.new_classes)
        if voters.new_classes:  # training W would lose what distinguishes new classes
            settings = settings.frozen(trained=tuple(n for n in settings.trained if n != "W"))
    other = settings.other_optimizer
    facts = {"trainer": "joint" if other is None else other.name, "input_noise": 0.0}
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):  # divergence is checked
        start, gamma = _start(settings, data, generator)
        target = settings.target
        if target.as_it_starts is not None:
            trained = target.as_it_starts(start, data.points.X)
        elif other is not None:
            trained = other.minimize(start, data, settings)
        else:
            settings = settled(settings, data, generator, _BATCH_SIZE)
            facts["input_noise"] = float(settings.input_noise)
            rounding, space = None, data.space
            if settings.quantization_aware and data.for_device:
                bits = settings.weight_bits
                rounding = QuantizationAware(gamma, space.normalizer, space.inputs, bits)
            drawn = None if voters is None else voters.drawn_voters(data)
            trained = minimize(start, data, settings, rounding, drawn)
    facts["learning_rate"] = trained.learning_rate
    V, C, Z, sharpness = trained.parameters
    with np.errstate(over="ignore", invalid="ignore"):  # the head checks that all are finite
        W, B = ((matrix / gamma).astype(np.float32) for matrix in (V, C))
        Z = Z * np.exp(sharpness) if settings.learns_logits else Z
    head = ProtoNNHead(
        projection=W,
        prototypes=B,
        labels=Z if voters is None else voters.labels(Z),
        gamma=gamma,
        cutoff=trained.cutoff,
        projection_bits=settings.weight_bits,
        voters=None if voters is None else voters.voters(trained.parameters, data),
    )
    return Learned(head, trained.history, trained.restarts, facts=facts)


def _start(
    settings: ProtoNNParameters, data: TrainingSet, generator: np.random.Generator
) -> tuple[Parameters, float]:
    """Return the initial parameters, and gamma, which is folded into them."""
    given, points, voters = settings.initial_model, data.points, settings.voters_training
    if given is not None:
        gamma = protonn_head(given, "training from a model").gamma
        start = parameters_of(given, scores_are_logits=settings.learns_logits)
    else:
        sizes = _sizes(settings, data)
        votes_share = 1 if voters is None else voters.gamma_factor
        start, gamma = initial_parameters(
            points.X,
            points.y,
            n_projections=sizes.n_projections,
            n_prototypes=sizes.n_prototypes,
            gamma_numerator=settings.gamma_numerator * votes_share,
            generator=generator,
            weights=points.weight,
            projection=_projection(settings, data, sizes.n_projections, generator),
            prototypes=settings.init_prototypes,
            gamma=settings.gamma,
            target=settings.target,
            widest=_SPREAD * widest_spread() if data.for_device else np.inf,
        )
        if data.has_strangers:  # for outliers' prototypes, which start without a label
            start = replace(start, labels=start.labels[: data.n_classes])
    check_gamma(gamma)
    if not all(np.isfinite(matrix).all() for matrix in start):
        raise InputError(
            f"with gamma {gamma:g}, the initial matrices have numbers too large for float32; try a "
            "smaller gamma or gamma_numerator, or other initial matrices"
        )
    return start, gamma


def _projection(
    settings: ProtoNNParameters,
    data: TrainingSet,
    n_projections: int,
    generator: np.random.Generator,
) -> str | Float32:
    """Return how W starts or, with new classes, W itself: it also separates the groups.

    Directions that only separate the classes of the training can be blind to a new one.
    """
    kind, points = settings.projection_start, data.points
    groups, voters = points.group, settings.voters_training
    if voters is None or not voters.new_classes or groups is None:
        return kind
    parts = np.unique(points.y * (groups.max() + 1) + groups, return_inverse=True)[1]
    return initial_projection(kind, points.X, parts, n_projections, points.weight, generator)


def _sizes(settings: ProtoNNParameters, data: TrainingSet) -> ModelSizes:
    """Return d and m, as given or by the budget."""
    kind, n_features = settings.projection_start, data.points.X.shape[1]
    if settings.budget is not None:
        given = None if isinstance(kind, str) else len(kind)
        return sizes_within(
            settings.budget,
            n_features=n_features,
            n_classes=data.n_classes,
            n_points=data.n_rows,
            n_projections=n_features if isinstance(kind, str) and kind == "identity" else given,
            projection_bits=settings.weight_bits,
        )
    count = settings.n_prototypes
    if count is None:
        count = default_prototypes(data.n_classes, in_sets=data.labels.predicts == "labels")
    elif count > data.n_rows:
        raise InputError(
            f"the number of prototypes is {count:,}, but the training data has {data.n_rows:,} "
            "points; try fewer prototypes or more points"
        )
    return ModelSizes(min(settings.n_projections, n_features), count)


def default_prototypes(n_classes: int, *, in_sets: bool = False) -> int:
    """Return the default number of prototypes.

    It does not depend on the number of points, since a point of weight 2 counts as two.
    """
    if n_classes == 1:
        return _PROTOTYPES_OF_ONE_CLASS
    if in_sets:
        return min(_PROTOTYPES_PER_LABEL * n_classes, _PROTOTYPES_FOR_LABELS)
    return n_classes * PROTOTYPES_PER_CLASS


def parameters_of(model: Model, *, scores_are_logits: bool) -> Parameters:
    """Return a model's matrices with its gamma folded in.

    - `model`: a ProtoNN whose classes are in the order of the sorted labels, as in an estimator.
    - `scores_are_logits`: whether the loss learns a sharpness, which a model includes in Z.
    """
    head = protonn_head(model, "training from a model")
    fold = np.float32(head.gamma)
    largest = float(np.abs(head.labels).max())
    scale = np.float32(largest if scores_are_logits and largest > 0 else 1.0)
    sharpness = np.array([np.log(scale)], dtype=np.float32)
    with np.errstate(over="ignore"):  # the caller checks that all are finite
        return Parameters(
            head.projection * fold, head.prototypes * fold, head.labels / scale, sharpness
        )
