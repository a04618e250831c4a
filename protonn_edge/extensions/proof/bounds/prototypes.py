"""The least differences of votes within boxes of coordinates."""

from __future__ import annotations

import numpy as np

from protonn_edge.extensions.proof.boxes import Box, leads, leads_of_sums
from protonn_edge.kinds.protonn.prototypes.integers import IntegerPrototypes, read_table
from protonn_edge.model.integer_stage import IntArray


@leads.register(IntegerPrototypes)
def _(stage: IntegerPrototypes, box: Box, classes: IntArray) -> IntArray | None:
    """Return how far the scores of classes (n,) are at least above all scores, (n, L).

    The table never increases with the distance from a prototype. None if examples vote, too.
    """
    if stage.voters is not None:
        return None
    shape = len(classes), stage.n_prototypes
    near, far = np.zeros(shape, np.int64), np.zeros(shape, np.int64)
    for k, places in enumerate(stage.prototypes.astype(np.int64)):
        below, above = places - box.low[:, k, None], box.high[:, k, None] - places
        far += np.maximum(np.abs(below), np.abs(above)) ** 2
        near += np.maximum(np.maximum(-below, -above), 0) ** 2
    low, high = (read_table(stage.table, r >> stage.distance_shift) for r in (far, near))
    labels = stage.labels.astype(np.int64)
    return leads_of_sums(labels, np.zeros(stage.n_outputs, np.int64), Box(low, high), classes)
