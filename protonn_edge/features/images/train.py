"""What the requests for several kinds of features of images share."""

from __future__ import annotations

from protonn_edge.features.images.pixel_scale import PixelScale
from protonn_edge.learn.features import FeatureData
from protonn_edge.model.statistics import common_range


def pixel_scale(given: FeatureData) -> PixelScale:
    """Return the conversion of raw pixels to bytes."""
    return PixelScale.between(*common_range(given.points, given.weights))
