"""Coordinates within boxes of inputs."""

from __future__ import annotations

import numpy as np

from protonn_edge.extensions.proof.boxes import Box, bounds
from protonn_edge.kinds.projection.integers import (
    COORDINATE_MAXIMUM,
    COORDINATE_MINIMUM,
    IntegerProjection,
)
from protonn_edge.model.integer_stage import IntArray


@bounds.register(IntegerProjection)
def _(stage: IntegerProjection, box: Box) -> Box:
    """Return the box of the coordinates."""

    def coordinates(sums: IntArray) -> IntArray:
        return np.clip(stage.requantized(sums), COORDINATE_MINIMUM, COORDINATE_MAXIMUM)

    return box.products(stage.weights, stage.bias).mapped(coordinates)
