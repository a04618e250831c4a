"""Values of hidden layers within boxes of inputs."""

from __future__ import annotations

from protonn_edge.chain.boxes import Box
from protonn_edge.kinds.dense.integers import IntegerDense


def bounds(stage: IntegerDense, box: Box) -> Box:
    """Return the box of the values."""
    return box.products(stage.weights, stage.bias).mapped(stage.rectified)
