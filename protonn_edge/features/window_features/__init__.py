"""Features of windows of raw samples, in integers, before the projection."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from protonn_edge.features.window_features.declaration import KINDS, FeatureSet
from protonn_edge.features.window_features.stage import WindowFeatureStage
from protonn_edge.features.window_features.windows import check_window

if TYPE_CHECKING:
    from protonn_edge.features.window_features.transformer import WindowFeatures

__all__ = [
    "KINDS",
    "FeatureSet",
    "WindowFeatureStage",
    "WindowFeatures",
    "check_window",
]


def __getattr__(name: str) -> Any:
    # Importing scikit-learn takes half a second, and building a model does not need it.
    if name == "WindowFeatures":
        from protonn_edge.features.window_features.transformer import WindowFeatures  # noqa: PLC0415

        return WindowFeatures
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
