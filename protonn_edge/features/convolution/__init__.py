"""Convolution: weighted sums over windows of an image of channels, which become bytes again."""

from __future__ import annotations

from protonn_edge.chain.entries import Feature

FEATURES = (Feature("convolutions", "stage", "Convolutions"),)
STAGES = {"convolution": ""}
