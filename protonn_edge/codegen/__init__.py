"""From the integer model to C: the plan, the render context and the renderer."""

from __future__ import annotations

from protonn_edge.codegen.kernels import KERNELS, KernelName
from protonn_edge.codegen.plan import Plan
from protonn_edge.codegen.planner import Limits, make_plan, plans
from protonn_edge.codegen.renderer import SOURCES, render_c

__all__ = ["KERNELS", "SOURCES", "KernelName", "Limits", "Plan", "make_plan", "plans", "render_c"]
