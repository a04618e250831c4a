"""The formula of pooling in ONNX."""

from __future__ import annotations

from protonn_edge.features.pooling.integers import IntegerPooling
from protonn_edge.model.onnx_graph import Values


def formula(x: Values, stage: IntegerPooling) -> Values:
    """Return the values of pooling, as `run` does."""
    (height, width, channels), (rows, columns) = stage.output_shape, stage.window
    images = x.op("Reshape", [-1, *stage.shape])[slice(0, height * rows), slice(0, width * columns)]
    windows = images.op("Reshape", [-1, height, rows, width, columns, channels])
    if stage.how == "maximum":
        pooled = windows.op("ReduceMax", [2, 4])
    else:
        pooled = (windows.op("ReduceSum", [2, 4]) * stage.multiplier + (1 << 15)) >> 16
    return pooled.op("Reshape", [-1, stage.n_outputs])
