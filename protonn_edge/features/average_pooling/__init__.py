"""Average pooling: a smaller image of averages instead of the original one."""

from __future__ import annotations

from protonn_edge.chain.entries import Feature

FEATURES = (Feature("average_pooling", "integers", "AveragePooling"),)
STAGES = {"average_pooling": ""}
