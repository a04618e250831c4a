"""The formula of a convolution in ONNX."""

from __future__ import annotations

from protonn_edge.features.convolution.integers import IntegerConvolution
from protonn_edge.features.images.onnx import window_sums
from protonn_edge.model.onnx_graph import Values


def formula(x: Values, stage: IntegerConvolution) -> Values:
    """Return the values of a convolution, as `run` does."""
    sums = window_sums(x, stage)
    values = sums * stage.multiplier + (1 << stage.shift - 1) * stage.to_even
    whole = values >> stage.shift
    if stage.to_even:
        was_half = values.op("Mod", 1 << stage.shift).op("Equal", 0).wide
        whole = whole - was_half * whole.op("Mod", 2)
    return whole.op("Clip", 0, stage.maximum).op("Reshape", [-1, stage.n_outputs])
