"""Sets of labels in training: the loss that ranks labels, and where labels begin to be right."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike

from protonn_edge.learn.given_points import Taker, checked_points
from protonn_edge.learn.labels import ClassLabels
from protonn_edge.learn.objective import Loss, Matrix, mean_loss, through_logits
from protonn_edge.learn.points import Points, Targets
from protonn_edge.model.model import Model
from protonn_edge.model.policy import FloatPolicy, with_rules
from protonn_edge.policy.label_sets.rule import LABEL_RARITY, LabelSets
from protonn_edge.policy.label_sets.targets import (
    best_threshold,
    given_sets,
    label_matrix,
)
from protonn_edge.system.arrays import Array
from protonn_edge.system.checks import check_shape

_BRIER_WEIGHT = 4
_THRESHOLD_SCORES = 4_000_000


class SetsOfLabels(ClassLabels):
    """Sets of labels, which a model ranks."""

    predicts: ClassVar[str] = "labels"

    def given(
        self,
        learner: Taker,
        X: ArrayLike,
        y: ArrayLike | None,
        sample_weight: ArrayLike | None,
    ) -> tuple[Points, Array, ClassLabels]:
        """Return points and sets of labels, checked, and the labels (L,)."""
        assert y is not None  # or they would not be sets
        return *given_sets(learner, X, y, sample_weight), self

    def reported(self, learner: Taker, X: ArrayLike, y: ArrayLike, labels: Array) -> Points:
        """Return points to report on, with their sets of these labels."""
        points = checked_points(learner, X, "evaluate_on", reset=False)
        matrix, _ = label_matrix(y, labels)
        check_shape("the label matrix", matrix.shape[:1], points.shape[:1])
        return Points(points, matrix)

    def to_score(self, y: ArrayLike, labels: Array) -> ArrayLike:
        """Return sets as a matrix with a column for each of the labels (L,)."""
        return label_matrix(y, labels)[0]

    def loss(self, *, has_strangers: bool = False) -> Loss:  # noqa: ARG002
        """Return the cross-entropy in which each label is a decision of its own."""
        return label_cross_entropy

    def quality(self, scores: Array, y: Targets) -> float:
        """Return the share of points that have the label with the highest score."""
        return float(y[np.arange(len(y)), scores.argmax(axis=1)].mean())

    @property
    def policy(self) -> FloatPolicy:
        """A threshold of 0, until it is measured."""
        return FloatPolicy((LabelSets(0.0),))

    def measured(self, model: Model, points: Points, seed: int) -> Model:
        """Return a model with the threshold that suits some of the raw points best."""
        count = max(100, _THRESHOLD_SCORES // model.n_classes)
        rows = np.random.default_rng(seed).permutation(len(points))[:count]
        weights = None if points.weight is None else points.weight[rows]
        best = best_threshold(model.scores(points.X[rows]), points.y[rows], weights)
        chosen: Model = with_rules(model, LabelSets(best))
        return chosen


def label_cross_entropy(
    scores: Matrix, Y: Matrix, sharpness: Matrix, weights: Matrix | None
) -> tuple[float, Matrix, Matrix]:
    """Return the mean of ``sum_l -log p(y_il) + 4 (p_il - y_il)^2`` and its derivatives.

    Each label is an independent binary decision, ``p_il = sigmoid(t s_il - LABEL_RARITY)``, so the
    rows of Y may have any number of ones. The square, Brier's score, gives little weight to labels
    that cannot be predicted from the point, of which sets contain many; the logarithm alone would
    focus on them.
    """
    factor = np.exp(sharpness)
    logits = scores * factor
    logits -= scores.dtype.type(LABEL_RARITY)
    small = np.exp(-np.abs(logits))
    losses = np.maximum(logits, 0.0) - logits * Y + np.log1p(small)
    likelihoods = np.where(logits >= 0, scores.dtype.type(1), small) / (1 + small)
    wrong = likelihoods - Y
    losses += _BRIER_WEIGHT * wrong * wrong
    value = mean_loss(losses.sum(axis=1), weights)
    slope = wrong * (1 + 2 * _BRIER_WEIGHT * likelihoods * (1 - likelihoods))
    return value, *through_logits(slope, scores, factor, weights)
