"""Sums of gradients by direction over overlapping cells of an image."""

from __future__ import annotations

from protonn_edge.chain.entries import Feature

FEATURES = (Feature("gradients", "integers", "Gradients"),)
STAGES = {"gradients": ""}
