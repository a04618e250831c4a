"""What changes the points of every training: more points, their features, and their scale."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar, Self

import numpy as np

from protonn_edge.learn import normalization
from protonn_edge.learn.augmentation import check_image_shape, make_exposure_points, move
from protonn_edge.learn.features import FeatureData
from protonn_edge.learn.parameters import SharedParameters
from protonn_edge.learn.points import (
    Float32,
    Points,
    Transform,
    check_finite,
    check_varying,
)
from protonn_edge.model.features import Features
from protonn_edge.model.statistics import InputStatistics, Normalizer
from protonn_edge.system.errors import InputError

_COPIES_LIMIT = 2**30  # bytes
_BATCHES_OF_NOISE = 16  # that are drawn


class Copies(Transform):
    """Adds copies of all points, each moved at random."""

    salt: ClassVar[int] = 2

    def __init__(self, settings: SharedParameters) -> None:
        self._settings = settings

    def apply(self, points: Points, generator: np.random.Generator) -> Points:
        """Return the points, followed by their copies."""
        count = self._settings.copies
        X = points.X
        weight, group = (
            None if each is None else np.concatenate([each] * (1 + count))
            for each in (points.weight, points.group)
        )
        X = np.concatenate([X, *_moved(self._settings, X, generator)])
        y = np.concatenate([points.y] * (1 + count))
        return points.others(X, y, weight, group)


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


class Strangers(Transform):
    """Adds points of no class, made of parts of points."""

    salt: ClassVar[int] = 1

    def __init__(self, share: float, image_shape: tuple[int, int] | None) -> None:
        self._share, self._image_shape = share, image_shape

    def apply(self, points: Points, generator: np.random.Generator) -> Points:
        """Return the points, followed by new ones of no class; these are in the first group."""
        check_image(self._image_shape, points.X)
        X = points.X
        count = max(1, round(self._share * len(points)))
        made = make_exposure_points(X, self._image_shape, count, generator)
        y = np.concatenate([points.y, np.full(count, points.n_classes)])
        weight, group = points.weight, points.group
        if weight is not None:
            weight = np.concatenate([weight, np.ones(count, dtype=np.float32)])
        if group is not None:
            group = np.concatenate([group, np.zeros(count, np.int64)])
        return points.others(np.concatenate([X, made]), y, weight, group)


class FeatureStages(Transform):
    """Computes features of raw points, by the initial model's stages or by those of settings."""

    stage: Features | None = None

    def __init__(self, settings: SharedParameters, seed: int) -> None:
        self._settings, self._seed = settings, seed

    def fit(self, points: Points) -> Self:
        """Choose the stages by raw points, or learn them."""
        settings, start = self._settings, self._settings.initial_model
        check_image(settings.image_shape, points.X)
        X, weight = settings.target.with_reach(points.X, points.weight)
        if start is not None:
            self.stage = start.features
        elif settings.features is not None:
            loss = None if points.labels.are_classes else points.labels.loss_for(points)
            given = FeatureData(X, weight, points.y, self._seed, loss)
            self.stage = settings.features_for(given)
        return self

    def apply(self, points: Points, _: np.random.Generator) -> Points:
        """Return the features of points."""
        return points if self.stage is None else points.through(self.stage.apply)


class Clip(Transform):
    """Clamps outliers, as the initial model does or as settings ask."""

    ends: tuple[Float32, Float32] | None = None  # (D,): limits beyond which values are outliers

    def __init__(self, settings: SharedParameters) -> None:
        share = settings.clip if settings.clip != "auto" else 0.0  # until one is chosen
        self._share, self._start = float(share), settings.initial_model

    def fit(self, points: Points) -> Self:
        """Choose the limits by features."""
        if self._start is not None and self._start.clipped:
            inputs = self._start.inputs
            self.ends = inputs.lower.astype(np.float32), inputs.upper.astype(np.float32)
        elif self._start is None and self._share > 0:
            X = points.X
            self.ends = _ends_without_outliers(X, points.weight, self._share)
        return self

    def apply(self, points: Points, _: np.random.Generator) -> Points:
        """Return clamped features."""
        ends = self.ends
        return points if ends is None else points.through(lambda X: np.clip(X, *ends))


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


class Normalize(Transform):
    """Normalizes features, as the initial model does or by their statistics."""

    inputs: InputStatistics
    normalizer: Normalizer

    def __init__(self, settings: SharedParameters, stages: FeatureStages) -> None:
        self._settings, self._stages = settings, stages

    def fit(self, points: Points) -> Self:
        """Measure features, and choose the normalizer."""
        settings, start = self._settings, self._settings.initial_model
        self.inputs = self._measured(points)
        check_varying(self.inputs.lower, self.inputs.upper)
        self.normalizer = (
            normalization.normalizer_from(settings.normalization, self.inputs)
            if start is None
            else start.normalizer
        )
        self._offset = self.normalizer.offset.astype(np.float32)
        self._scale = self.normalizer.scale.astype(np.float32)
        return self

    def _measured(self, points: Points) -> InputStatistics:
        stage = self._stages.stage
        inputs = InputStatistics.of(points.X, points.weight)
        inputs = inputs if stage is None else stage.ranged(inputs)
        inputs = self._settings.target.reaching(inputs)
        return inputs if stage is None else stage.ranged(inputs)

    def apply(self, points: Points, _: np.random.Generator) -> Points:
        """Return normalized points; those of a step, which have moved, faster and unchecked."""
        if points.rows is None:
            limit = self._settings.largest_normalized
            return points.through(lambda X: normalization.normalized(self.normalizer, X, limit))
        X = points.X
        X -= self._offset
        X *= self._scale
        return points


class Noise(Transform):
    """Adds Gaussian noise, with a deviation for all features that vary.

    The numbers are drawn once: each step takes some of them, from a random row on. Fresh numbers
    in each step would take a third of the time of a training, and models are no better with them.
    """

    moves: ClassVar[bool] = True

    def __init__(self, deviation: float, batch_size: int, generator: np.random.Generator) -> None:
        self._deviation, self._batch_size, self._generator = deviation, batch_size, generator

    def fit(self, points: Points) -> Self:
        """Find which features vary, and draw the noise."""
        if self._deviation > 0:
            n, D = points.X.shape
            shape = (_BATCHES_OF_NOISE * min(n, self._batch_size), D)
            self._drawn = self._generator.standard_normal(shape, np.float32)
            self._drawn *= np.float32(self._deviation) * points.changing
        return self

    def apply(self, points: Points, generator: np.random.Generator) -> Points:
        """Add noise to the points of a step, in place."""
        if self._deviation > 0:
            X = points.X
            first = int(generator.integers(len(self._drawn) - len(X) + 1))
            X += self._drawn[first : first + len(X)]
        return points


def count_inputs(settings: SharedParameters, points: Float32) -> int:
    """Return the number of inputs of a model for points (n, features), n >= 1."""
    check_image(settings.image_shape, points)
    start = settings.initial_model
    data = FeatureData(points[:1])
    stage = settings.features_for(data) if start is None else start.features
    return int(points.shape[1]) if stage is None else stage.n_outputs


def check_image(shape: object, points: Float32) -> None:
    """Refuse points (n, features) that are not images of the shape, if there is one."""
    if shape is not None:
        check_image_shape(shape, points.shape[1])
