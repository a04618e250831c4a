"""From the integer model to C: the plan, the render context and the renderer."""

from __future__ import annotations

from protonn_edge.codegen.plan import Plan, make_plan
from protonn_edge.codegen.renderer import SOURCES, render_c

__all__ = ["SOURCES", "Plan", "make_plan", "render_c"]
