"""Plans by the choices that tests make."""

from __future__ import annotations

import numpy as np
from chains import numbers_of, replace

from protonn_edge.chips.cores import UNO_CORE, Core
from protonn_edge.codegen.plan import Plan
from protonn_edge.codegen.planner import plan_of
from protonn_edge.kinds.projection.integers import MAXIMUM_MULTIPLIER
from protonn_edge.model.activity import Activity
from protonn_edge.model.integer_chain import IntegerChain
from protonn_edge.model.matvec import NIBBLE_MAXIMUM


def plan_with(
    model: IntegerChain,
    kernel: str,
    activity: Activity | None = None,
    *,
    core: Core = UNO_CORE,
) -> Plan:
    """Return the plan with this kernel of the projection."""
    return plan_of(model, {"projection": kernel}, core, activity=activity)


def of_weights_for(kernel: str, model: IntegerChain) -> IntegerChain:
    """Return the model; to be packed with weights of -7..7, and much the same coordinates."""
    if kernel != "packed":
        return model
    finer = NIBBLE_MAXIMUM / 128
    return replace(
        model,
        projection=np.rint(finer * numbers_of(model)["projection"]).astype(np.int8),
        bias=np.rint(finer * numbers_of(model)["bias"]).astype(np.int64),
        multiplier=min(MAXIMUM_MULTIPLIER, round(numbers_of(model)["multiplier"] / finer)),
    )


def with_first_cost(plan: Plan, **changes: int) -> Plan:
    """Return the plan whose first kernel takes something else."""
    first, *others = plan.costs
    return replace(plan, costs=(replace(first, **changes), *others))
