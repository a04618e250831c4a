"""Training one ProtoNN: sizes, initial values, optimizer, resulting model.

`GroupShift` moves points from their group towards another one. If points come in groups, such as
people, days or sensors, the groups' points of a class mostly differ by their mean: one person walks
faster, another wears the watch higher. A point that is moved by the difference of two groups' class
means resembles a point of the other group; points in between and beyond resemble groups that were
not recorded.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from protonn_edge.chain.model import Model
from protonn_edge.errors import InputError
from protonn_edge.kinds.protonn.head import ProtoNNHead, check_gamma, protonn_head
from protonn_edge.kinds.protonn.parameters import PROTOTYPES_PER_CLASS, ProtoNNParameters
from protonn_edge.kinds.protonn.quantize import widest_spread
from protonn_edge.kinds.protonn.train.budget_rules import ModelSizes, sizes_within
from protonn_edge.kinds.protonn.train.joint import Augment, QuantizationAware, minimize
from protonn_edge.kinds.protonn.train.voters import voters_training
from protonn_edge.training.answers import with_new_names
from protonn_edge.training.augmentation import ImageAugmentation
from protonn_edge.training.initialization import (
    initial_parameters,
    initial_projection,
)
from protonn_edge.training.loop import settled
from protonn_edge.training.mapped_rows import in_memory
from protonn_edge.training.objective import Parameters
from protonn_edge.training.points import Float32, Indices, TrainingSet
from protonn_edge.training.preparation import PreparedPoints
from protonn_edge.training.progress import Trained

_OWN_WAY = np.float32(0.2)  # deviation of a class's mean in unrecorded groups


class GroupShift:
    """Shifts the points of batches.

    - `X` (n, D): normalized points.
    - `y` (n,): class indices.
    - `groups` (n,): the group of each point.
    - `weights` (n,): weight of each point in its group's mean.
    - `strength`: maximum shift: 1 reaches the other group, 2 goes twice as far.
    - `augment`: other augmentation, applied first.
    - `together`: whether all points of a class and group move together, which makes new groups.
    """

    def __init__(
        self,
        X: Float32,
        y: Indices,
        groups: Indices,
        weights: Float32 | None,
        strength: float,
        augment: Augment | None = None,
        together: bool = False,
    ) -> None:
        self._X, self._strength, self._augment = X, np.float32(strength), augment
        self._together = together
        # A part is a class in a group; the parts of a class are consecutive.
        n_groups = int(groups.max()) + 1
        parts, self._part_of = np.unique(y * n_groups + groups, return_inverse=True)
        self._means = np.stack(
            [_mean(X, weights, self._part_of == part) for part in range(len(parts))]
        )
        self._varying = X.min(axis=0) < X.max(axis=0)
        self._means[:, ~self._varying] = 0  # constant features stay constant
        classes = parts // n_groups
        self._first = np.searchsorted(classes, classes, side="left")
        self._parts_of_class = np.searchsorted(classes, classes, side="right") - self._first

    def __call__(self, rows: Indices, generator: np.random.Generator) -> Float32:
        """Return the points of these rows, each shifted towards a random group."""
        points = self._X[rows] if self._augment is None else self._augment(rows, generator)
        own = self._part_of[rows]
        moving = np.arange(len(self._means)) if self._together else own
        other = self._first[moving] + generator.integers(self._parts_of_class[moving])
        shares = self._strength * generator.random((len(moving), 1), dtype=np.float32)
        shifts: Float32 = shares * (self._means[other] - self._means[moving])
        if self._together:
            noise = generator.standard_normal(shifts.shape, dtype=np.float32)
            shifts = (shifts + _OWN_WAY * noise * self._varying)[own]
        return points + shifts


def _mean(X: Float32, weights: Float32 | None, chosen: NDArray[np.bool_]) -> Float32:
    """Return the weighted mean (D,) of some of the points."""
    points, counts = X[chosen].astype(np.float64), None if weights is None else weights[chosen]
    return np.average(points, axis=0, weights=counts).astype(np.float32)


_PROTOTYPES_OF_ONE_CLASS = 32
_PROTOTYPES_PER_LABEL = 2  # as in the paper
_PROTOTYPES_FOR_LABELS = 200  # default maximum
_BATCH_SIZE = 256
_SPREAD = 0.8  # of prototypes at the start, as a share of what integers cover; training adds some


class ProtoNNTraining:
    """The training of one model, with these settings, on given points."""

    def __init__(self, settings: ProtoNNParameters, prepared: PreparedPoints) -> None:
        self.prepared = prepared
        self.input_noise = 0.0  # deviation of the noise added to normalized features
        self._settings = settings
        self._voters = voters_training(settings)
        if self._voters.new_classes:  # training W would lose what distinguishes new classes
            trained = (name for name in settings.trained if name != "W")
            self._settings = settings.frozen(trained=tuple(trained))
        self._gamma = 1.0
        self._voters.check(prepared.n_classes + self._voters.new_classes)

    def train(self) -> Trained:
        """Run the chosen optimizer and return its result, with gamma folded in."""
        with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
            data = self.prepared.training_set()  # divergence is checked
            augment = self._augmentation(data)
            start = self._start(data.sample(self.prepared.generator))
            if trained := self._settings.target.as_it_starts(start, data.X):
                return trained
            if (other := self._settings.other_optimizer) is not None:
                taught: Trained = other.minimize(
                    start, data, self._settings, seed=self.prepared.seed
                )
                return taught
            return self._train_jointly(start, data, augment)

    def model(self, trained: Trained) -> Model:
        """Return the trained model."""
        V, C, Z, sharpness = trained.parameters
        with np.errstate(over="ignore", invalid="ignore"):  # the model checks that all are finite
            W, B = ((matrix / self._gamma).astype(np.float32) for matrix in (V, C))
            Z = Z * np.exp(sharpness) if self._settings.loss == "cross_entropy" else Z
        settings = self._settings
        head = ProtoNNHead(
            projection=W,
            prototypes=B,
            labels=self._voters.labels(Z),
            gamma=self._gamma,
            cutoff=trained.cutoff,
            projection_bits=settings.weight_bits,
            voters=self._voters.voters(trained.parameters, self.prepared.training_set()),
        )
        parts = self.prepared.parts
        parts["classes"] = with_new_names(parts["classes"], self._voters.new_classes)
        return Model(head=head, **parts)

    def settle(self, points: Any, generator: np.random.Generator) -> ProtoNNParameters:
        """Resolve the automatic settings of the joint optimizer for normalized points (n, D)."""
        kind = self.prepared.normalizer.kind
        settings = settled(self._settings, points, generator, kind, _BATCH_SIZE)
        self.input_noise = float(settings.input_noise)
        return settings

    def _train_jointly(
        self, start: Parameters, data: TrainingSet, augment: Augment | None
    ) -> Trained:
        prepared = self.prepared
        settings = self.settle(data.X, prepared.generator)
        rounding = QuantizationAware(
            self._gamma, prepared.normalizer, prepared.inputs, settings.weight_bits
        )
        return minimize(
            start,
            data,
            settings,
            seed=prepared.seed,
            quantization=rounding if settings.quantization_aware and prepared.for_device else None,
            augment=augment,
            voters=self._voters.drawn_voters(data.y, prepared.groups, prepared.n_classes),
        )

    def _augmentation(self, data: TrainingSet) -> Augment | None:
        """Return the augmentation of batches: image distortions, then the shift between groups."""
        settings, prepared = self._settings, self.prepared
        augment: Augment | None = None
        if settings.augment:
            assert settings.image_shape is not None
            shape, normalizer = settings.image_shape, prepared.normalizer
            features, share = prepared.making.apply, float(settings.augment)
            raw = in_memory(prepared.raw, "augment")
            augment = ImageAugmentation(raw, shape, normalizer, features, share)
        if prepared.groups is None or self._voters.new_classes:
            return augment
        strength = float(settings.group_shift)
        groups, weights, together = prepared.groups, data.weights, self._voters.in_groups
        X = in_memory(data.X, "group_shift")
        return GroupShift(X, data.y, groups, weights, strength, augment, together)

    def _start(self, data: TrainingSet) -> Parameters:
        given = self._settings.initial_model
        if given is None:
            start = self._new_start(data)
        else:
            self._gamma = protonn_head(given, "training from a model").gamma
            logits = self._settings.loss == "cross_entropy"
            start = parameters_of(given, scores_are_logits=logits)
        check_gamma(self._gamma)
        if not all(np.isfinite(matrix).all() for matrix in start):
            raise InputError(
                f"with gamma {self._gamma:g}, the initial matrices have numbers too large for "
                "float32; try a smaller gamma or gamma_numerator, or other initial matrices"
            )
        return start

    def _new_start(self, data: TrainingSet) -> Parameters:
        settings, sizes = self._settings, self._sizes(data.X.shape[1])
        start, self._gamma = initial_parameters(
            in_memory(data.X, "the start of the training"),
            data.y,
            n_projections=sizes.n_projections,
            n_prototypes=sizes.n_prototypes,
            gamma_numerator=settings.gamma_numerator * self._voters.gamma_factor,
            generator=self.prepared.generator,
            weights=data.weights,
            projection=self._projection(data, sizes.n_projections),
            prototypes=settings.init_prototypes,
            gamma=settings.gamma,
            target=settings.target,
            widest=_SPREAD * widest_spread() if self.prepared.for_device else np.inf,
        )
        if data.outlier_exposure:  # for outliers' prototypes, which start without a label
            start = replace(start, labels=start.labels[: self.prepared.n_classes])
        return start

    def _projection(self, data: TrainingSet, n_projections: int) -> str | Float32:
        """Return how W starts or, with new classes, W itself: it also separates the groups.

        Directions that only separate the classes of the training can be blind to a new one.
        """
        kind, groups = self._settings.projection_start, self.prepared.groups
        if not self._voters.new_classes or groups is None:
            return kind
        parts = np.unique(data.y * (groups.max() + 1) + groups, return_inverse=True)[1]
        generator, X = self.prepared.generator, in_memory(data.X, "new_classes")
        return initial_projection(kind, X, parts, n_projections, data.weights, generator)

    def _sizes(self, n_features: int) -> ModelSizes:
        settings, kind = self._settings, self._settings.projection_start
        if settings.budget is None:
            d = min(settings.n_projections, n_features)
            return ModelSizes(d, self._prototype_count())
        given = None if isinstance(kind, str) else len(kind)
        return sizes_within(
            settings.budget,
            n_features=n_features,
            n_classes=self.prepared.n_classes,
            n_points=self.prepared.n_rows,
            n_projections=n_features if isinstance(kind, str) and kind == "identity" else given,
            projection_bits=settings.weight_bits,
        )

    def _prototype_count(self) -> int:
        count, n_classes = self._settings.n_prototypes, self.prepared.n_classes
        if count is None:
            return default_prototypes(n_classes, multilabel=not self.prepared.target.for_devices)
        if count > self.prepared.n_rows:
            raise InputError(
                f"the number of prototypes is {count:,}, but the training data has "
                f"{self.prepared.n_rows:,} points; try fewer prototypes or more points"
            )
        return count


def default_prototypes(n_classes: int, *, multilabel: bool = False) -> int:
    """Return the default number of prototypes.

    It does not depend on the number of points, since a point of weight 2 counts as two.
    """
    if n_classes == 1:
        return _PROTOTYPES_OF_ONE_CLASS
    if multilabel:
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
