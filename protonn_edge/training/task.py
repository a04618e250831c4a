"""One call of `fit`: from an estimator's settings and its data to an optimizer, and to a model."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.sparse import issparse

from protonn_edge.datasets.rows import Sparse, dense_rows
from protonn_edge.errors import InputError
from protonn_edge.model import (
    InputStatistics,
    Normalizer,
    ProtoNNModel,
    check_gamma,
    common_range,
)
from protonn_edge.quantization import measure_activity, quantize
from protonn_edge.stages.activity import Activity
from protonn_edge.stages.average_pooling.pooling import AveragePooling, pooling_for
from protonn_edge.stages.deskew.deskew import PixelScale
from protonn_edge.stages.window_features import FeatureSet, WindowFeatureStage
from protonn_edge.training.alternating import AlternatingSchedule, alternate, batch_size_for
from protonn_edge.training.augmentation import ImageAugmentation, check_image_shape
from protonn_edge.training.budget_rules import ModelSizes, sizes_within
from protonn_edge.training.group_shift import GroupShift
from protonn_edge.training.initialization import initial_parameters
from protonn_edge.training.joint import Augment, Schedule, minimize
from protonn_edge.training.label_sets import best_threshold
from protonn_edge.training.label_start import initial_label_parameters, sparse_projection
from protonn_edge.training.normalization import neighbour_noise, normalized, normalizer_from
from protonn_edge.training.objective import Parameters
from protonn_edge.training.outlier_exposure import make_exposure_points
from protonn_edge.training.points import Float32, Indices, Source, TrainingSet
from protonn_edge.training.progress import Trained
from protonn_edge.training.quantization_aware import QuantizationAware
from protonn_edge.training.running_statistics import RunningInputs
from protonn_edge.training.sparse_statistics import sparse_statistics
from protonn_edge.training.stored_points import LARGE_BYTES, StoredPoints, StoredSet
from protonn_edge.training.validation import check_prototype_count, check_varying
from protonn_edge.training.warm_start import check_sizes, parameters_of

if TYPE_CHECKING:
    from protonn_edge.training.estimator import ProtoNNClassifier

PROTOTYPES_PER_CLASS = 4
_PROTOTYPES_PER_LABEL = 2  # the paper's
_PROTOTYPES_FOR_LABELS = 200  # at most, unless it is said how many
_THRESHOLD_SCORES = 4_000_000
_BATCH_SIZE = 256
_CALIBRATION_POINTS = 10_000
_ACTIVITY_POINTS, _ACTIVITY_POINTS_AT_LEAST = 4_000, 100
_VALUES = 4_000_000  # of these points, unless they are the least


class Task:
    """What the settings mean for these points.

    Parameters
    ----------
    settings : ProtoNNClassifier
        Its parameters, checked.
    points : ndarray or CSR matrix of shape (n, features), float32
        Raw features, distinct.
    y : ndarray of shape (n,), int64, or CSR matrix of shape (n, L)
        Class indices from 0; each class has at least one point. Or label sets.
    weights : ndarray of shape (n,), float32, or None
        What each point counts, 1 on average.
    seed : int
        Everything random follows from it.
    n_classes : int, optional
        L, where `y` has not all of the classes.
    stored : StoredPoints, optional
        All points, where `points` are a sample of them.
    groups : ndarray of shape (n,), int64, optional
        Which group each point is of, such as a person.

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
        points: Float32 | Sparse,
        y: Indices | Sparse,
        weights: Float32 | None,
        *,
        seed: int,
        n_classes: int | None = None,
        stored: StoredPoints | None = None,
        groups: Indices | None = None,
    ) -> None:
        self.seed = seed
        self.n_rows = int(points.shape[0])
        self.input_noise = 0.0
        self.test: tuple[Float32 | Sparse, Indices | Sparse] | None = None
        self._settings = settings
        self._raw, self._y, self._weights = points, y, weights
        self._groups = groups
        self._generator = np.random.default_rng(seed)
        self._multilabel = bool(issparse(y))
        if n_classes is None:
            n_classes = y.shape[1] if self._multilabel else len(np.unique(y))
        self._n_classes = n_classes
        self._stored = stored
        self._known = int(points.shape[0])
        self._add_exposure_points()
        self._pooling = self._chosen_pooling()
        self._window_features = self._chosen_window_features()
        self._ends = self._clipping()
        self._points = self.projection_inputs(self._raw)
        self.running = RunningInputs(self._points.shape[1], self._pooling)
        self.data_sha256 = "" if stored is None else stored.survey(self.running)
        self.inputs = self._statistics()
        check_varying(self.inputs.lower, self.inputs.upper)
        self._normalizer = self._chosen_normalizer()
        self._gamma = 1.0

    def train(self) -> Trained:
        """Return what the chosen optimizer found, in folded parameters."""
        self._check_stored()
        with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
            return self._train()  # whether training diverged is looked at in every epoch

    def _train(self) -> Trained:
        augmentation = self._augmentation()
        data = self._training_set()
        augment = self._with_group_shift(data, augmentation)
        start = self._start(data)
        if self._settings.optimizer == "alternating":
            return self._train_in_turn(start, data)
        return self._train_jointly(start, data, augment)

    def start(self) -> Parameters:
        """Return where training starts, gamma folded in."""
        with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
            return self._start(self._training_set())

    def normalized(self, points: Float32 | Sparse) -> Float32 | Sparse:
        """Return raw points (n, D) as training sees them."""
        return normalized(self._normalizer, self.projection_inputs(points))

    def projection_inputs(self, points: Float32 | Sparse) -> Float32 | Sparse:
        """Return what pooling or window features make of raw points, without outliers."""
        if self._pooling is not None:
            if issparse(points):
                raise InputError(
                    "the images are pooled to averages, but the points are sparse; give dense "
                    "images"
                )
            points = self._pooling.apply(points)
        if self._window_features is not None:
            points = self._window_features.apply(points)
        return points if self._ends is None else np.clip(points, *self._ends)

    @property
    def normalization(self) -> str:
        """The kind of normalizer that training goes through."""
        return self._normalizer.kind

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
    def calibration(self) -> tuple[Float32 | Sparse, Indices]:
        """Raw training points and classes that are few enough to measure something on."""
        step = -(-self._known // _CALIBRATION_POINTS)
        return self._raw[: self._known : step], self._y[: self._known : step]

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
        with np.errstate(over="ignore", invalid="ignore"):  # a model checks that all are finite
            W, B = ((matrix / self._gamma).astype(np.float32) for matrix in (V, C))
            Z = Z * np.exp(sharpness) if self._settings.loss == "cross_entropy" else Z
        model = ProtoNNModel(
            projection=W,
            prototypes=B,
            labels=Z,
            gamma=self._gamma,
            normalizer=self._normalizer,
            inputs=self.inputs,
            classes=classes,
            feature_names=feature_names,
            record=record,
            pooling=self._pooling,
            threshold=0.0 if self._multilabel else None,
            cutoff=trained.cutoff,
            clipped=self._ends is not None,
            window_features=self._window_features,
        ).with_units_of(self._raw[: self._known])
        if model.multilabel:
            return replace(model, threshold=self._threshold(model))
        return replace(model, activity=self._activity(model))

    def _activity(self, model: ProtoNNModel) -> Activity | None:
        """Return what the model's integers have to do on some training points, if it has any."""
        try:
            reference = quantize(model)
        except InputError:
            return None
        n, features = self._known, self._raw.shape[1]
        step = -(-n // min(_ACTIVITY_POINTS, max(_ACTIVITY_POINTS_AT_LEAST, _VALUES // features)))
        points = dense_rows(self._raw, slice(None, n, step))
        return measure_activity(reference, reference.quantize(points))

    def _threshold(self, model: ProtoNNModel) -> float:
        """Return the score from which on a label is best predicted, on some training points."""
        count = max(100, _THRESHOLD_SCORES // model.n_classes)
        rows = np.random.default_rng(self.seed).permutation(self._raw.shape[0])[:count]
        weights = None if self._weights is None else self._weights[rows]
        return best_threshold(model.scores(self._raw[rows]), self._y[rows], weights)

    def _train_in_turn(self, start: Parameters, data: TrainingSet) -> Trained:
        settings, size = self._settings, self._settings.batch_size
        schedule = AlternatingSchedule(
            loss=settings.loss,
            iterations=settings.iterations,
            epochs=settings.pass_epochs,
            batch_size=batch_size_for(*data.Y.shape) if size == "auto" else int(size),
            step_sizes=settings.step_sizes,
            sparsity=self.sparsity,
        )
        return alternate(start, data, schedule, seed=self.seed, callback=settings.callback)

    def _train_jointly(
        self,
        start: Parameters,
        data: TrainingSet,
        augment: Augment | None,
    ) -> Trained:
        settings = self._settings
        noise = settings.input_noise
        if noise == "auto":
            noise = neighbour_noise(data.X, self._generator, self._normalizer.kind)
        self.input_noise = float(noise)
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
            quantization=rounding if settings.quantization_aware and self._for_device else None,
            augment=augment,
        )

    @property
    def _for_device(self) -> bool:
        """Whether what is trained can become integers; what cannot need not heed them."""
        return not self._multilabel and self._normalizer.kind != "l2"

    def _chosen_pooling(self) -> AveragePooling | None:
        """Return that of the model to start from, or the one that the settings ask for."""
        settings, given = self._settings, self._settings.initial_model
        n_features = self._raw.shape[1]
        if settings.image_shape is not None:
            check_image_shape(settings.image_shape, n_features)
        asked = pooling_for(
            settings.image_shape,
            settings.reduced_shape,
            settings.cropped_shape,
            self._pixel_scale(),
        )
        if given is None:
            return asked
        self._check_kind_of(given)
        if asked is not None and _shapes(asked) != _shapes(given.pooling):
            raise InputError(
                "the model to start from pools its images in another way than reduced_shape, "
                "cropped_shape and deskew say; leave them out"
            )
        return given.pooling

    def _chosen_window_features(self) -> WindowFeatureStage | None:
        """Return that of the model to start from, or the one that the settings ask for."""
        settings, given = self._settings, self._settings.initial_model
        inherited = None if given is None else given.window_features
        if settings.features is None and inherited is None:
            if settings.window_shape is not None:
                raise InputError(
                    "window_shape is given, but no features of windows are; say which, or leave it "
                    "out"
                )
            return None
        for refused, what in (
            (issparse(self._raw), "the points are sparse"),
            (self._pooling is not None, "images are pooled"),
            (settings.augment, "augment moves images"),
            (self._stored is not None, "the points are read in blocks"),
        ):
            if refused:
                raise InputError(
                    f"features are to be made of windows, but {what}; leave the features out"
                )
        if settings.features is None:
            return inherited
        if given is not None:
            raise InputError(
                "features are given, but also a model to start from, which has its own or none; "
                "leave the features out"
            )
        shape = settings.window_shape or (self._raw.shape[1], 1)
        features = FeatureSet.of(settings.features)
        return WindowFeatureStage.fitted(features, shape, self._raw, settings.sample_rate)

    def _pixel_scale(self) -> PixelScale | None:
        """Return how pixels become bytes, where images are to be deskewed."""
        if not self._settings.deskew:
            return None
        if issparse(self._raw) or self._stored is not None:
            raise InputError(
                "deskew is True, which needs dense images that fit in memory; leave it out, or "
                "train on fewer points"
            )
        return PixelScale.between(*common_range(self._raw, self._weights))

    def _clipping(self) -> tuple[Float32, Float32] | None:
        """Return the ends, (D,), beyond which features count as outliers; None without any."""
        settings, given = self._settings, self._settings.initial_model
        continued = given is not None and given.clipped
        if not continued and settings.clip == 0:
            return None
        asked, remedy = f"clip is {settings.clip:g}", "leave clip out"
        if continued:
            asked, remedy = "the model to start from clips outliers", "take another one"
        for refused, what in (
            (issparse(self._raw), "the points are sparse"),
            (self._pooling is not None, "images are pooled"),
            (settings.augment, "augment moves images"),
            (self._stored is not None, "the points are read in blocks"),
            (given is not None and not continued, "the model to start from clips nothing"),
        ):
            if refused:
                raise InputError(f"{asked}, but {what}; {remedy}")
        if given is not None:
            return given.inputs.lower.astype(np.float32), given.inputs.upper.astype(np.float32)
        points = (
            self._raw if self._window_features is None else self._window_features.apply(self._raw)
        )
        return _ends_without_outliers(points, self._weights, float(settings.clip))

    def _check_kind_of(self, given: ProtoNNModel) -> None:
        """Refuse to start from a model for other data."""
        check_sizes(given, self._raw.shape[1], self._n_classes)
        if given.multilabel != self._multilabel:
            kinds = ("one class a point", "sets of labels")
            raise InputError(
                f"the model to start from is for {kinds[given.multilabel]}, the data has "
                f"{kinds[self._multilabel]}; start from a model of the same kind, or from none"
            )

    def _statistics(self) -> InputStatistics:
        if issparse(self._raw):
            return sparse_statistics(self._raw, self._weights)
        if self._pooling is None:
            inputs = InputStatistics.of(self._points, self._weights)
        else:
            inputs = InputStatistics.of_averages(self._raw, self._points, self._weights)
        if self._stored is not None:
            inputs = self.running.inputs(inputs.background)
        return inputs.with_dead_zone(self._dead_zone())

    def _dead_zone(self) -> float:
        share = float(self._settings.dead_zone)
        if share > 0 and self._pooling is not None:
            raise InputError(
                f"dead_zone is {share:g}, but images are pooled, and their pixels have none; "
                "leave it, or reduced_shape, out"
            )
        return share

    def _chosen_normalizer(self) -> Normalizer:
        given = self._settings.initial_model
        if given is not None:
            return given.normalizer
        return normalizer_from(self._settings.normalization, self.inputs)

    def _training_set(self) -> TrainingSet:
        X = normalized(self._normalizer, self._points)
        of = TrainingSet.of_label_sets if self._multilabel else TrainingSet.of_classes
        data = of(X, self._y, self._weights)
        if self._raw.shape[0] > self._known:
            data = data.with_last_class_strange()
        if self.test is None:
            return data
        points, y = self.test
        return replace(data, test=(self.normalized(points), y))

    def _start(self, data: TrainingSet) -> Parameters:
        start = self._start_anywhere(data)
        check_gamma(self._gamma)
        if not all(np.isfinite(matrix).all() for matrix in start):
            raise InputError(
                f"with gamma {self._gamma:g}, the matrices to start from have numbers too large "
                "for float32; try a smaller gamma or gamma_numerator, or another start"
            )
        return start

    def _start_anywhere(self, data: TrainingSet) -> Parameters:
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
        start_from = initial_label_parameters if data.multilabel else initial_parameters
        start, self._gamma = start_from(
            data.X,
            data.y,
            n_projections=sizes.n_projections,
            n_prototypes=sizes.n_prototypes,
            gamma_numerator=settings.gamma_numerator,
            generator=self._generator,
            weights=data.weights,
            projection=sparse_projection(kind, data, sizes.n_projections)
            if isinstance(kind, str)
            else np.asarray(kind, dtype=np.float32),
            prototypes=settings.init_prototypes,
            gamma=settings.gamma,
        )
        if data.outlier_exposure:  # their own prototypes begin without a label
            start = replace(start, labels=start.labels[: self._n_classes])
        return start

    def _add_exposure_points(self) -> None:
        """Add points of no class, as those of one more, where the settings ask for some."""
        share, shape = float(self._settings.strangers), self._settings.image_shape
        if share == 0:
            return
        for refused, what in (
            (self._multilabel, "points have sets of labels"),
            (issparse(self._raw), "the points are sparse"),
            (self._stored is not None, "the points are read in blocks"),
            (self._settings.optimizer != "joint", "the alternating optimizer has no use for them"),
        ):
            if refused:
                raise InputError(f"strangers is {share:g}, but {what}; leave strangers out")
        if shape is not None:
            check_image_shape(shape, self._raw.shape[1])
        count = max(1, round(share * self._known))
        made = make_exposure_points(self._raw, shape, count, np.random.default_rng([self.seed, 1]))
        self._raw = np.concatenate([self._raw, made])
        self._y = np.concatenate([self._y, np.full(count, self._n_classes)])
        if self._weights is not None:
            ones = np.ones(count, dtype=np.float32)
            self._weights = np.concatenate([self._weights, ones])
        if self._groups is not None:
            self._groups = np.concatenate([self._groups, np.zeros(count, np.int64)])

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
        if issparse(self._raw):
            raise InputError("augment is True, but the points are sparse; give dense images")
        if shape is None:
            raise InputError("augment is True, but image_shape is None; give (height, width)")
        if self._settings.optimizer == "alternating":
            raise InputError(
                "augment is True, but the alternating optimizer takes the points as they are; set "
                "optimizer to joint"
            )
        return ImageAugmentation(self._raw, shape, self._normalizer, self._pooling)

    def _with_group_shift(self, data: TrainingSet, augment: Augment | None) -> Augment | None:
        """Return what changes batches: the augmentation, and then the shift between groups."""
        if self._groups is None:
            return augment
        strength = float(self._settings.group_shift)
        return GroupShift(data.X, data.y, self._groups, data.weights, strength, augment)

    def _sizes(self, n_points: int, n_features: int, n_classes: int) -> ModelSizes:
        settings, kind = self._settings, self._settings.init_projection
        if settings.budget is None:
            d = min(settings.n_projections, n_features)
            return ModelSizes(d, self._prototype_count(n_classes))
        if not self._for_device:
            raise InputError(
                f"budget is {settings.budget:,}, in bytes on a device, which takes neither sets of "
                "labels nor the normalization 'l2'; give n_projections and n_prototypes"
            )
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
            return default_prototypes(n_classes, multilabel=self._multilabel)
        count = total if total is not None else n_classes * (per_class or 1)
        check_prototype_count(count, self.n_rows)
        return count


def default_prototypes(n_classes: int, *, multilabel: bool = False) -> int:
    """Return how many prototypes there are by default.

    The number of points has no say in it: a point of weight 2 counts as two.
    """
    if multilabel:
        return min(_PROTOTYPES_PER_LABEL * n_classes, _PROTOTYPES_FOR_LABELS)
    return n_classes * PROTOTYPES_PER_CLASS


def _ends_without_outliers(
    X: Float32, weights: Float32 | None, share: float
) -> tuple[Float32, Float32]:
    """Return the range of each feature without a share of X (n, D) at either end.

    A feature that would then be constant keeps its whole range: its rare values are what it tells.
    """
    shares = [share, 1.0 - share]
    ends = np.quantile(X, shares, axis=0, weights=weights, method="inverted_cdf")
    whole = np.stack([X.min(axis=0), X.max(axis=0)])
    lower, upper = np.where(ends[0] < ends[1], ends, whole)
    return lower, upper


def _shapes(pooling: AveragePooling | None) -> tuple[object, ...] | None:
    """Return what average pooling does, but for how raw pixels become bytes."""
    if pooling is None:
        return None
    shapes = pooling.image_shape, pooling.cropped_shape, pooling.shape
    return *shapes, pooling.deskewed is not None
