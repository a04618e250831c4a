"""How a classifier's inputs come from raw points: as features, clipped and normalized."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from protonn_edge.learn.augmentation import check_image_shape
from protonn_edge.learn.features import FeatureData
from protonn_edge.learn.labels import ClassLabels
from protonn_edge.learn.normalization import normalizer_from
from protonn_edge.learn.parameters import SharedParameters
from protonn_edge.learn.points import Float32, Points, check_varying
from protonn_edge.model.features import Features
from protonn_edge.model.statistics import InputStatistics, Normalizer
from protonn_edge.system.errors import InvalidValue

Ends = tuple[Float32, Float32]
"""Limits (D,) beyond which values are outliers, which are clamped."""


@dataclass(frozen=True, eq=False)
class InputSpace:
    """How a head's inputs come from raw points, by which integers stand for them."""

    stage: Features | None  # computes the values to normalize, if not the points are these
    ends: Ends | None
    inputs: InputStatistics  # of the values before they are normalized
    normalizer: Normalizer

    @classmethod
    def of(
        cls, settings: SharedParameters, raw: Points, labels: ClassLabels, seed: int
    ) -> tuple[InputSpace, Float32]:
        """Choose, learn and measure it by raw points; that of the initial model stays.

        Returns the points' values, too.
        """
        start = settings.initial_model
        stage = _stage(settings, raw, labels, seed)
        values = raw.X if stage is None else stage.apply(raw.X)
        ends = _ends(settings, values, raw.weight)
        values = values if ends is None else np.clip(values, *ends)
        inputs = InputStatistics.of(values, raw.weight)
        inputs = inputs if stage is None else stage.ranged(inputs)
        if reach := settings.target.reach:
            inputs = inputs.reaching(reach)
        inputs = inputs if stage is None else stage.ranged(inputs)
        check_varying(inputs.lower, inputs.upper)
        normalizer = (
            normalizer_from(settings.normalization, inputs) if start is None else start.normalizer
        )
        return cls(stage, ends, inputs, normalizer), values

    def values(self, raw: Float32) -> Float32:
        """Return the values of raw points that are normalized."""
        values = raw if self.stage is None else self.stage.apply(raw)
        return values if self.ends is None else np.clip(values, *self.ends)

    def normalized(self, values: Float32, limit: float) -> Float32:
        """Return normalized values, in float32; `InputError` if one is larger than the limit."""
        with np.errstate(over="ignore"):
            points: Float32 = self.normalizer.apply(values).astype(np.float32)
        largest = float(abs(points).max()) if points.shape[0] else 0.0
        if not largest <= limit:
            raise InvalidValue(
                f"normalization {self.normalizer.kind!r}",
                f"a feature reaches {largest:.3g}, expected at most {limit:g}",
                "choose the normalization 'standard', or express the feature in another unit",
            )
        return points

    def of_step(self, values: Float32) -> Float32:
        """Normalize the values of a step, in place: faster and unchecked."""
        values -= self.normalizer.offset.astype(np.float32)
        values *= self.normalizer.scale.astype(np.float32)
        return values


def _stage(
    settings: SharedParameters, raw: Points, labels: ClassLabels, seed: int
) -> Features | None:
    """Return the stages chosen by raw points, or learned from them."""
    check_image(settings.image_shape, raw.X)
    if settings.initial_model is not None:
        return settings.initial_model.features
    if settings.features is None:
        return None
    X, weight = raw.X, raw.weight
    if reach := settings.target.reach:  # two more points at the limits of distinguished values
        lower, upper = X.min(axis=0), X.max(axis=0)
        longer = np.float32(reach) * (upper - lower)
        X = np.concatenate([X, [lower - longer, upper + longer]])
        weight = None if weight is None else np.append(weight, np.ones(2, np.float32))
    loss = None if labels.are_classes else labels.loss()
    return settings.features_for(FeatureData(X, weight, raw.y, seed, loss))


def _ends(settings: SharedParameters, X: Float32, weights: Float32 | None) -> Ends | None:
    """Return the limits of features X (n, D), if outliers are clipped.

    A feature that would become constant keeps its whole range: its rare values carry the
    information.
    """
    start = settings.initial_model
    if start is not None:
        lower, upper = start.inputs.lower, start.inputs.upper
        return (lower.astype(np.float32), upper.astype(np.float32)) if start.clipped else None
    share = settings.clip if settings.clip != "auto" else 0.0  # until one is chosen
    if not share:
        return None
    shares = [float(share), 1.0 - float(share)]
    ends = np.quantile(X, shares, axis=0, weights=weights, method="inverted_cdf")
    whole = np.stack([X.min(axis=0), X.max(axis=0)])
    lower, upper = np.where(ends[0] < ends[1], ends, whole)
    return lower, upper


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
