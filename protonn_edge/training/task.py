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
from protonn_edge.training.budget_rules import ModelSizes, sizes_within
from protonn_edge.training.initialization import initial_parameters
from protonn_edge.training.joint import Schedule, minimize
from protonn_edge.training.normalization import neighbour_noise, normalizer_from
from protonn_edge.training.objective import Parameters
from protonn_edge.training.points import Float32, Indices, Source, TrainingSet
from protonn_edge.training.progress import Trained
from protonn_edge.training.quantization_aware import QuantizationAware
from protonn_edge.training.running_statistics import RunningInputs
from protonn_edge.training.stored_points import LARGE_BYTES, StoredPoints, StoredSet
from protonn_edge.training.validation import check_prototype_count, check_varying
from protonn_edge.training.warm_start import check_sizes, parameters_of

if TYPE_CHECKING:
    from protonn_edge.training.estimator import ProtoNNClassifier

_PROTOTYPES_PER_CLASS = 4
_BATCH_SIZE = 256
_CALIBRATION_POINTS = 10_000


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
    n_classes : int, optional
        L, where `y` has not all of the classes.
    stored : StoredPoints, optional
        All points, where `points` are a sample of them.

    Attributes
    ----------
    test : tuple of (n', D) float32 and (n',) int64, or None
        Raw points and classes to report on.
    n_rows : int
        How many points there were before equal ones were merged.
    input_noise : float
        Deviation of the noise that training added to the normalized features.
    inputs : InputStatistics
        Statistics of the raw features, or of their averages.
    running : RunningInputs
        Where these come from if the points are stored, or come in parts.
    data_sha256 : str
        Of all points, where these are stored.
    """

    def __init__(
        self,
        settings: ProtoNNClassifier,
        points: Float32,
        y: Indices,
        weights: Float32 | None,
        *,
        seed: int,
        n_classes: int | None = None,
        stored: StoredPoints | None = None,
    ) -> None:
        self.seed = seed
        self.n_rows = len(points)
        self.input_noise = 0.0
        self.test: tuple[Float32, Indices] | None = None
        self._settings = settings
        self._raw, self._y, self._weights = points, y, weights
        self._generator = np.random.default_rng(seed)
        self._n_classes = len(np.unique(y)) if n_classes is None else n_classes
        self._stored = stored
        self._reduction = self._chosen_reduction()
        self._points = self.reduced(points)
        self.running = RunningInputs(self._points.shape[1], self._reduction)
        self.data_sha256 = "" if stored is None else stored.survey(self.running)
        self.inputs = self._statistics()
        check_varying(self.inputs.lower, self.inputs.upper)
        self._normalizer = self._chosen_normalizer()
        self._gamma = 1.0

    def train(self) -> Trained:
        """Return what the chosen optimizer found, in folded parameters."""
        self._check_stored()
        augmentation = self._augmentation()
        data = self._training_set()
        start = self._start(data)
        if self._settings.optimizer == "alternating":
            return self._train_in_turn(start, data)
        return self._train_jointly(start, data, augmentation)

    def start(self) -> Parameters:
        """Return where training starts, gamma folded in."""
        return self._start(self._training_set())

    def normalized(self, points: Float32) -> Float32:
        """Return raw points (n, D) as training sees them."""
        return self._normalizer.apply(self.reduced(points)).astype(np.float32)

    def reduced(self, points: Float32) -> Float32:
        """Return raw points, or what the model's reduction makes of them."""
        return points if self._reduction is None else self._reduction.apply(points)

    @property
    def sparsity(self) -> tuple[float, float, float]:
        """Shares of non-zero entries of W, B and Z."""
        settings = self._settings
        return (
            settings.sparsity_projection,
            settings.sparsity_prototypes,
            settings.sparsity_labels,
        )

    @property
    def calibration(self) -> tuple[Float32, Indices]:
        """Raw training points and classes that are few enough to measure something on."""
        step = -(-len(self._raw) // _CALIBRATION_POINTS)
        return self._raw[::step], self._y[::step]

    @property
    def batch_size(self) -> int:
        """Points a step of the joint optimizer."""
        size = self._settings.batch_size
        return _BATCH_SIZE if size == "auto" else int(size)

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
            inputs=self.inputs,
            classes=classes,
            feature_names=feature_names,
            record=record,
            reduction=self._reduction,
        )

    def _train_in_turn(self, start: Parameters, data: TrainingSet) -> Trained:
        settings, size = self._settings, self._settings.batch_size
        schedule = AlternatingSchedule(
            loss=settings.loss,
            iterations=settings.iterations,
            epochs=settings.pass_epochs,
            batch_size=batch_size_for(len(data.X)) if size == "auto" else int(size),
            step_sizes=settings.step_sizes,
            sparsity=self.sparsity,
        )
        return alternate(start, data, schedule, seed=self.seed, callback=settings.callback)

    def _train_jointly(
        self,
        start: Parameters,
        data: TrainingSet,
        augmentation: ImageAugmentation | None,
    ) -> Trained:
        settings = self._settings
        noise = settings.input_noise
        automatic = noise == "auto"
        self.input_noise = neighbour_noise(data.X, self._generator) if automatic else float(noise)
        schedule = Schedule(
            loss=settings.loss,
            epochs=settings.epochs,
            batch_size=self.batch_size,
            learning_rate=settings.learning_rate,
            input_noise=self.input_noise,
            sparsity=self.sparsity,
        )
        rounding = QuantizationAware(self._gamma, self._normalizer, self.inputs)
        source: Source = data
        if self._stored is not None:
            source = StoredSet(self._stored, self.normalized, self.running.changing, data)
        return minimize(
            start,
            source,
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
        check_sizes(given, n_features, self._n_classes)
        if asked is not None and asked != given.reduction:
            raise InputError(
                "the model to start from reduces its images in another way than reduced_shape and "
                "cropped_shape say; leave them out"
            )
        return given.reduction

    def _statistics(self) -> InputStatistics:
        if self._reduction is None:
            inputs = InputStatistics.of(self._raw, self._weights)
        else:
            inputs = InputStatistics.of_averages(self._raw, self._points, self._weights)
        return inputs if self._stored is None else self.running.inputs(inputs.background)

    def _chosen_normalizer(self) -> Normalizer:
        given = self._settings.initial_model
        if given is not None:
            return given.normalizer
        return normalizer_from(self._settings.normalization, self.inputs)

    def _training_set(self) -> TrainingSet:
        X = self._normalizer.apply(self._points).astype(np.float32)
        data = TrainingSet.of_classes(X, self._y, self._weights)
        if self.test is None:
            return data
        points, y = self.test
        return replace(data, test=(self.normalized(points), y))

    def _start(self, data: TrainingSet) -> Parameters:
        settings, given = self._settings, self._settings.initial_model
        if given is not None:
            if settings.budget is not None:
                raise InputError(
                    f"budget is {settings.budget:,}, but the model to start from has its own "
                    "sizes; leave one of the two out"
                )
            self._gamma = given.gamma
            return parameters_of(given, scores_are_logits=settings.loss == "cross_entropy")
        kind = settings.init_projection
        sizes = self._sizes(self.n_rows, data.X.shape[1], self._n_classes)
        start, self._gamma = initial_parameters(
            data.X,
            data.y,
            n_projections=sizes.n_projections,
            n_prototypes=sizes.n_prototypes,
            gamma_numerator=settings.gamma_numerator,
            generator=self._generator,
            weights=data.weights,
            projection=kind if isinstance(kind, str) else np.asarray(kind, dtype=np.float32),
            prototypes=settings.init_prototypes,
            gamma=settings.gamma,
        )
        return start

    def _check_stored(self) -> None:
        """Refuse what needs all points in memory at once if they are too many for that."""
        settings = self._settings
        for asked, name, value in (
            (settings.optimizer == "alternating", "optimizer", "joint"),
            (settings.augment, "augment", "False"),
        ):
            if asked and self._stored is not None:
                raise InputError(
                    f"{name} is {getattr(settings, name)}, which needs all points in memory, but "
                    f"{4 * self._stored.X.size:,} B of points are read in blocks (the limit is "
                    f"{LARGE_BYTES:,}); set {name} to {value}, or train on fewer points"
                )

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

    def _sizes(self, n_points: int, n_features: int, n_classes: int) -> ModelSizes:
        settings, kind = self._settings, self._settings.init_projection
        if settings.budget is None:
            d = min(settings.n_projections, n_features)
            return ModelSizes(d, self._prototype_count(n_classes))
        if settings.n_prototypes is not None or settings.prototypes_per_class is not None:
            raise InputError(
                f"budget is {settings.budget:,}, which decides on the number of prototypes; leave "
                "n_prototypes and prototypes_per_class out, or the budget"
            )
        if isinstance(kind, str):
            given = n_features if kind == "identity" else None
        else:
            given = len(np.asarray(kind))
        return sizes_within(
            settings.budget,
            n_features=n_features,
            n_classes=n_classes,
            n_points=n_points,
            n_projections=given,
        )

    def _prototype_count(self, n_classes: int) -> int:
        total, per_class = self._settings.n_prototypes, self._settings.prototypes_per_class
        if total is not None and per_class is not None:
            raise InputError(
                f"n_prototypes is {total} and prototypes_per_class is {per_class}; give only one "
                "of the two"
            )
        if total is None and per_class is None:
            return n_classes * _PROTOTYPES_PER_CLASS
        count = total if total is not None else n_classes * (per_class or 1)
        check_prototype_count(count, self.n_rows)
        return count
