"""Linear scores, which are the sums of a matrix product."""

from __future__ import annotations

from protonn_edge.model.entries import Kind

KINDS = (Kind("linear", "Linear", 1),)
STAGES = {"linear": ""}
