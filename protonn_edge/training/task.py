"""One call of `fit`: from an estimator's settings and its data to an optimizer, and to a model."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from protonn_edge.errors import InputError
from protonn_edge.model import InputStatistics, Normalizer, ProtoNNModel
from protonn_edge.reduction import Reduction, reduction_for
from protonn_edge.training.alternating import AlternatingSchedule, alternate, batch_size_for
from protonn_edge.training.augmentation import ImageAugmentation, check_image_shape
from protonn_edge.training.initialization import initial_parameters
from protonn_edge.training.joint import Schedule, minimize
from protonn_edge.training.normalization import fitted_normalizer, neighbour_noise
from protonn_edge.training.objective import Parameters
from protonn_edge.training.points import Float32, Indices, TrainingSet
from protonn_edge.training.progress import Trained
from protonn_edge.training.quantization_aware import QuantizationAware
from protonn_edge.training.warm_start import check_sizes, parameters_of

if TYPE_CHECKING:
    from protonn_edge.training.estimator import ProtoNNClassifier

_PROTOTYPES_PER_CLASS = 4
_BATCH_SIZE = 256


class Task:
    """What the settings mean for these points.

    Parameters
    ----------
    settings : ProtoNNClassifier
        Its parameters, checked.
    points : ndarray of shape (n, features), float32
        Raw features, distinct.
    y : ndarray of shape (n,), int64
        Class indices from 0; each class has at least one point.
    weights : ndarray of shape (n,), float32, or None
        What each point counts, 1 on average.
    seed : int
        Everything random follows from it.

    Attributes
    ----------
    test : tuple of (n', D) float32 and (n',) int64, or None
        Raw points and classes to report on.
    input_noise : float
        Deviation of the noise that training added to the normalized features.
    """

    def __init__(
        self,
        settings: ProtoNNClassifier,
        points: Float32,
        y: Indices,
        weights: Float32 | None,
        *,
        seed: int,
    ) -> None:
        self.seed = seed
        self.input_noise = 0.0
        self.test: tuple[Float32, Indices] | None = None
        self._settings = settings
        self._raw, self._y, self._weights = points, y, weights
        self._generator = np.random.default_rng(seed)
        self._reduction = self._chosen_reduction()
        self._points = self._reduced(points)
        self._inputs = self._statistics()
        self._normalizer = self._chosen_normalizer()
        self._gamma = 1.0

    def train(self) -> Trained:
        """Return what the chosen optimizer found, in folded parameters."""
        augmentation = self._augmentation()
        data = self._training_set()
        start = self._start(data)
        settings = self._settings
        sparsity = (
            settings.sparsity_projection,
            settings.sparsity_prototypes,
            settings.sparsity_labels,
        )
        if settings.optimizer == "alternating":
            return self._train_in_turn(start, data, sparsity)
        return self._train_jointly(start, data, sparsity, augmentation)

    def model(
        self,
        trained: Trained,
        *,
        classes: tuple[str, ...],
        feature_names: tuple[str, ...],
        record: dict[str, Any],
    ) -> ProtoNNModel:
        """Return the model of what was found."""
        V, C, Z, sharpness = trained.parameters
        return ProtoNNModel(
            projection=(V / self._gamma).astype(np.float32),
            prototypes=(C / self._gamma).astype(np.float32),
            labels=Z * np.exp(sharpness) if self._settings.loss == "cross_entropy" else Z,
            gamma=self._gamma,
            normalizer=self._normalizer,
            inputs=self._inputs,
            classes=classes,
            feature_names=feature_names,
            record=record,
            reduction=self._reduction,
        )

    def _train_in_turn(
        self, start: Parameters, data: TrainingSet, sparsity: tuple[float, float, float]
    ) -> Trained:
        settings, size = self._settings, self._settings.batch_size
        schedule = AlternatingSchedule(
            loss=settings.loss,
            iterations=settings.iterations,
            epochs=settings.pass_epochs,
            batch_size=batch_size_for(len(data.X)) if size == "auto" else int(size),
            step_sizes=settings.step_sizes,
            sparsity=sparsity,
        )
        return alternate(start, data, schedule, seed=self.seed, callback=settings.callback)

    def _train_jointly(
        self,
        start: Parameters,
        data: TrainingSet,
        sparsity: tuple[float, float, float],
        augmentation: ImageAugmentation | None,
    ) -> Trained:
        settings, size = self._settings, self._settings.batch_size
        noise = settings.input_noise
        automatic = noise == "auto"
        self.input_noise = neighbour_noise(data.X, self._generator) if automatic else float(noise)
        schedule = Schedule(
            loss=settings.loss,
            epochs=settings.epochs,
            batch_size=_BATCH_SIZE if size == "auto" else int(size),
            learning_rate=settings.learning_rate,
            input_noise=self.input_noise,
            sparsity=sparsity,
        )
        rounding = QuantizationAware(self._gamma, self._normalizer, self._inputs)
        return minimize(
            start,
            data,
            schedule,
            seed=self.seed,
            callback=settings.callback,
            quantization=rounding if settings.quantization_aware else None,
            augment=augmentation,
        )

    def _chosen_reduction(self) -> Reduction | None:
        """Return that of the model to start from, or the one that the settings ask for."""
        settings, given = self._settings, self._settings.initial_model
        n_features = self._raw.shape[1]
        if settings.image_shape is not None:
            check_image_shape(settings.image_shape, n_features)
        asked = reduction_for(settings.image_shape, settings.reduced_shape, settings.cropped_shape)
        if given is None:
            return asked
        check_sizes(given, n_features, len(np.unique(self._y)))
        if asked is not None and asked != given.reduction:
            raise InputError(
                "the model to start from reduces its images in another way than reduced_shape and "
                "cropped_shape say; leave them out"
            )
        return given.reduction

    def _reduced(self, points: Float32) -> Float32:
        return points if self._reduction is None else self._reduction.apply(points)

    def _statistics(self) -> InputStatistics:
        dead_zone = self._settings.dead_zone
        if self._reduction is None:
            return InputStatistics.of(self._raw, self._weights).with_dead_zone(dead_zone)
        if dead_zone > 0:
            raise InputError(
                f"dead_zone is {dead_zone:g}, but images are reduced, and their pixels have none; "
                "leave it, or reduced_shape, out"
            )
        return InputStatistics.of_averages(self._raw, self._points, self._weights)

    def _chosen_normalizer(self) -> Normalizer:
        given = self._settings.initial_model
        if given is not None:
            return given.normalizer
        common = self._inputs.upper[0] - self._inputs.lower[0]
        return fitted_normalizer(
            self._settings.normalization,
            self._points,
            self._weights,
            common_extent=0.0 if self._reduction is None else float(common),
        )

    def _training_set(self) -> TrainingSet:
        X = self._normalizer.apply(self._points).astype(np.float32)
        data = TrainingSet.of_classes(X, self._y, self._weights)
        if self.test is None:
            return data
        points, y = self.test
        inputs = self._normalizer.apply(self._reduced(points)).astype(np.float32)
        return replace(data, test=(inputs, y))

    def _start(self, data: TrainingSet) -> Parameters:
        settings, given = self._settings, self._settings.initial_model
        if given is not None:
            self._gamma = given.gamma
            return parameters_of(given, scores_are_logits=settings.loss == "cross_entropy")
        kind = settings.init_projection
        start, self._gamma = initial_parameters(
            data.X,
            data.y,
            n_projections=min(settings.n_projections, data.X.shape[1]),
            n_prototypes=self._prototype_count(data.Y.shape[1]),
            gamma_numerator=settings.gamma_numerator,
            generator=self._generator,
            weights=data.weights,
            projection=kind if isinstance(kind, str) else np.asarray(kind, dtype=np.float32),
            prototypes=settings.init_prototypes,
            gamma=settings.gamma,
        )
        return start

    def _augmentation(self) -> ImageAugmentation | None:
        shape = self._settings.image_shape
        if not self._settings.augment:
            return None
        if shape is None:
            raise InputError("augment is True, but image_shape is None; give (height, width)")
        if self._settings.optimizer == "alternating":
            raise InputError(
                "augment is True, but the alternating optimizer takes the points as they are; set "
                "optimizer to joint"
            )
        return ImageAugmentation(self._raw, shape, self._normalizer, self._reduction)

    def _prototype_count(self, n_classes: int) -> int:
        total, per_class = self._settings.n_prototypes, self._settings.prototypes_per_class
        if total is not None and per_class is not None:
            raise InputError(
                f"n_prototypes is {total} and prototypes_per_class is {per_class}; give only one "
                "of the two"
            )
        return total if total is not None else n_classes * (per_class or _PROTOTYPES_PER_CLASS)
