"""ProtoNN of one class: prototypes of normal points alone."""

from __future__ import annotations

from protonn_edge.model.entries import Variant

VARIANTS = (Variant("protonn", "OneClassProtoNN"),)
