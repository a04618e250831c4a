"""What the labels of points are, and what that means for their training; by default, classes."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from protonn_edge.learn.given_points import Taker, checked_points, class_indices, point_weights
from protonn_edge.learn.objective import Loss, cross_entropy, cross_entropy_or_none
from protonn_edge.learn.points import Points, Targets
from protonn_edge.model.model import Model
from protonn_edge.model.policy import FloatPolicy
from protonn_edge.model.rule_kinds import rule_kinds
from protonn_edge.system.arrays import Array
from protonn_edge.system.figures import percent


class ClassLabels:
    """Classes, one for each point."""

    predicts: ClassVar[str] = "class"  # as the rules of the policy
    digested: ClassVar[str] = "<i8"  # the type of targets in the digest of the points

    @property
    def are_classes(self) -> bool:
        """Whether each point has one class."""
        return self.predicts == "class"

    def of(self, y: Any) -> ClassLabels:
        """Return what labels y of `fit` are: a kind of rule may recognize them."""
        recognized = (kind.labels_of(y) for kind in rule_kinds() if kind.labels_of)
        return next((labels for labels in recognized if labels is not None), self)

    def given(
        self,
        learner: Taker,
        X: ArrayLike,
        y: ArrayLike | None,
        sample_weight: ArrayLike | None,
    ) -> tuple[Points, Array, ClassLabels]:
        """Return the arguments of `fit`, checked, and the labels (L,) in the order of scores.

        Last comes what the labels are, with what only the targets can show. A class is dropped if
        all of its points have weight 0.
        """
        points = checked_points(learner, X, "X", reset=True)
        given = learner.column_of(y, len(points))
        weights = point_weights(points, given, sample_weight, learner.class_weight)
        classes = np.unique(given if weights is None else given[weights > 0])
        y = np.minimum(np.searchsorted(classes, given), len(classes) - 1)  # of weight 0
        return Points(points, y, weights), classes, self

    def reported(
        self,
        learner: Taker,
        X: ArrayLike,
        y: ArrayLike,
        labels: Array,
    ) -> Points:
        """Return points to report on, with targets like those of the training."""
        points = checked_points(learner, X, "evaluate_on", reset=False)
        indices = class_indices(learner.column_of(y, len(points)), labels, "evaluate_on")
        return Points(points, indices)

    def to_score(self, y: ArrayLike, _labels: Array, /) -> ArrayLike:
        """Return the right answers y of `score` in the form of predictions."""
        return y

    def loss(self, *, has_strangers: bool = False) -> Loss:
        """Return the loss to minimize, by default the cross-entropy; points may have no class."""
        return cross_entropy_or_none if has_strangers else cross_entropy

    def quality(self, scores: Array, y: Targets) -> float:
        """Return the share of scores (n, L) by which points of targets y are classified right."""
        return float(np.mean(scores.argmax(axis=1) == y))

    def words_of(self, quality: float) -> str:
        """Return what `quality` returned, with its name."""
        return f"accuracy {percent(quality)}"

    @property
    def policy(self) -> FloatPolicy:
        """The policy of the answer that the labels determine."""
        return FloatPolicy()

    def measured(self, model: Model, points: Points, seed: int) -> Model:  # noqa: ARG002
        """Return a trained model with what its policy takes from raw points."""
        return model
