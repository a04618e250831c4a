"""What comes before a classifier on the device: averages of images, or features of windows."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np

from protonn_edge.datasets.rows import Sparse
from protonn_edge.model import InputStatistics, common_range
from protonn_edge.stages.average_pooling.pooling import AveragePooling, pooling_for
from protonn_edge.stages.deskew.deskew import PixelScale
from protonn_edge.stages.window_features import FeatureSet, WindowFeatureStage
from protonn_edge.training.augmentation import check_image_shape
from protonn_edge.training.points import Float32
from protonn_edge.training.settings import TrainingSettings


@dataclass(frozen=True, eq=False)
class FeatureStages:
    """From raw points to what is normalized.

    Attributes
    ----------
    pooling : AveragePooling or None
        What averages images.
    window_features : WindowFeatureStage or None
        What makes features of windows.
    ends : tuple of two ndarray of shape (D,), float32, or None
        Beyond which features count as outliers.
    """

    pooling: AveragePooling | None
    window_features: WindowFeatureStage | None
    ends: tuple[Float32, Float32] | None

    @classmethod
    def chosen(
        cls, settings: TrainingSettings, points: Float32 | Sparse, weights: Float32 | None
    ) -> Self:
        """Return those of the model to start from, or what the settings ask for.

        Parameters
        ----------
        points : ndarray or CSR matrix of shape (n, features), float32
            Raw points, whose ranges decide.
        weights : ndarray of shape (n,), float32, or None
        """
        given = settings.initial_model
        if settings.image_shape is not None:
            check_image_shape(settings.image_shape, points.shape[1])
        scale = PixelScale.between(*common_range(points, weights)) if settings.deskew else None
        shapes = settings.image_shape, settings.reduced_shape, settings.cropped_shape
        pooling = pooling_for(*shapes, scale)
        window_features = None
        if given is not None:
            pooling, window_features = given.pooling, given.window_features
        elif settings.features is not None:
            shape = settings.window_shape or (points.shape[1], 1)
            features = FeatureSet.of(settings.features)
            window_features = WindowFeatureStage.fitted(
                features, shape, points, settings.sample_rate
            )
        if given is not None and given.clipped:
            lower, upper = given.inputs.lower, given.inputs.upper
            return cls(
                pooling, window_features, (lower.astype(np.float32), upper.astype(np.float32))
            )
        stages = cls(pooling, window_features, None)
        if settings.clip == 0:
            return stages
        ends = _ends_without_outliers(stages.apply(points), weights, float(settings.clip))
        return cls(pooling, window_features, ends)

    def apply(self, points: Any) -> Any:
        """Return features of raw points (n, D), those beyond the ends at the ends."""
        if self.pooling is not None:
            points = self.pooling.apply(points)
        if self.window_features is not None:
            points = self.window_features.apply(points)
        return points if self.ends is None else np.clip(points, *self.ends)

    def statistics(
        self, raw: Float32, features: Float32, weights: Float32 | None
    ) -> InputStatistics:
        """Return the statistics of the features (n, D) that raw points (n, features) have."""
        if self.pooling is None:
            return InputStatistics.of(features, weights)
        return InputStatistics.of_averages(raw, features, weights)


def count_inputs(settings: TrainingSettings, points: Float32 | Sparse) -> int:
    """Return how many inputs a model of points (n, features), n >= 1, has."""
    plain = replace(settings, clip=0.0, deskew=False)  # which change none, and need all points
    return int(FeatureStages.chosen(plain, points[:1], None).apply(points[:1]).shape[1])


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
