"""Prepare points for training: compute features, merge equal points, normalize."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from protonn_edge.chain.activity import Activity
from protonn_edge.chain.features import Features
from protonn_edge.chain.model import Model, with_units_of
from protonn_edge.chain.policy import FloatPolicy
from protonn_edge.chain.statistics import InputStatistics
from protonn_edge.errors import InputError
from protonn_edge.quantization import measure_activity, quantize
from protonn_edge.training import normalization
from protonn_edge.training.augmentation import check_image_shape, make_exposure_points, move
from protonn_edge.training.features import FeatureData
from protonn_edge.training.given_points import GivenPoints, best_threshold
from protonn_edge.training.mapped_rows import MappedRows, Rows, in_memory
from protonn_edge.training.parameters import SharedParameters
from protonn_edge.training.points import (
    Float32,
    Indices,
    Targets,
    TrainingSet,
    check_finite,
    check_varying,
    distinct_points,
    sample_with_all_classes,
)

if TYPE_CHECKING:
    from protonn_edge.training.targets import Target


def check_sizes(sizes: tuple[int, int], n_features: int, n_classes: int) -> None:
    """Refuse a model with other numbers of features or classes than the data."""
    for size, wanted, name in (
        (sizes[0], n_features, "features"),
        (sizes[1], n_classes, "classes"),
    ):
        if size != wanted:
            raise InputError(
                f"the given model has {size:,} {name}, but the data has {wanted:,}; give a model "
                "and data that match"
            )


@dataclass(frozen=True, eq=False)
class FeatureMaking:
    """Maps raw points to the features to normalize."""

    stage: Features | None  # computes the features, if any
    ends: tuple[Float32, Float32] | None = None  # (D,): limits beyond which values are outliers

    @classmethod
    def chosen(
        cls,
        settings: SharedParameters,
        raw: Rows,
        weights: Float32 | None,
        y: Targets,
        seed: int,
    ) -> Self:
        """Choose the stages of the initial model, or by the settings and raw points."""
        _check_image(settings, raw)
        raw, weights = settings.target.with_reach(raw, weights)
        if isinstance(raw, MappedRows):
            return cls._of_mapped(settings, raw)
        given = FeatureData(raw, weights, y, seed)
        start = settings.initial_model
        stage = settings.features_for(given) if start is None else start.features
        if start is not None and start.clipped:
            lower, upper = start.inputs.lower, start.inputs.upper
            return cls(stage, (lower.astype(np.float32), upper.astype(np.float32)))
        if settings.clip == 0:
            return cls(stage)
        features = cls(stage).apply(given.points)
        return cls(stage, _ends_without_outliers(features, given.weights, float(settings.clip)))

    @classmethod
    def _of_mapped(cls, settings: SharedParameters, points: MappedRows) -> Self:
        """Return no features for a mapped file, or refuse what would need all points."""
        start = settings.initial_model
        needs_all = {
            "features": settings.features is not None,
            "clip": settings.clip > 0,
            "a model with features": start is not None and start.features is not None,
            "a model that clips": start is not None and start.clipped,
        }
        for what in (name for name, wanted in needs_all.items() if wanted):
            in_memory(points, what)
        return cls(None)

    def apply(self, points: Any) -> Any:
        """Return the features of raw points (n, D), outliers clamped."""
        if self.stage is not None:
            points = self.stage.apply(points)
        return points if self.ends is None else np.clip(points, *self.ends)

    def statistics(self, features: Float32, weights: Float32 | None) -> InputStatistics:
        """Return the statistics of features (n, D)."""
        statistics = InputStatistics.of(features, weights)
        return statistics if self.stage is None else self.stage.stages[-1].ranged(statistics)


def _moved(
    settings: SharedParameters, points: Float32, generator: np.random.Generator
) -> Iterator[Float32]:
    """Yield the copies of points (n, features), each of all of them, moved at random."""
    count_inputs(settings, points)  # refuses shapes that do not fit
    needed = settings.copies * points.nbytes
    if needed > _COPIES_LIMIT:
        raise InputError(
            f"{settings.copies} copies of the points need {needed:,} B of memory, but the limit is "
            f"{_COPIES_LIMIT:,}; use fewer copies"
        )
    asked, image, noise = settings.asked, settings.image_shape, settings.background_noise
    if noise is not None:
        with np.errstate(over="ignore"):
            noise = np.asarray(noise, np.float32)
        check_finite(noise, "background_noise")
        if noise.ndim != 2 or noise.shape[1] != points.shape[1] or not len(noise):
            raise InputError(
                f"background_noise has the shape {noise.shape}, but the points have "
                f"{points.shape[1]:,} values; give windows of noise as long as the points"
            )
    for _ in range(settings.copies):
        if image is not None:
            copy = points.copy()
            move(copy, image, generator)
            yield copy
        elif asked is not None:  # or it is refused
            shape = settings.window_shape or (points.shape[1], 1)
            yield asked.movement(points, shape, generator, noise)


def count_inputs(settings: SharedParameters, points: Rows) -> int:
    """Return the number of inputs of a model for points (n, features), n >= 1."""
    _check_image(settings, points)
    start = settings.initial_model
    data = FeatureData(points[:1])
    stage = settings.features_for(data) if start is None else start.features
    return int(points.shape[1]) if stage is None else stage.n_outputs


def _check_image(settings: SharedParameters, points: Rows) -> None:
    if settings.image_shape is not None:
        check_image_shape(settings.image_shape, points.shape[1])


def _ends_without_outliers(
    X: Float32, weights: Float32 | None, share: float
) -> tuple[Float32, Float32]:
    """Return the range of each feature without a share of X (n, D) at either end.

    A feature that would become constant keeps its whole range: its rare values carry the
    information.
    """
    shares = [share, 1.0 - share]
    ends = np.quantile(X, shares, axis=0, weights=weights, method="inverted_cdf")
    whole = np.stack([X.min(axis=0), X.max(axis=0)])
    lower, upper = np.where(ends[0] < ends[1], ends, whole)
    return lower, upper


_COPIES_LIMIT = 2**30  # bytes
_THRESHOLD_SCORES = 4_000_000
_CALIBRATION_POINTS = 10_000
_SAMPLED_POINTS = 20_000
_ACTIVITY_POINTS, _ACTIVITY_POINTS_AT_LEAST = 4_000, 100
_VALUES = 4_000_000  # values of these points, unless they are the fewest possible


def _as_they_are(
    given: GivenPoints, groups: Indices | None
) -> tuple[Rows, Targets, Float32 | None, Indices | None]:
    """Return points, targets, weights with a mean of 1, and groups, as they are given."""
    weights = given.weights
    shares = None if weights is None else (weights / weights.mean()).astype(np.float32)
    return given.X, given.y, shares, groups


class PreparedPoints:
    """Prepared training points, and the parts of a model that they determine.

    The constructor takes distinct raw points (n, features) with classes y (n,), numbered from 0
    with at least one point each, or label sets (n, L); weights, 1 on average; and optionally
    groups. All points but the first `n_given` are copies.

    `test` contains raw points and classes for reports, `classes` and `feature_names` are display
    names for the model, and `n_rows` counts points before equal ones were merged. `inputs` are the
    statistics of the raw or computed features. `data_sha256` covers all points except copies.
    """

    def __init__(
        self,
        settings: SharedParameters,
        points: Rows,
        y: Targets,
        weights: Float32 | None,
        *,
        seed: int,
        target: Target | None = None,
        groups: Indices | None = None,
        n_given: int | None = None,
    ) -> None:
        self.settings, self.seed, self.groups = settings, seed, groups
        self.target = target or settings.target
        self.policy = FloatPolicy()
        self.generator = np.random.default_rng(seed)
        self.raw, self._y, self._weights = points, y, weights
        self.n_rows = self._known = int(points.shape[0])
        self._given = n_given or self._known  # the others are copies
        self.n_classes = n_classes = y.shape[1] if y.ndim == 2 else len(np.unique(y))
        self.test: tuple[Float32, Targets] | None = None
        self.classes: tuple[str, ...] = ()
        self.feature_names: tuple[str, ...] = ()
        given = settings.initial_model
        if given is not None:
            check_sizes((given.n_features, given.n_classes), points.shape[1], n_classes)
        if settings.strangers > 0:
            self._add_exposure_points()
        self.making = FeatureMaking.chosen(settings, self.raw, self._weights, self._y, seed)
        self._features: Rows = self.making.apply(self.raw)
        self.data_sha256 = ""
        self.inputs = self._statistics()
        check_varying(self.inputs.lower, self.inputs.upper)
        self.normalizer = (
            normalization.normalizer_from(settings.normalization, self.inputs)
            if given is None
            else given.normalizer
        )

    @classmethod
    def of(
        cls,
        settings: SharedParameters,
        given: GivenPoints,
        *,
        target: Target,
        seed: int,
        groups: Indices | None,
    ) -> Self:
        """Return the points, distinct unless they are a mapped file."""
        X, y, weights, kept = _as_they_are(given, groups)
        if not isinstance(X, MappedRows):
            X, y, weights, kept = distinct_points(X, given.y, given.weights, groups)
        n_given = X.shape[0]
        if settings.copies:
            X = in_memory(X, "copies")
            X = np.concatenate([X, *_moved(settings, X, np.random.default_rng([seed, 2]))])
            y = np.concatenate([y] * (1 + settings.copies))
            weights, kept = (
                None if each is None else np.concatenate([each] * (1 + settings.copies))
                for each in (weights, kept)
            )
        prepared = cls(
            settings, X, y, weights, seed=seed, target=target, groups=kept, n_given=n_given
        )
        prepared.policy = given.policy
        counted = given.weights
        prepared.n_rows = given.y.shape[0] if counted is None else int(np.count_nonzero(counted))
        prepared.data_sha256 = given.digest(groups)
        return prepared

    def training_set(self) -> TrainingSet:
        """Return the normalized points, and those to report on."""
        X = self.normalized_features(self._features)
        strange = self.raw.shape[0] > self._known
        data = TrainingSet.of_targets(
            X, self._y, self._weights, target=self.target, strange=strange
        )
        if self.test is None:
            return data
        points, y = self.test
        return replace(data, test=(self.normalized(points), y))

    def normalized_features(self, features: Rows) -> Rows:
        """Return features (n, D) normalized, those of a mapped file when they are read."""
        normalizer = self.normalizer
        if isinstance(features, MappedRows):
            return features.through(lambda rows: normalization.normalized(normalizer, rows))
        return normalization.normalized(normalizer, features)

    @cached_property
    def some(self) -> Float32:
        """The given raw points, or a sample of a mapped file."""
        if not isinstance(self.raw, MappedRows):
            return self.raw[: self._given]
        generator = np.random.default_rng(self.seed)
        return self.raw[sample_with_all_classes(self._y, _SAMPLED_POINTS, generator)]

    def normalized(self, points: Float32) -> Float32:
        """Return raw points (n, D) prepared for training."""
        return normalization.normalized(self.normalizer, self.making.apply(points))

    @property
    def calibration(self) -> tuple[Float32, Targets]:
        """A limited number of raw training points, with classes, for measurements."""
        step = -(-self._given // _CALIBRATION_POINTS)
        return self.raw[: self._given : step], self._y[: self._given : step]

    @property
    def for_device(self) -> bool:
        """Whether the model can be converted to integers, which training then considers."""
        return self.target.for_devices and self.normalizer.kind != "l2"

    @property
    def parts(self) -> dict[str, Any]:
        """The parts of a model that all kinds of classifiers share, by name."""
        return {
            "normalizer": self.normalizer,
            "inputs": self.inputs,
            "classes": self.classes,
            "feature_names": self.feature_names,
            "features": self.making.stage,
            "clipped": self.making.ends is not None,
            "threshold": None if self.target.for_devices else 0.0,
            "policy": self.policy,
        }

    def measured(self, model: Model) -> Model:
        """Return a trained model with its threshold and activity, measured on training points."""
        model = with_units_of(model, self.some)
        if model.multilabel:
            return replace(model, threshold=self._threshold(model))
        return replace(model, activity=self._activity(model))

    def _activity(self, model: Model) -> Activity | None:
        """Return the activity of the integer model on some training points, if there is one."""
        try:
            reference = quantize(model)
        except InputError:
            return None
        n, features = self._known, self.raw.shape[1]
        step = -(-n // min(_ACTIVITY_POINTS, max(_ACTIVITY_POINTS_AT_LEAST, _VALUES // features)))
        points = self.raw[:n:step]
        return measure_activity(reference, reference.quantize(points))

    def _threshold(self, model: Model) -> float:
        """Return the score threshold for labels, chosen on some training points."""
        count = max(100, _THRESHOLD_SCORES // model.n_classes)
        rows = np.random.default_rng(self.seed).permutation(self.raw.shape[0])[:count]
        weights = None if self._weights is None else self._weights[rows]
        return best_threshold(model.scores(self.raw[rows]), self._y[rows], weights)

    def _statistics(self) -> InputStatistics:
        if isinstance(self.raw, MappedRows):
            background = InputStatistics.of(self.some).background
            return self.raw.statistics(self._weights, background)
        assert not isinstance(self._features, MappedRows)
        inputs = self.settings.target.reaching(
            self.making.statistics(self._features, self._weights)
        )
        stage = self.making.stage
        return inputs if stage is None else stage.stages[-1].ranged(inputs)

    def _add_exposure_points(self) -> None:
        """Add points of no class, as one more class."""
        shape = self.settings.image_shape
        _check_image(self.settings, self.raw)
        count = max(1, round(float(self.settings.strangers) * self._known))
        self.raw = in_memory(self.raw, "strangers")
        made = make_exposure_points(self.raw, shape, count, np.random.default_rng([self.seed, 1]))
        self.raw = np.concatenate([self.raw, made])
        self._y = np.concatenate([self._y, np.full(count, self.n_classes)])
        if self._weights is not None:
            ones = np.ones(count, dtype=np.float32)
            self._weights = np.concatenate([self._weights, ones])
        if self.groups is not None:
            self.groups = np.concatenate([self.groups, np.zeros(count, np.int64)])
