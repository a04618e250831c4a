"""Features of windows of raw samples, in integers, before the projection."""

from __future__ import annotations

from protonn_edge.chain.entries import Feature

FEATURES = (Feature("window_features", "stage", "WindowFeatureStage"),)
STAGES = {"window_features": ""}
EXPORTS = {"WindowFeatures": "transformer"}
