"""The formula of a projection in ONNX."""

from __future__ import annotations

from protonn_edge.kinds.projection.integers import REQUANTIZE_SHIFT, IntegerProjection
from protonn_edge.model.onnx_graph import Values


def formula(x: Values, stage: IntegerProjection) -> Values:
    """Return the values of a projection, as `run` does."""
    upper = (x.product(stage.weights) + stage.bias) >> stage.accumulator_bits - 16
    return ((upper * stage.multiplier + stage.offset) >> REQUANTIZE_SHIFT).op("Clip", -128, 127)
