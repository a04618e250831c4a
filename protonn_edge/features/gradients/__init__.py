"""Sums of gradients by direction over overlapping cells of an image."""

from __future__ import annotations

from protonn_edge.model.entries import Requested

REQUESTS = (Requested("train:GradientRequest", 0),)
STAGES = {"gradients": ""}
