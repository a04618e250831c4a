"""From the integer model to C: the plan, the render context and the renderer."""

from __future__ import annotations

from protonn_edge.system.lazy import lazy_names

__all__, __getattr__, __dir__ = lazy_names(__name__)
