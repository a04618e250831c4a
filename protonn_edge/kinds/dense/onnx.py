"""The formula of a hidden layer in ONNX."""

from __future__ import annotations

from protonn_edge.kinds.dense.integers import UNIT_SHIFT, IntegerDense
from protonn_edge.model.onnx_graph import Values


def formula(x: Values, stage: IntegerDense) -> Values:
    """Return the values of a hidden layer, as `run` does."""
    upper = (x.product(stage.weights) + stage.bias) >> stage.accumulator_bits - 16
    return ((upper.op("Max", 0) * stage.multiplier) >> UNIT_SHIFT).op("Min", 255)
