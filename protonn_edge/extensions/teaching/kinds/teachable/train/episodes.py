"""Training a model that will be taught.

For a model that will be taught, each batch is an episode, as in meta-learning (Vinyals et al., NIPS
2016). `GroupShift` turns the recorded people into new ones; some points of each person are taught,
as prototypes for that person's points only; and the loss counts all points. As a result, W projects
a person's points close to their taught examples, and B and Z work with and without such votes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from protonn_edge.extensions.teaching.protonn.model import (
    Teachable,
    check_teachable,
    with_new_classes,
)
from protonn_edge.extensions.teaching.protonn.votes import SHARPNESS
from protonn_edge.kinds.protonn.train.voters import DrawnVoters, VotersTraining
from protonn_edge.learn.objective import Matrix, Parameters, RbfOf, scores_of, through_distances
from protonn_edge.learn.points import Float32, Indices
from protonn_edge.learn.training_set import TrainingSet

# With new classes: the factor on gamma, which leaves room between the classes; and the vote of an
# example, as a share of the median highest score.
_NARROWER = 5 / 3
_VOTE_IF_NEW = 0.45
_LEAST_VOTE = 0.01


class TeachableTraining(VotersTraining):
    """How training allows for examples that a device learns."""

    in_groups = True

    def __init__(self, settings: Any) -> None:
        super().__init__(settings)
        self.new_classes = int(settings.new_classes)
        self.gamma_factor = _NARROWER if self.new_classes else 1.0

    def check(self, n_classes: int) -> None:
        """Raise `InputError` if no device has room for the examples of this number of classes."""
        check_teachable(self.settings.teachable, n_classes)

    def labels(self, Z: Float32) -> Float32:
        """Return the label vectors Z (L, m) with those of new classes."""
        return with_new_classes(Z, self.new_classes)

    def voters(self, parameters: Parameters, data: TrainingSet) -> Teachable:
        """Return the trained model's room for examples."""
        room = int(self.settings.teachable)  # True is 1
        return Teachable(room, self._vote(parameters, data), self.new_classes)

    def _vote(self, parameters: Parameters, data: TrainingSet) -> float:
        """Return the vote of an example, as a share of the largest entry of Z.

        An example of a new class has to win alone against the scores of other classes, so its vote
        depends on these: it is a share of the median of the highest scores.
        """
        if not self.new_classes:
            return Teachable.vote
        highest = scores_of(parameters, data.measured.X).max(axis=1)
        vote = _VOTE_IF_NEW * float(np.median(highest) / np.abs(parameters.labels).max())
        return min(1.0, max(vote, _LEAST_VOTE))

    def drawn_voters(self, data: TrainingSet) -> DrawnVoters | None:
        """Return the examples taught in batches, which adapt W; with new classes, W is fixed."""
        groups = data.points.group
        if self.new_classes or groups is None:
            return None
        return Episodes(data.points.y, groups, data.n_classes, Teachable.vote)


@dataclass(frozen=True, eq=False)
class TaughtExamples:
    """Points of a batch that act as examples taught to a device: they are prototypes, too."""

    rows: NDArray[np.int64]  # (e,): which of the points, each at most once
    met: Matrix  # (n, e): 1 where a point meets an example, and 0 elsewhere
    vote: float  # of an example for its class
    sharpness: float  # the RBF's factor on squared distances

    def rbf(self, projected: Matrix, rbf_of: RbfOf) -> tuple[Matrix, Matrix]:
        """Return the RBF (n, e) of projected points (n, d), and the values of `rbf_of`."""
        points = projected[self.rows]
        squares = -2.0 * (projected @ points.T) + np.einsum("ij,ij->i", points, points)
        squares += np.einsum("ij,ij->i", projected, projected)[:, None]
        squares = np.float32(self.sharpness) * np.maximum(squares, 0.0)
        kernel = np.exp(-squares)
        return self.met * kernel, self.met * rbf_of(squares, kernel)

    def by_projected(self, projected: Matrix, by_rbf: Matrix) -> Matrix:
        """Return the derivatives (n, d) of projected points from ``dRBF * RBF``, (n, e)."""
        by_squares = by_rbf * np.float32(-self.sharpness)
        by_examples, by_points = through_distances(projected[self.rows].T, projected, by_squares)
        by_points[self.rows] += by_examples.T
        return by_points


_COUNTS = (0, 0, 1, 3, 5)  # examples that a person teaches per class


@dataclass(frozen=True, eq=False)
class Episodes(DrawnVoters):
    """Draws the taught examples of batches.

    - `y` (n,): class indices, `n_classes` for a point of no class.
    - `groups` (n,): the group of each point, such as a person.
    - `vote`: vote of an example, as a share of the largest entry of Z.
    """

    y: Indices
    groups: Indices
    n_classes: int
    vote: float

    def drawn(
        self, rows: Indices, largest: float, generator: np.random.Generator
    ) -> TaughtExamples:
        """Draw the examples taught in a batch; `largest` is the largest entry of Z."""
        people, y = self.groups[rows], self.y[rows]
        counts = generator.choice(_COUNTS, int(self.groups.max()) + 1)
        parts = people * (self.n_classes + 1) + y
        order = np.argsort(parts, kind="stable")
        places = np.arange(len(rows)) - np.searchsorted(parts[order], parts[order])
        rank = np.empty_like(places)
        rank[order] = places  # random rank among points of the same person and class
        taught = np.flatnonzero((rank < counts[people]) & (y < self.n_classes))
        met = (people[:, None] == people[taught]).astype(np.float32)
        met[taught, np.arange(len(taught))] = 0
        return TaughtExamples(taught, met, self.vote * largest, SHARPNESS)
