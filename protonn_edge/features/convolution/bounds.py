"""Values of convolutions within boxes of inputs."""

from __future__ import annotations

from protonn_edge.features.convolution.integers import IntegerConvolution
from protonn_edge.model.boxes import Box


def bounds(stage: IntegerConvolution, box: Box) -> Box:
    """Return the box of the values."""
    sums = box.sums(stage.sums, stage.weights, stage.bias)
    return sums.mapped(stage.requantized)
