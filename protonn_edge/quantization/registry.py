"""The kinds of classifiers with integer models, by `Model.kind`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from protonn_edge.quantization.integer_kind import IntegerKind, inputs_and
from protonn_edge.system.lazy import later


def _of(place: str, name: str) -> Callable[..., Any]:
    return later(f"protonn_edge.{place}", name)


INTEGER_KINDS: dict[str, IntegerKind] = {
    "protonn": IntegerKind(
        _of("kinds.protonn.quantize", "quantize"),
        _of("kinds.protonn.quantize", "scores_by_step"),
        _of("quantization.float32", "float32_model"),
    ),
    "linear": IntegerKind(_of("kinds.linear.quantize", "quantize"), inputs_and("W")),
    "dense": IntegerKind(_of("kinds.dense.quantize", "quantize"), inputs_and("W")),
    "forest": IntegerKind(_of("kinds.forest.quantize", "quantize"), inputs_and("leaves")),
    "bonsai": IntegerKind(
        _of("kinds.bonsai.quantize", "quantize_bonsai"),
        _of("kinds.bonsai.quantize", "scores_by_step"),
    ),
    "local-deep-kernel": IntegerKind(
        _of("kinds.bonsai.quantize", "quantize_kernel"),
        _of("kinds.bonsai.quantize", "scores_by_step"),
    ),
}
