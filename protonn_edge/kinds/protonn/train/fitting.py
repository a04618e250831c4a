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
from protonn_edge.kinds.protonn.train.voters import voters_training
from protonn_edge.learn.initialization import (
    initial_parameters,
    initial_projection,
)
from protonn_edge.learn.learner import Learner
from protonn_edge.learn.loop import settled
from protonn_edge.learn.objective import Parameters
from protonn_edge.learn.points import Float32, Points
from protonn_edge.learn.progress import Learned, Trained
from protonn_edge.model.model import Model
from protonn_edge.system.errors import InputError

_PROTOTYPES_OF_ONE_CLASS = 32
_PROTOTYPES_PER_LABEL = 2  # as in the paper
_PROTOTYPES_FOR_LABELS = 200  # default maximum
_BATCH_SIZE = 256
_SPREAD = 0.8  # of prototypes at the start, as a share of what integers cover; training adds some


class ProtoNNLearner(Learner):
    """Learns a ProtoNN with the chosen optimizer."""

    settings: ProtoNNParameters

    def __init__(self, settings: ProtoNNParameters, seed: int) -> None:
        super().__init__(settings, seed)
        self._generator = np.random.default_rng(seed)
        self._voters = voters_training(settings)
        if self._voters.new_classes:  # training W would lose what distinguishes new classes
            trained = (name for name in settings.trained if name != "W")
            self.settings = settings.frozen(trained=tuple(trained))
        self._gamma = 1.0

    def fit(self, points: Points) -> Learned:
        """Learn W, B and Z; see `Learner.fit`."""
        self._voters.check(points.n_classes + self._voters.new_classes)
        other = self.settings.other_optimizer
        facts = {"trainer": "joint" if other is None else other.name, "input_noise": 0.0}
        with np.errstate(over="ignore", divide="ignore", invalid="ignore"):  # divergence is checked
            start = self._start(points)
            trained = self.settings.target.as_it_starts(start, points.X)
            if trained is None and other is not None:
                trained = other.minimize(start, points, self.settings, seed=self.seed)
            if trained is None:
                settings = settled(self.settings, points, self._generator, _BATCH_SIZE)
                facts["input_noise"] = float(settings.input_noise)
                trained = self._train_jointly(start, points, settings)
        facts["learning_rate"] = trained.learning_rate
        head = self._head(trained, points)
        return Learned(head, trained.history, trained.restarts, facts=facts)

    def _head(self, trained: Trained, points: Points) -> ProtoNNHead:
        """Return the matrices without gamma."""
        V, C, Z, sharpness = trained.parameters
        with np.errstate(over="ignore", invalid="ignore"):  # the head checks that all are finite
            W, B = ((matrix / self._gamma).astype(np.float32) for matrix in (V, C))
            Z = Z * np.exp(sharpness) if self.settings.learns_logits else Z
        return ProtoNNHead(
            projection=W,
            prototypes=B,
            labels=self._voters.labels(Z),
            gamma=self._gamma,
            cutoff=trained.cutoff,
            projection_bits=self.settings.weight_bits,
            voters=self._voters.voters(trained.parameters, points),
        )

    def _train_jointly(
        self, start: Parameters, points: Points, settings: ProtoNNParameters
    ) -> Trained:
        rounding = None
        if settings.quantization_aware and points.for_device:
            assert points.space is not None
            space = points.space
            rounding = QuantizationAware(
                self._gamma, space.normalizer, space.inputs, settings.weight_bits
            )
        return minimize(
            start,
            points,
            settings,
            seed=self.seed,
            quantization=rounding,
            voters=self._voters.drawn_voters(points.y, points.group, points.n_classes),
        )

    def _start(self, data: Points) -> Parameters:
        given = self.settings.initial_model
        if given is None:
            start = self._new_start(data)
        else:
            self._gamma = protonn_head(given, "training from a model").gamma
            logits = self.settings.learns_logits
            start = parameters_of(given, scores_are_logits=logits)
        check_gamma(self._gamma)
        if not all(np.isfinite(matrix).all() for matrix in start):
            raise InputError(
                f"with gamma {self._gamma:g}, the initial matrices have numbers too large for "
                "float32; try a smaller gamma or gamma_numerator, or other initial matrices"
            )
        return start

    def _new_start(self, data: Points) -> Parameters:
        settings, sizes = self.settings, self._sizes(data)
        start, self._gamma = initial_parameters(
            data.X,
            data.y,
            n_projections=sizes.n_projections,
            n_prototypes=sizes.n_prototypes,
            gamma_numerator=settings.gamma_numerator * self._voters.gamma_factor,
            generator=self._generator,
            weights=data.weight,
            projection=self._projection(data, sizes.n_projections),
            prototypes=settings.init_prototypes,
            gamma=settings.gamma,
            target=settings.target,
            widest=_SPREAD * widest_spread() if data.for_device else np.inf,
        )
        if data.has_strangers:  # for outliers' prototypes, which start without a label
            start = replace(start, labels=start.labels[: data.n_classes])
        return start

    def _projection(self, data: Points, n_projections: int) -> str | Float32:
        """Return how W starts or, with new classes, W itself: it also separates the groups.

        Directions that only separate the classes of the training can be blind to a new one.
        """
        kind, groups = self.settings.projection_start, data.group
        if not self._voters.new_classes or groups is None:
            return kind
        parts = np.unique(data.y * (groups.max() + 1) + groups, return_inverse=True)[1]
        X = data.X
        return initial_projection(kind, X, parts, n_projections, data.weight, self._generator)

    def _sizes(self, data: Points) -> ModelSizes:
        settings, kind = self.settings, self.settings.projection_start
        n_features = data.X.shape[1]
        if settings.budget is None:
            return ModelSizes(min(settings.n_projections, n_features), self._prototype_count(data))
        given = None if isinstance(kind, str) else len(kind)
        return sizes_within(
            settings.budget,
            n_features=n_features,
            n_classes=data.n_classes,
            n_points=data.n_rows,
            n_projections=n_features if isinstance(kind, str) and kind == "identity" else given,
            projection_bits=settings.weight_bits,
        )

    def _prototype_count(self, data: Points) -> int:
        count, n_classes = self.settings.n_prototypes, data.n_classes
        if count is None:
            return default_prototypes(n_classes, in_sets=data.labels.predicts == "labels")
        if count > data.n_rows:
            raise InputError(
                f"the number of prototypes is {count:,}, but the training data has "
                f"{data.n_rows:,} points; try fewer prototypes or more points"
            )
        return count


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
