"""An example of a kind of classifier: the class whose mean is nearest."""

from __future__ import annotations

from protonn_edge.model.entries import Kind

KINDS = (Kind("nearest_mean", "NearestMean", 20),)
STAGES = {"nearest_mean": ""}
TITLES = {"nearest_mean": "nearest mean"}
