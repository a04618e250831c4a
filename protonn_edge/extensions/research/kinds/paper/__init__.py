"""ProtoNN as in its paper: the optimizer that trains Z, B and W in turn, and other losses.

See `docs/research.md`.
"""

from __future__ import annotations

from protonn_edge.model.entries import Variant

VARIANTS = (Variant("protonn", "PaperProtoNN"),)
