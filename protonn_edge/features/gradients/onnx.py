"""The formula of sums of gradients in ONNX."""

from __future__ import annotations

import numpy as np

from protonn_edge.features.gradients.integers import LEVELS, IntegerGradients
from protonn_edge.features.images.onnx import cropped
from protonn_edge.model.onnx_graph import Values


def formula(x: Values, stage: IntegerGradients) -> Values:
    """Return the values of sums of gradients, as `run` does."""
    cells, (h, w) = stage.cells, stage.cells.cropped_shape
    p, rows, columns = cropped(x, cells).op("Pad", [0, 1, 1] * 2), slice(1, h + 1), slice(1, w + 1)
    gx = p[rows, slice(2, w + 2)] - p[rows, slice(0, w)]
    gy = p[slice(2, h + 2), columns] - p[slice(0, h), columns]
    (along, ahead), (down, below) = ((each.op("Abs"), each > 0) for each in (gx, gy))
    largest, steep = along.op("Max", down), down > along
    if cells.directions == 4:
        straight, slanting = steep, ahead.op("Equal", below).wide + 2
    else:
        straight, slanting = steep * (below * 3 + 2 - ahead) + ahead, ahead + below * 3 + 3
    direction = straight + (along.op("Min", down) * 2 > largest) * (slanting - straight)
    each = np.arange(cells.directions)[:, None, None]
    shared = (largest >> cells.halvings()).op("Unsqueeze", [1])
    some = direction.op("Unsqueeze", [1]).op("Equal", each).wide * shared
    sums = x.graph.constant(cells.rows.members().T) @ (some @ cells.columns.members())
    places = (sums.op("Transpose", perm=[0, 2, 3, 1]) >> stage.shift).op("Min", LEVELS - 1)
    roots = x.graph.constant(stage.table).op("Gather", places)
    return roots.op("Reshape", [-1, stage.n_outputs])
