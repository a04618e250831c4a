"""Counted kernels: how often a small difference of samples of a window exceeds a bias."""

from __future__ import annotations

from protonn_edge.model.entries import Requested

REQUESTS = (Requested("train:KernelRequest", 10),)
STAGES = {"kernels": ""}
SMALLER = {"kernels": ("--features kernels:48",)}
