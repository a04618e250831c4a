"""Values of convolutions within boxes of inputs."""

from __future__ import annotations

from protonn_edge.chain.boxes import Box
from protonn_edge.features.convolution.integers import IntegerConvolution


def bounds(stage: IntegerConvolution, box: Box) -> Box:
    """Return the box of the values."""
    sums = box.sums(stage.sums, stage.weights, stage.bias)
    return sums.mapped(stage.requantized)
