"""Training for models that will be taught.

Each batch is an episode, as in meta-learning (Vinyals et al., NIPS 2016): `GroupShift` turns the
recorded people into new ones, some points of each are taught, as prototypes for the same person's
points only, and the loss counts all points. So W brings a person's examples near their other
points, and B and Z leave room for examples to vote, or work without any.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from protonn_edge.kinds.protonn.prototypes.teaching import Teaching
from protonn_edge.training.objective import TaughtExamples
from protonn_edge.training.points import Indices

_COUNTS = (0, 0, 1, 3, 5)  # examples that a person teaches of each class


@dataclass(frozen=True, eq=False)
class Episodes:
    """Draws the examples of batches.

    - `y` (n,): class indices, `n_classes` for a point of no class.
    - `groups` (n,): the group of each point, such as a person.
    - `vote`: of an example, as a share of the largest entry of Z.
    """

    y: Indices
    groups: Indices
    n_classes: int
    vote: float

    def examples(
        self, rows: Indices, largest: float, generator: np.random.Generator
    ) -> TaughtExamples:
        """Return the examples taught in a batch in random order, for the largest entry of Z."""
        people, y = self.groups[rows], self.y[rows]
        counts = generator.choice(_COUNTS, int(self.groups.max()) + 1)
        parts = people * (self.n_classes + 1) + y
        order = np.argsort(parts, kind="stable")
        places = np.arange(len(rows)) - np.searchsorted(parts[order], parts[order])
        rank = np.empty_like(places)
        rank[order] = places  # among the points of the same person and class
        taught = np.flatnonzero((rank < counts[people]) & (y < self.n_classes))
        met = (people[:, None] == people[taught]).astype(np.float32)
        met[taught, np.arange(len(taught))] = 0
        return TaughtExamples(taught, met, self.vote * largest, Teaching.sharpness)
