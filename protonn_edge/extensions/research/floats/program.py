"""The program of a float build: its plan, whose costs are not predicted, and its templates."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from protonn_edge.chips.cores import Core
from protonn_edge.codegen.plan import ENTRY_BYTES, PlannedStage
from protonn_edge.extensions.research.floats import NAME
from protonn_edge.extensions.research.floats.model import FloatProtoNN
from protonn_edge.model.integer_chain import IntegerChain
from protonn_edge.system.facts_repr import FactsRepr
from protonn_edge.system.schema import JsonObject

TEMPLATES = "floats"
"""Their folder, in `templates/c`."""

_FLOAT_BYTES = np.dtype(np.float32).itemsize


@dataclass(frozen=True)
class Float32Plan(FactsRepr):
    """Lower bounds of the bytes of a float build."""

    # flash of the constant tables; the linked program adds its code and the float routines
    table_bytes: int
    state_bytes: int  # SRAM of the model's own variables, the input's bytes among them
    chunk_features: int  # all

    kernel = NAME
    choices: ClassVar[dict[str, str]] = {"projection": kernel}

    # Neither stages nor cycles are predicted.
    steps: ClassVar[tuple[PlannedStage, ...]] = ()
    core = cycles = limit_bytes = None
    buffered = True

    def facts(self) -> dict[str, str]:
        """Return the kernel; nothing else is predicted."""
        return {"kernel": self.kernel}

    def to_json(self) -> JsonObject:
        """Return the kernel; a float build's cycles are not predicted."""
        return {"kernel": self.kernel}


def plan_for(model: IntegerChain, _core: Core | None = None, /) -> Float32Plan:
    """Return the plan of a float build."""
    (stage,) = model.own_stages
    assert isinstance(stage, FloatProtoNN)
    return Float32Plan(
        table_bytes=model.model_bytes + _FLOAT_BYTES * stage.n_projections,
        state_bytes=ENTRY_BYTES + model.n_features + 2 * _FLOAT_BYTES * model.n_classes,
        chunk_features=model.n_features,
    )


def plans_for(
    model: IntegerChain, core: Core | None = None, _limit_bytes: int | None = None, /
) -> list[Float32Plan]:
    """Return the only plan."""
    return [plan_for(model, core)]


def context(model: IntegerChain, _plan: Float32Plan, /) -> dict[str, object]:
    """Return the templates' variables, in addition to those of every program."""
    return {"floats": model.own_stages[-1]}
