"""Values of hidden layers within boxes of inputs."""

from __future__ import annotations

from protonn_edge.kinds.dense.integers import IntegerDense
from protonn_edge.model.boxes import Box


def bounds(stage: IntegerDense, box: Box) -> Box:
    """Return the box of the values."""
    return box.products(stage.weights, stage.bias).mapped(stage.rectified)
