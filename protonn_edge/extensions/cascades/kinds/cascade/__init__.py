"""Two models in one: the second answers where the first is not sure."""

from __future__ import annotations

from protonn_edge.model.entries import Kind

KINDS = (Kind("cascade", "Cascade", 8, training=""),)
STAGES = {"cascade": ""}
