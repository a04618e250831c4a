"""Pooling: a smaller image of the largest or the average values in windows of another one."""

from __future__ import annotations

from protonn_edge.model.entries import Requested

REQUESTS = (Requested("train:PoolingRequest", 1),)
STAGES = {"average_pooling": "", "pooling": ""}
