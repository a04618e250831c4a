"""Largest values and averages of windows within boxes of inputs."""

from __future__ import annotations

from protonn_edge.extensions.proof.boxes import Box, bounds
from protonn_edge.features.pooling.integers import IntegerPooling


@bounds.register(IntegerPooling)
def _(stage: IntegerPooling, box: Box) -> Box:
    """Return the box of the values, none of which decreases with an input."""
    return box.mapped(stage.run)
