"""Features of windows of raw samples, in integers, before the projection."""

from __future__ import annotations

STAGES = {"window_features": ""}
EXPORTS = {"WindowFeatures": "transformer"}
