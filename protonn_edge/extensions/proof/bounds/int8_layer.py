"""Values of int8 layers within boxes of inputs."""

from __future__ import annotations

from protonn_edge.extensions.proof.boxes import Box, bounds
from protonn_edge.features.int8_layer.integers import IntegerInt8Layer


@bounds.register(IntegerInt8Layer)
def _(stage: IntegerInt8Layer, box: Box) -> Box:
    """Return the box of the values."""
    sums = box.sums(stage.sums, stage.weights, stage.bias)
    return sums.mapped(stage.requantized)
