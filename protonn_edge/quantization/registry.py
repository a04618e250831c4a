"""The kinds of classifiers that become integers, by `Model.kind`: a line each."""

from __future__ import annotations

from protonn_edge.quantization import bonsai, dense, forest, linear, protonn_steps, quantizer
from protonn_edge.quantization.float32_model import float32_model
from protonn_edge.quantization.integer_kind import IntegerKind, inputs_and

INTEGER_KINDS: dict[str, IntegerKind] = {
    "protonn": IntegerKind(quantizer.quantize, protonn_steps.scores_by_step, float32_model),
    "linear": IntegerKind(linear.quantize, inputs_and("W")),
    "dense": IntegerKind(dense.quantize, inputs_and("W")),
    "forest": IntegerKind(forest.quantize, inputs_and("leaves")),
    "bonsai": IntegerKind(bonsai.quantize_bonsai, bonsai.scores_by_step),
    "local-deep-kernel": IntegerKind(bonsai.quantize_kernel, bonsai.scores_by_step),
}
