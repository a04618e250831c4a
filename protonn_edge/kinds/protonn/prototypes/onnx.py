"""The formula of prototypes in ONNX."""

from __future__ import annotations

import numpy as np

from protonn_edge.kinds.protonn.prototypes.integers import IntegerPrototypes
from protonn_edge.model.onnx_graph import Values


def similarities(x: Values, stage: IntegerPrototypes) -> Values:
    """Return the similarity (n, m) of each prototype, from 0 on."""
    B = stage.prototypes.T
    lengths = (x * x).op("ReduceSum", [1]) + np.square(B.astype(int)).sum(axis=1)
    squares = lengths - x.product(B, signed=True) * 2
    places = (squares >> stage.distance_shift).op("Min", len(stage.table))
    return x.graph.constant(np.append(stage.table, 0)).op("Gather", places)


def formula(x: Values, stage: IntegerPrototypes) -> Values:
    """Return the values of prototypes, as `run` does."""
    return similarities(x, stage).product(stage.labels)


def nearest(x: Values, stage: IntegerPrototypes) -> Values:
    """Return the similarity (n, 1) of the nearest prototype."""
    return similarities(x, stage).op("ReduceMax", [1])
