"""The plan and the render context of a float build: one kernel per stage, in plain C."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from protonn_edge import __version__
from protonn_edge.codegen.context import (
    API_VERSION,
    ClassName,
    RawContext,
    c_float,
    class_names,
    hash_bytes,
    raw_context,
)
from protonn_edge.codegen.plan import ENTRY_BYTES
from protonn_edge.kernels.kernel import CHUNK_CYCLES, Push
from protonn_edge.quantization import Float32Model
from protonn_edge.system.shown import Shown

_FLOAT_BYTES = 4

Rows = tuple[tuple[str, ...], ...]


@dataclass(frozen=True)
class Float32Plan(Shown):
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


@dataclass(frozen=True)
class Float32Context:
    """Everything that `templates/c/float32` needs."""

    tool_version: str
    api_version: int
    model_sha256: str
    hash_bytes: tuple[str, ...]
    n_features: int
    n_projections: int
    n_prototypes: int
    n_classes: int
    input_maximum: int
    limit: str
    score_scale: str
    bias: tuple[str, ...]
    weights: Rows
    prototypes: Rows
    labels: Rows
    class_names: tuple[ClassName, ...]
    model_bytes: int
    table_bytes: int
    state_bytes: int
    chunk_cycles: int
    push_cycles: int
    push_call_cycles: int
    raw: RawContext


def float32_context(model: Float32Model) -> Float32Context:
    """Arrange the model in the order in which the generated program reads it."""
    plan = make_float32_plan(model)
    return Float32Context(
        tool_version=__version__,
        api_version=API_VERSION,
        model_sha256=model.model_sha256,
        hash_bytes=hash_bytes(model.model_sha256),
        n_features=model.n_features,
        n_projections=model.n_projections,
        n_prototypes=model.n_prototypes,
        n_classes=model.n_classes,
        input_maximum=model.inputs.maximum,
        limit=c_float(model.limit) if math.isfinite(model.limit) else "",
        score_scale=f"{model.score_scale:.6g}",
        bias=_rows(model.bias[None, :])[0],
        weights=_rows(model.projection.T),
        prototypes=_rows(model.prototypes.T),
        labels=_rows(model.labels.T),
        class_names=class_names(model.classes),
        model_bytes=model.model_bytes,
        table_bytes=plan.table_bytes,
        state_bytes=plan.state_bytes,
        chunk_cycles=CHUNK_CYCLES,
        push_cycles=plan.push.value,
        push_call_cycles=plan.push.call,
        raw=raw_context(model),
    )


def _rows(matrix: NDArray[np.float32]) -> Rows:
    """Return numbers as C literals, each the shortest that reads back as the same float."""
    return tuple(tuple(c_float(number) for number in row) for row in matrix)
