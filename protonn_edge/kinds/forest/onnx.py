"""The formula of a forest in ONNX."""

from __future__ import annotations

import numpy as np

from protonn_edge.kinds.forest.integers import IntegerForest
from protonn_edge.model.onnx_graph import Values


def formula(x: Values, stage: IntegerForest) -> Values:
    """Return the values of a forest, as `run` does."""
    trees, inner = stage.trees, stage.trees.inner
    left = np.arange(len(inner)) + inner  # a leaf points to itself
    numbers = stage.features * inner, trees.at_nodes(stage.thresholds), left, trees.right
    tables = [x.graph.constant(each) for each in numbers]
    at = x.op("ReduceMax", [1]) * 0 + trees.roots
    steps = inner.astype(np.int64)
    for _ in range(int(trees.down(steps, steps).max())):
        feature, limit, low, high = (table.op("Gather", at) for table in tables)
        is_low = x.op("GatherElements", feature, axis=1).op("LessOrEqual", limit)
        at = is_low.op("Where", low, high)
    values = np.zeros((len(inner), stage.n_outputs))
    values[~inner] = stage.leaves
    return x.graph.constant(values).op("Gather", at).op("ReduceSum", [1], keepdims=0) + stage.bias
