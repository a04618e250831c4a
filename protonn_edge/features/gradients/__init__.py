"""Sums of gradients by direction over overlapping cells of an image."""

from __future__ import annotations

from protonn_edge.chain.entries import Feature, Requested

FEATURES = (Feature("gradients", "integers", "Gradients"),)
REQUESTS = (Requested("train:GradientRequest", 0),)
STAGES = {"gradients": ""}
