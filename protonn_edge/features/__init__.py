"""Features of windows of raw samples, in integers: what goes in front of the projection."""

from __future__ import annotations

from protonn_edge.features.declaration import KINDS, FeatureSet
from protonn_edge.features.pipeline import FeaturePipeline
from protonn_edge.features.recordings import Windows, cut_windows
from protonn_edge.features.transformer import WindowFeatures

__all__ = [
    "KINDS",
    "FeaturePipeline",
    "FeatureSet",
    "WindowFeatures",
    "Windows",
    "cut_windows",
]
