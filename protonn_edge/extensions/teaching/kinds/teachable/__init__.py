"""ProtoNN with examples that vote beside its prototypes."""

from __future__ import annotations

from protonn_edge.model.entries import Variant

VARIANTS = (Variant("protonn", "TeachableProtoNN"),)
