"""From float models to integer models, the bit-exact reference of generated code."""

from __future__ import annotations

from protonn_edge.system.lazy import lazy_names

__all__, __getattr__, __dir__ = lazy_names(__name__)
