"""From the integer model to C: the plan, the render context and the renderer."""

from __future__ import annotations

from protonn_edge.codegen.float32 import Float32Plan, make_float32_plan
from protonn_edge.codegen.plan import Plan, make_plan
from protonn_edge.codegen.renderer import SOURCES, render_c
from protonn_edge.quantization import DeviceModel, Float32Model

__all__ = ["SOURCES", "Float32Plan", "Plan", "make_plan", "plan_for", "render_c"]


def plan_for(model: DeviceModel) -> Plan | Float32Plan:
    """Return the plan of an integer or a float build."""
    return make_float32_plan(model) if isinstance(model, Float32Model) else make_plan(model)
