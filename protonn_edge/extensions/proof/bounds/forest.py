"""The least differences of a forest's scores within boxes of inputs."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from protonn_edge.extensions.proof.boxes import Box, leads
from protonn_edge.kinds.forest.integers import IntegerForest
from protonn_edge.model.integer_stage import IntArray

_FAR = 1 << 20  # above any difference of leaves


@leads.register(IntegerForest)
def _(stage: IntegerForest, box: Box, classes: IntArray) -> IntArray:
    """Return how far the scores of classes (n,) are at least above all scores, (n, L).

    Each tree has the least difference of the leaves that some input in the box reaches.
    """
    trees, values = stage.trees, stage.leaves.astype(np.int64)
    limits = trees.at_nodes(stage.thresholds)
    reached = np.zeros((len(stage.features), len(classes)), bool)
    reached[trees.roots] = True
    for nodes in trees.levels:
        tested, limit = stage.features[nodes], limits[nodes][:, None]
        reached[nodes + 1] = reached[nodes] & (box.low.T[tested] <= limit)
        reached[trees.right[nodes]] = reached[nodes] & (box.high.T[tested] > limit)
    at_leaves: NDArray[np.bool_] = reached[~trees.inner]
    least = np.zeros((len(classes), stage.n_outputs), np.int64)
    for row, label in enumerate(classes):
        apart = values[:, label, None] - values
        apart[~at_leaves[:, row]] = _FAR
        least[row] = np.minimum.reduceat(apart, trees.leaf_starts).sum(axis=0)
    return least + stage.bias[classes][:, None] - stage.bias
