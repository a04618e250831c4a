"""ProtoNN."""

from __future__ import annotations

from protonn_edge.model.entries import Kind

KINDS = (Kind("protonn", "ProtoNN", 0, training="train.classifier", has_learner=True),)
TITLES = {"protonn": "ProtoNN"}
STAGES = {"prototypes": "prototypes"}
