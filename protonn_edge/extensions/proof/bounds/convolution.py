"""Values of convolutions within boxes of inputs."""

from __future__ import annotations

from protonn_edge.extensions.proof.boxes import Box, bounds
from protonn_edge.features.convolution.integers import IntegerConvolution


@bounds.register(IntegerConvolution)
def _(stage: IntegerConvolution, box: Box) -> Box:
    """Return the box of the values."""
    sums = box.sums(stage.sums, stage.weights, stage.bias)
    return sums.mapped(stage.requantized)
