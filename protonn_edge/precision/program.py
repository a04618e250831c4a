"""The program of a float build: its plan, whose costs are not predicted, and its templates."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from protonn_edge.chain.integer_chain import IntegerChain
from protonn_edge.codegen.plan import ENTRY_BYTES
from protonn_edge.kernels.kernel import Push, Step
from protonn_edge.precision import NAME
from protonn_edge.precision.model import FloatProtoNN
from protonn_edge.system.facts_repr import FactsRepr

TEMPLATES = "precision"
"""Their folder, in `templates/c`."""

_FLOAT_BYTES = 4


@dataclass(frozen=True)
class Float32Plan(FactsRepr):
    """Bounds of the costs of a float build: lower bounds of bytes, upper bounds of cycles."""

    # flash of the constant tables; the linked program adds its code and the float routines
    table_bytes: int
    state_bytes: int  # SRAM of the model's own variables, the input's bytes among them

    kernel = NAME
    choices: ClassVar[dict[str, str]] = {"projection": kernel}
    begin_cycles = 20

    # Neither stages nor cycles are predicted.
    steps: ClassVar[tuple[Step, ...]] = ()
    core = mean_cycles = worst_cycles = None
    buffered = False
    chunk_features = 0

    # A push only copies a byte; measured on the emulator for avr-gcc at -O2, with a margin.
    push = Push(value=15, zero=15, call=80, whole=80)

    def facts(self) -> dict[str, str]:
        """Return the kernel; nothing else is predicted."""
        return {"kernel": self.kernel}

    def to_json(self) -> dict[str, Any]:
        """Return the kernel; a float build's cycles are not predicted."""
        return {"kernel": self.kernel}

    @property
    def fed_feature_cycles(self) -> float:
        """Bound of the cycles per feature when features arrive over the serial line."""
        return self.push.value + self.push.call


def plan_for(model: IntegerChain) -> Float32Plan:
    """Return the plan of a float build."""
    (stage,) = model.own_stages
    assert isinstance(stage, FloatProtoNN)
    return Float32Plan(
        table_bytes=model.model_bytes + _FLOAT_BYTES * stage.n_projections,
        state_bytes=ENTRY_BYTES + model.n_features + 2 * _FLOAT_BYTES * model.n_classes,
    )


def context(model: IntegerChain) -> dict[str, Any]:
    """Return the templates' variables, in addition to those of every program."""
    return {"floats": model.own_stages[-1]}
