"""The kinds of classifiers that become integers, by `Model.kind`: a line each."""

from __future__ import annotations

from protonn_edge.quantization import bonsai, dense, forest, linear, protonn_steps, quantizer
from protonn_edge.quantization.float32_model import float32_model
from protonn_edge.quantization.integer_kind import IntegerKind

INTEGER_KINDS: dict[str, IntegerKind] = {
    "protonn": IntegerKind(quantizer.quantize, protonn_steps.scores_by_step, float32_model),
    "linear": IntegerKind(linear.quantize, linear.scores_by_step),
    "dense": IntegerKind(dense.quantize, dense.scores_by_step),
    "forest": IntegerKind(forest.quantize, forest.scores_by_step),
    "bonsai": IntegerKind(bonsai.quantize_bonsai, bonsai.scores_by_step),
    "local-deep-kernel": IntegerKind(bonsai.quantize_kernel, bonsai.scores_by_step),
}
