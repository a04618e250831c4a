"""The formula of average pooling in ONNX."""

from __future__ import annotations

import numpy as np

from protonn_edge.features.average_pooling.integers import IntegerAveragePooling
from protonn_edge.features.images.onnx import cropped
from protonn_edge.model.onnx_graph import Values


def formula(x: Values, stage: IntegerAveragePooling) -> Values:
    """Return the values of average pooling, as `run` does."""
    areas = stage.pooling
    down, across = (
        np.kron(np.eye(axis.pixels // axis.output_units, dtype=int), axis.weights())
        for axis in (areas.rows, areas.columns)
    )
    sums = x.graph.constant(down) @ (cropped(x, areas) @ across.T)
    averages = (sums * stage.multiplier + stage.half) >> 16
    return averages.op("Reshape", [-1, stage.n_outputs])
