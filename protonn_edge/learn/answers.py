"""The methods of a trained classifier: predict, and convert it to a model."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_consistent_length
from sklearn.utils.validation import check_is_fitted, validate_data

from protonn_edge.data.naming import NO_CLASS
from protonn_edge.learn.calibration import softmax, with_accuracy_floor
from protonn_edge.learn.deployment import Deployable
from protonn_edge.learn.given_points import class_indices
from protonn_edge.learn.points import Float32, Indices
from protonn_edge.model.model import Model
from protonn_edge.system.arrays import Array
from protonn_edge.system.errors import InputError
from protonn_edge.system.scikit import BaseEstimator, ClassifierMixin, available_if


def with_new_names(classes: Sequence[str], count: int) -> tuple[str, ...]:
    """Return the names of classes, followed by unused names for `count` more classes."""
    names = (f"new {number}" for number in itertools.count(1))
    return (*classes, *itertools.islice((name for name in names if name not in classes), count))


def _has_classes(estimator: Any) -> bool:
    return bool(_labels(estimator).are_classes)


def _labels(estimator: Any) -> Any:
    """Return the kind of labels, of the target that the shared parameters declare."""
    return estimator.target.labels


@dataclass(kw_only=True, eq=False, repr=False)
class Answers(Deployable, ClassifierMixin, BaseEstimator):
    """The half of a classifier that reads `model_`; see `DeviceClassifier`."""

    model_: Model = field(init=False)
    classes_: Array = field(init=False)

    @property
    def scores_are_logits(self) -> bool:
        """Whether training makes the scores logits, which calibration may only reduce."""
        return False

    @property
    def sharpness_(self) -> float:
        """The factor on scores before the softmax of `predict_proba`."""
        return float(self.model_.policy.logits(np.ones(1))[0])

    @available_if(_has_classes)
    def decision_function(self, X: ArrayLike) -> NDArray[np.float64]:
        """Return the scores of points X (n, D).

        Returns the scores; for two classes the second minus the first, as in scikit-learn. A higher
        score ranks a label higher.
        """
        scores = self._scores(X)
        if len(self.classes_) == 2 and self.model_.policy.predicts == "class":
            difference: NDArray[np.float64] = scores[:, 1] - scores[:, 0]
            return difference
        return scores

    def predict(self, X: ArrayLike, *, unknown: object = None) -> Array:
        """Return the label with the highest score for each of the points X (n, D).

        After training with sets of labels: a matrix (n, L), 1 where a point has the label. The
        threshold maximizes F1 on the training points.

        Parameters
        ----------
        X : array of shape (n, D)
            Raw features.
        unknown : object, optional
            The label for points to which the model's policy gives no class, such as -1. Without it
            every point gets one of the classes.

        Raises
        ------
        InputError
            If `unknown` is given, but the policy always gives a class, or it is a class.
        """
        if unknown is not None:
            return self._predict_or(unknown, X)
        scores = self._scores(X)
        others = self.model_.policy.values(scores)
        if others is not None:
            return others
        labels: Array = self.classes_[scores.argmax(axis=1)]
        return labels

    @available_if(_has_classes)
    def predict_proba(self, X: ArrayLike) -> NDArray[np.float64]:
        """Return the probabilities, shape (n, L), of the classes for points X (n, D).

        They are the softmax of the scores if these were trained as logits; otherwise the scores are
        first multiplied by `sharpness_`; see `protonn_edge.learn.calibration`. For sets of
        labels each label has its own probability, a sigmoid's.
        """
        scores = self._scores(X)
        for rule in self.model_.policy.rules:
            of_labels = rule.probabilities(scores, are_logits=self.scores_are_logits)
            if of_labels is not None:
                return of_labels
        return softmax(self.model_.policy.logits(scores))

    def score(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
        """Return the accuracy on points X (n, D); sets of labels have to be equal."""
        given = _labels(self).of(y).to_score(y, self.classes_)
        return float(super().score(X, given, sample_weight))

    def set_accuracy_floor(self, X: ArrayLike, y: ArrayLike) -> Self:
        """Record the minimum accuracy of a device with this model.

        Parameters
        ----------
        X : array of shape (n, D)
            Points not used for training.
        y : array of shape (n,)
            Their labels.

        Returns
        -------
        DeviceClassifier
            This estimator, with an ``accuracy_floor`` in its model's record, unless it cannot run
            on a device: see `protonn_edge.learn.calibration`.
        """
        check_is_fitted(self)
        points = validate_data(self, X, reset=False, dtype=np.float32)
        check_consistent_length(points, y)
        of_classes = self.model_.policy.predicts == "class"
        places = class_indices(np.asarray(y), self.classes_, "y") if of_classes else None
        self.model_ = with_accuracy_floor(self.model_, points, places)
        return self

    def to_model(
        self, *, classes: Sequence[str] | None = None, feature_names: Sequence[str] | None = None
    ) -> Model:
        """Return the trained model, with other display names if given.

        Parameters
        ----------
        classes : sequence of L str, optional
            Names in the order of `classes_`, by default the labels themselves, followed by names
            for classes that only a device learns.
        feature_names : sequence of D str, optional
            By default, the names of X in training, if any.

        Raises
        ------
        InputError
            If the number of names does not match, or a name is not printable.
        """
        check_is_fitted(self)
        model, given = self.model_, dict[str, Any]()
        if classes is not None:
            given["classes"] = with_new_names(classes, model.n_classes - len(self.classes_))
        if feature_names is not None:
            given["feature_names"] = tuple(feature_names)
        return replace(model, **given)

    def _labelled(self, X: ArrayLike, y: ArrayLike) -> tuple[Float32, Indices]:
        """Return points and class indices; in a one-class model, any other label means unknown."""
        check_is_fitted(self)
        points: Float32 = validate_data(self, X, reset=False, dtype=np.float32)
        return points, self.indices_of(y, len(points))

    def indices_of(self, y: ArrayLike, n: int) -> Indices:
        """Return the class indices of the labels y (n,); `NO_CLASS` is unknown to one class."""
        labels = np.asarray(y)
        check_consistent_length(range(n), labels)
        if len(self.classes_) == 1:
            return np.where(labels == self.classes_[0], 0, NO_CLASS)
        return class_indices(labels, self.classes_, "y")

    def _scores(self, X: ArrayLike) -> NDArray[np.float64]:
        check_is_fitted(self)
        points = validate_data(self, X, reset=False, dtype=np.float32)
        scores: NDArray[np.float64] = self._answering.scores(points)
        return scores[:, : len(self.classes_)]  # without classes of its owner

    @property
    def _answering(self) -> Any:
        """The object that computes scores and answers of raw points: the trained model."""
        return self.model_

    def _predict_or(self, unknown: object, X: ArrayLike) -> Array:
        """Return the labels of points, or `unknown` where the model's policy gives no class."""
        check_is_fitted(self)
        if not self.model_.policy.other_answers:
            raise InputError(
                f"predict was called with unknown={unknown!r}, but the model's policy always gives "
                "a class; choose thresholds first"
            )
        if unknown in self.classes_.tolist():
            raise InputError(
                f"the label for unknown points, {unknown!r}, is a class; choose another label"
            )
        points = validate_data(self, X, reset=False, dtype=np.float32)
        indices = self._answering.predict(points)
        is_unknown = indices == NO_CLASS
        labels: Array = self.classes_[np.where(is_unknown, 0, indices)]
        label = np.asarray(unknown)
        if (label.dtype.kind in "iuf") != (labels.dtype.kind in "iuf"):
            label, labels = label.astype(object), labels.astype(object)  # not -1 as a text
        return np.where(is_unknown, label, labels)
