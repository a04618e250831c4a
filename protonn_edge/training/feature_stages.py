"""From raw points to the features to normalize, with outliers clamped."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from protonn_edge.chain.feature_stage import FeatureStage
from protonn_edge.chain.statistics import InputStatistics
from protonn_edge.datasets.dataset import Sparse
from protonn_edge.training.augmentation import check_image_shape
from protonn_edge.training.one_class import with_reach
from protonn_edge.training.points import Float32, Indices
from protonn_edge.training.shared_parameters import SharedParameters


@dataclass(frozen=True, eq=False)
class FeatureMaking:
    """From raw points to the features to normalize."""

    stage: FeatureStage | None  # computes the features, if any
    ends: tuple[Float32, Float32] | None = None  # (D,): limits beyond which values are outliers

    @classmethod
    def chosen(
        cls,
        settings: SharedParameters,
        points: Float32 | Sparse,
        y: Indices | Sparse,
        weights: Float32 | None,
        *,
        seed: int,
    ) -> Self:
        """Return the stages of the model to start from, or those of the settings.

        - `points` (n, features): raw points, which determine the ranges.
        - `y` (n,): class indices or label sets, for features that are learned.
        - `weights` (n,)
        - `seed`: seed of features that are learned.
        """
        _check_image(settings, points)
        if settings.one_class:
            points, weights = with_reach(points, weights)
        given = settings.initial_model
        stage = (
            settings.learned_stage_for(points, y, weights, seed=seed)
            if given is None
            else given.feature_stage
        )
        if given is not None and given.clipped:
            lower, upper = given.inputs.lower, given.inputs.upper
            return cls(stage, (lower.astype(np.float32), upper.astype(np.float32)))
        if settings.clip == 0:
            return cls(stage)
        features = cls(stage).apply(points)
        return cls(stage, _ends_without_outliers(features, weights, float(settings.clip)))

    def apply(self, points: Any) -> Any:
        """Return the features of raw points (n, D), outliers clamped."""
        if self.stage is not None:
            points = self.stage.apply(points)
        return points if self.ends is None else np.clip(points, *self.ends)

    def statistics(
        self, raw: Float32, features: Float32, weights: Float32 | None
    ) -> InputStatistics:
        """Return the statistics of the features (n, D) of raw points (n, features)."""
        if self.stage is not None and self.stage.scale is None:
            return InputStatistics.of_averages(raw, features, weights)
        statistics = InputStatistics.of(features, weights)
        if self.stage is None or not self.stage.one_range:
            return statistics
        maximum = self.stage.whole_maximum
        if maximum is not None:
            return statistics.of_whole_numbers(maximum)
        return statistics.with_one_range()


def count_inputs(settings: SharedParameters, points: Float32 | Sparse) -> int:
    """Return the number of inputs of a model for points (n, features), n >= 1."""
    _check_image(settings, points)
    given = settings.initial_model
    stage = settings.feature_stage_for(points[:1], None) if given is None else given.feature_stage
    return int(points.shape[1]) if stage is None else stage.n_outputs


def _check_image(settings: SharedParameters, points: Float32 | Sparse) -> None:
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
