"""Convolution: weighted sums over windows of an image of channels, which become bytes again."""

from __future__ import annotations

from protonn_edge.model.entries import Requested

REQUESTS = (Requested("train.request:ConvolutionRequest", 2),)
STAGES = {"convolution": ""}
SMALLER = {
    "convolution": (
        "fewer channels in the layers",
        "a stride of 2 or averages in the first layer",
    )
}
