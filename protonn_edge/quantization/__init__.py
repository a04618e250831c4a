"""Scales, the exponential's table, and the integer model that is the bit-exact reference."""

from __future__ import annotations

from protonn_edge.system.lazy import lazy_names

__all__, __getattr__, __dir__ = lazy_names(__name__)
