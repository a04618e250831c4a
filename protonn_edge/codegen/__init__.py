"""From the integer model to C: the plan, the render context and the renderer."""

from __future__ import annotations

from protonn_edge.codegen.float32 import Float32Plan, make_float32_plan
from protonn_edge.codegen.host import HOST_MAIN
from protonn_edge.codegen.plan import Plan
from protonn_edge.codegen.planner import Limits, every_plan, make_plan, plans
from protonn_edge.codegen.prefix import PREFIX, check_collisions, check_prefix
from protonn_edge.codegen.renderer import SOURCES, render_c, template_environment
from protonn_edge.stages.matvec.cycles import KERNELS, KernelName

__all__ = [
    "HOST_MAIN",
    "KERNELS",
    "PREFIX",
    "SOURCES",
    "Float32Plan",
    "KernelName",
    "Limits",
    "Plan",
    "check_collisions",
    "check_prefix",
    "every_plan",
    "make_float32_plan",
    "make_plan",
    "plans",
    "render_c",
    "template_environment",
]
