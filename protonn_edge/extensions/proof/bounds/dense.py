"""Values of hidden layers within boxes of inputs."""

from __future__ import annotations

from protonn_edge.extensions.proof.boxes import Box, bounds
from protonn_edge.kinds.dense.integers import IntegerDense


@bounds.register(IntegerDense)
def _(stage: IntegerDense, box: Box) -> Box:
    """Return the box of the values."""
    return box.products(stage.weights, stage.bias).mapped(stage.rectified)
