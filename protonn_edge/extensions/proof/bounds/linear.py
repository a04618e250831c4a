"""The least differences of linear scores within boxes of inputs."""

from __future__ import annotations

import numpy as np

from protonn_edge.extensions.proof.boxes import Box, leads, leads_of_sums
from protonn_edge.kinds.linear.integers import IntegerLinear
from protonn_edge.model.integer_stage import IntArray


@leads.register(IntegerLinear)
def _(stage: IntegerLinear, box: Box, classes: IntArray) -> IntArray:
    """Return how far the scores of classes (n,) are at least above all scores, (n, L): exact."""
    weights, bias = stage.weights.astype(np.int64), stage.bias
    if stage.n_outputs != stage.n_sums:
        weights, bias = np.concatenate([-weights, weights]), np.concatenate([-bias, bias])
    return leads_of_sums(weights, bias, box, classes)
