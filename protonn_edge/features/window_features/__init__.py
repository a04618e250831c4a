"""Features of windows of raw samples, in integers, before the projection."""

from __future__ import annotations

from protonn_edge.model.entries import Requested

REQUESTS = (Requested("train:WindowRequest", 4), Requested("train:SampleRequest", 9))
STAGES = {"window_features": ""}
EXPORTS = {"WindowFeatures": "transformer"}
