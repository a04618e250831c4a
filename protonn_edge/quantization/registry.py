"""The kinds of classifiers with integer models, by `Model.kind`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from protonn_edge.quantization.integer_kind import IntegerKind, inputs_and
from protonn_edge.system.lazy import later


def _of(module: str, name: str) -> Callable[..., Any]:
    return later(f"protonn_edge.quantization.{module}", name)


INTEGER_KINDS: dict[str, IntegerKind] = {
    "protonn": IntegerKind(
        _of("quantizer", "quantize"),
        _of("protonn_steps", "scores_by_step"),
        _of("float32", "float32_model"),
    ),
    "linear": IntegerKind(_of("linear", "quantize"), inputs_and("W")),
    "dense": IntegerKind(_of("dense", "quantize"), inputs_and("W")),
    "forest": IntegerKind(_of("forest", "quantize"), inputs_and("leaves")),
    "bonsai": IntegerKind(_of("bonsai", "quantize_bonsai"), _of("bonsai", "scores_by_step")),
    "local-deep-kernel": IntegerKind(
        _of("bonsai", "quantize_kernel"), _of("bonsai", "scores_by_step")
    ),
}
