"""The formula of a layer of a quantized network in ONNX."""

from __future__ import annotations

import numpy as np

from protonn_edge.features.images.onnx import window_sums
from protonn_edge.features.int8_layer.integers import IntegerInt8Layer
from protonn_edge.model.onnx_graph import Values


def formula(x: Values, stage: IntegerInt8Layer) -> Values:
    """Return the values of a layer of a quantized network, as `run` does."""
    a = window_sums(x, stage)
    products = a * (stage.multipliers << np.maximum(-stage.shifts, 0))
    shifts = np.maximum(stage.shifts, 0)
    if stage.rounds_once:
        values = (products + (1 << 30 + shifts)) >> 31 + shifts
    else:
        high = (products + (1 << 30)) >> 31
        values = ((high.op("Abs") + ((1 << shifts) >> 1)) >> shifts) * high.op("Sign")
    limited = (values + stage.offset).op("Clip", *stage.limits)
    return limited.op("Reshape", [-1, stage.n_outputs])
