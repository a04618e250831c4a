"""The base of all estimators for Python: a learner with the methods of scikit-learn.

The command line, searches and the page train learners, which do not import scikit-learn: that takes
longer than most trainings. An estimator checks its arguments as scikit-learn does, warns of remarks
on its training, and predicts.
"""

from __future__ import annotations

import ast
import inspect
import re
import warnings
from collections.abc import MutableMapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import assert_all_finite, check_consistent_length, column_or_1d
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from protonn_edge.data.naming import NO_CLASS
from protonn_edge.learn.calibration import softmax, with_accuracy_floor
from protonn_edge.learn.deployment import Deployable
from protonn_edge.learn.given_points import class_indices, labels_are_classes
from protonn_edge.learn.learner import Learner
from protonn_edge.learn.points import Float32, Indices
from protonn_edge.model.model import Model
from protonn_edge.model.registry import ESTIMATORS
from protonn_edge.system.arrays import Array
from protonn_edge.system.errors import InputError
from protonn_edge.system.scikit import BaseEstimator, ClassifierMixin, available_if

_PARAMETERS = "Parameters\n----------\n"
_NEXT_SECTION = re.compile(r"^[A-Z]\w+\n-+\n", re.MULTILINE)


def with_parameters_of_bases(cls: type) -> str | None:
    """Return a class's docstring, with the parameters that the docstrings of its bases describe."""
    if not cls.__doc__ or "__doc__" not in vars(cls):
        return cls.__doc__
    before, _, after = _sections(cls.__doc__)
    described: dict[str, str] = {}
    for base in cls.__mro__:
        for entry in filter(None, re.split(r"\n(?=\S)", _sections(vars(base).get("__doc__"))[1])):
            name = entry.partition(" : ")[0]
            described.setdefault(name, _with_default(entry, getattr(cls, name, None)))
    return f"{before}\n\n{_PARAMETERS}" + "\n".join(described.values()) + f"\n\n{after}"


def _with_default(entry: str, value: object) -> str:
    """Return the entry of a parameter with the default of a class, which may not be its base's."""
    given = re.search("default=(.*)", entry)
    if not isinstance(value, str | int | float) or given is None:
        return entry
    if ast.literal_eval(given[1]) == value:
        return entry
    text = f'"{value}"' if isinstance(value, str) else repr(value)
    return entry.replace(given[0], f"default={text}", 1)


def _sections(text: str | None) -> tuple[str, str, str]:
    """Return the parts of a docstring before, in and after its section of parameters."""
    before, heading, rest = inspect.cleandoc(text or "").partition(_PARAMETERS)
    if not heading:
        rest, before = before, ""
    following = _NEXT_SECTION.search(rest)
    place = len(rest) if following is None else following.start()
    inside, after = rest[:place].strip(), rest[place:]
    return (before.strip(), inside, after) if heading else (inside, "", after)


def _has_classes(estimator: Any) -> bool:
    return bool(estimator.target.labels.are_classes)


@dataclass(kw_only=True, eq=False, repr=False)
class DeviceClassifier(ClassifierMixin, BaseEstimator, Learner, Deployable):
    """Base of classifiers with models that run on devices.

    Targets are classes, or sets of labels (multi-label): a matrix of zeros and ones, or a sequence
    of collections of labels. The parameters of images and of each kind of
    feature are in its folder of `protonn_edge.features`.

    Attributes
    ----------
    classes_ : ndarray of shape (L,)
        The labels, in the order of the scores; the column numbers for a matrix of labels.
    n_features_in_ : int
        Number of features D.
    feature_names_in_ : ndarray of shape (D,)
        Names of the features, if X had names.
    model_ : Model
        The trained model, with classes and features named as in `fit`; see `to_model`.
    n_iter_ : int
        Epochs of training.
    clip_ : ClipChoice or None
        The share that ``clip="auto"`` chose; None if there was nothing to choose.
    features_ : FoundFeatures
        The features that ``features="auto"`` found.
    history_ : tuple of EpochReport
        The reports passed to the callback, without abandoned attempts.
    restarts_ : tuple of Restart
        Attempts that diverged and were abandoned.
    remarks_ : tuple of str
        Remarks on the training, such as restarts, which were also issued as `ConvergenceWarning`.
    """

    # what answers in place of the model, as a device that was changed would, until the next `fit`
    on_device_: Any = field(init=False, default=None)

    def __init_subclass__(cls, **options: object) -> None:
        super().__init_subclass__(**options)
        cls.__doc__ = with_parameters_of_bases(cls)

    def fit(
        self,
        X: ArrayLike,
        y: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
        *,
        groups: ArrayLike | None = None,
        evaluate_on: tuple[ArrayLike, ArrayLike] | None = None,
    ) -> Self:
        """Train on points X of shape (n, D) with labels y of shape (n,).

        Parameters
        ----------
        X : array of shape (n, D)
            Raw features; they are normalized here.
        y : array of shape (n,), matrix of shape (n, L) or sequence of n collections
            Labels of any type, at least two different ones, or sets of labels: a dense or sparse
            matrix of zeros and ones, or a set, list or tuple of labels for each point. May be
            omitted if all points are normal, for classifiers that learn one class.
        sample_weight : array of shape (n,), optional
            Weight of each point, not negative. A point of weight 2 counts as two points.
        groups : array of shape (n,), optional
            The group of each point, such as the person, day or sensor it came from; see
            `group_shift`. scikit-learn's searches pass on groups only with metadata routing.
        evaluate_on : tuple of X (n', D) and y (n',) or (n', L), optional
            Points for the test accuracy in reports; training does not depend on them.

        Returns
        -------
        DeviceClassifier
            This estimator, fitted.

        Raises
        ------
        ValueError
            If X or y are unusable, a parameter is out of range or conflicts with another one, or
            training diverges.
        """
        super().fit(X, y, sample_weight, groups=groups, evaluate_on=evaluate_on)
        for remark in self.remarks_:
            warnings.warn(remark, ConvergenceWarning, stacklevel=2)
        return self

    def matrix_of(self, X: ArrayLike, *, reset: bool) -> Float32:
        """See `Learner.matrix_of`."""
        points: Float32 = validate_data(
            self, X, reset=reset, dtype=np.float32, ensure_all_finite=False
        )
        return points

    def column_of(self, y: ArrayLike | None, n: int) -> Array:
        """See `Learner.column_of`."""
        if y is None:
            raise ValueError(
                f"{type(self).__name__} requires y to be passed, but the target y is None"
            )
        column: Array = column_or_1d(y, warn=True)
        check_consistent_length(range(n), column)
        if self.target.labels.are_classes:
            assert_all_finite(column, input_name="y")
            with labels_are_classes():
                check_classification_targets(column)
        return column

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
        if unknown is None:
            scores = self._scores(X)
            others: Array | None = self.model_.policy.values(scores)
            return self.classes_[scores.argmax(axis=1)] if others is None else others
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
        indices = (self.on_device_ or self.model_).predict(points)
        is_unknown = indices == NO_CLASS
        labels, label = self.classes_[np.where(is_unknown, 0, indices)], np.asarray(unknown)
        if (label.dtype.kind in "iuf") != (labels.dtype.kind in "iuf"):
            label, labels = label.astype(object), labels.astype(object)  # not -1 as a text
        return np.where(is_unknown, label, labels)

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
        given = self.target.labels.of(y).to_score(y, self.classes_)
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
        return super().to_model(classes=classes, feature_names=feature_names)

    def _labelled(self, X: ArrayLike, y: ArrayLike) -> tuple[Float32, Indices]:
        """Return points and class indices; in a one-class model, any other label means unknown."""
        check_is_fitted(self)
        points: Float32 = validate_data(self, X, reset=False, dtype=np.float32)
        return points, self.indices_of(y, len(points))

    def _scores(self, X: ArrayLike) -> NDArray[np.float64]:
        check_is_fitted(self)
        points = validate_data(self, X, reset=False, dtype=np.float32)
        scores: NDArray[np.float64] = (self.on_device_ or self.model_).scores(points)
        return scores[:, : len(self.classes_)]  # without classes of its owner

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "model_")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = "labels" in self.takes
        return tags


CLASSIFIERS: MutableMapping[str, type[DeviceClassifier]] = ESTIMATORS
"""The estimators of the kinds of classifiers, by their names on the command line."""
