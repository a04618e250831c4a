"""The plan of a float build: one kernel per stage, in plain C."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from protonn_edge.codegen.plan import ENTRY_BYTES
from protonn_edge.kernels.kernel import Push
from protonn_edge.quantization import Float32Model
from protonn_edge.system.facts_repr import FactsRepr

_FLOAT_BYTES = 4

Rows = tuple[tuple[str, ...], ...]


@dataclass(frozen=True)
class Float32Plan(FactsRepr):
    """Bounds of the costs of a float build: lower bounds of bytes, upper bounds of cycles.

    Attributes
    ----------
    table_bytes : int
        Flash of the constant tables; the linked program adds its code and the float routines.
    state_bytes : int
        SRAM of the model's own variables, the input's bytes among them.
    """

    table_bytes: int
    state_bytes: int

    kernel = "float32"
    begin_cycles = 20

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


def make_float32_plan(model: Float32Model) -> Float32Plan:
    """Return the plan of a float build."""
    return Float32Plan(
        table_bytes=model.model_bytes + _FLOAT_BYTES * model.n_projections,
        state_bytes=ENTRY_BYTES + model.n_features + 2 * _FLOAT_BYTES * model.n_classes,
    )
