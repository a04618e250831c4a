"""What the labels of points are, and what that means for their training; by default, classes."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from protonn_edge.chain.policy import FloatPolicy
from protonn_edge.training.given_points import (
    are_label_sets,
    given_label_sets,
    given_points,
    points_to_report_on,
)
from protonn_edge.training.objective import (
    Loss,
    cross_entropy,
    cross_entropy_or_none,
    label_cross_entropy,
)
from protonn_edge.training.points import Points, Targets


class ClassLabels:
    """Classes, one for each point."""

    for_devices: ClassVar[bool] = True  # whether integers can compute the answers
    are_classes: ClassVar[bool] = True
    are_numbers: ClassVar[bool] = False
    digested: ClassVar[str] = "<i8"  # the type of targets in the digest of the points

    def of(self, y: Any) -> ClassLabels:
        """Return what labels y of `fit` are: sets of labels need no parameter."""
        return LabelSets() if are_label_sets(y) else self

    def given(
        self, estimator: Any, X: Any, y: Any, sample_weight: Any
    ) -> tuple[Points, NDArray[Any]]:
        """Return the arguments of `fit`, checked, and the labels (L,) in the order of scores."""
        return given_points(estimator, X, y, sample_weight)

    def reported(
        self, estimator: Any, X: Any, y: Any, given: Points, labels: NDArray[Any]
    ) -> Points:
        """Return points to report on, with targets like those of the given points."""
        return points_to_report_on(estimator, X, y, labels, sets=given.y.ndim == 2)

    def loss_for(self, points: Points) -> Loss:
        """Return the loss to minimize on points, by default the cross-entropy."""
        return cross_entropy_or_none if points.has_strangers else cross_entropy

    def quality(self, scores: NDArray[Any], y: Targets) -> float:
        """Return the share of scores (n, L) by which points of targets y are classified right."""
        return float(np.mean(scores.argmax(axis=1) == y))

    def words_of(self, quality: float) -> str:
        """Return what `quality` returned, with its name."""
        return f"accuracy {100 * quality:.2f} %"

    @property
    def policy(self) -> FloatPolicy:
        """The policy of the answer that the labels determine."""
        return FloatPolicy()


class LabelSets(ClassLabels):
    """Sets of labels, which a model ranks."""

    for_devices: ClassVar[bool] = False
    are_classes: ClassVar[bool] = False

    def given(
        self, estimator: Any, X: Any, y: Any, sample_weight: Any
    ) -> tuple[Points, NDArray[Any]]:
        """Return points and sets of labels, checked, and the labels (L,)."""
        return given_label_sets(estimator, X, y, sample_weight)

    def loss_for(self, points: Points) -> Loss:  # noqa: ARG002
        """Return the cross-entropy in which each label is a decision of its own."""
        return label_cross_entropy

    def quality(self, scores: NDArray[Any], y: Targets) -> float:
        """Return the share of points that have the label with the highest score."""
        return float(y[np.arange(len(y)), scores.argmax(axis=1)].mean())
