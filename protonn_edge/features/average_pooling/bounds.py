"""Averages of areas within boxes of inputs."""

from __future__ import annotations

from protonn_edge.features.average_pooling.integers import IntegerAveragePooling
from protonn_edge.model.boxes import Box


def bounds(stage: IntegerAveragePooling, box: Box) -> Box:
    """Return the box of the values, none of which decreases with an input."""
    return box.mapped(stage.run)
