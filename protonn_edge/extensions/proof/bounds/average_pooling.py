"""Averages of areas within boxes of inputs."""

from __future__ import annotations

from protonn_edge.extensions.proof.boxes import Box, bounds
from protonn_edge.features.average_pooling.integers import IntegerAveragePooling


@bounds.register(IntegerAveragePooling)
def _(stage: IntegerAveragePooling, box: Box) -> Box:
    """Return the box of the values, none of which decreases with an input."""
    return box.mapped(stage.run)
