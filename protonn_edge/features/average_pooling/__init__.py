"""Average pooling: a smaller image of averages instead of the original one."""

from __future__ import annotations

from protonn_edge.model.entries import Requested

REQUESTS = (Requested("train:PoolingRequest", 1),)
STAGES = {"average_pooling": ""}
