"""Convolution: weighted sums over windows of an image of channels, which become bytes again."""

from __future__ import annotations

from protonn_edge.chain.entries import Feature, Requested

FEATURES = (Feature("convolutions", "stage", "Convolutions"),)
REQUESTS = (Requested("train.request:ConvolutionRequest", 2),)
STAGES = {"convolution": ""}
