"""Values of int8 layers within boxes of inputs."""

from __future__ import annotations

from protonn_edge.features.int8_layer.integers import IntegerInt8Layer
from protonn_edge.model.boxes import Box


def bounds(stage: IntegerInt8Layer, box: Box) -> Box:
    """Return the box of the values."""
    sums = box.sums(stage.sums, stage.weights, stage.bias)
    return sums.mapped(stage.requantized)
