"""Features of windows of raw samples, in integers: what goes in front of the projection."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from protonn_edge.features.channels import channel_names, sample_names
from protonn_edge.features.declaration import KINDS, FeatureSet
from protonn_edge.features.pipeline import FeaturePipeline, check_window
from protonn_edge.features.recordings import Windows, cut_windows, gaps

if TYPE_CHECKING:
    from protonn_edge.features.transformer import WindowFeatures

__all__ = [
    "KINDS",
    "FeaturePipeline",
    "FeatureSet",
    "WindowFeatures",
    "Windows",
    "channel_names",
    "check_window",
    "cut_windows",
    "gaps",
    "sample_names",
]


def __getattr__(name: str) -> Any:
    # scikit-learn takes half a second to import, and models that are built have no use for it.
    if name == "WindowFeatures":
        from protonn_edge.features.transformer import WindowFeatures  # noqa: PLC0415

        return WindowFeatures
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
