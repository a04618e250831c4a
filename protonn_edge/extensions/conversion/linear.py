"""Fitted linear classifiers, and nearest centroids, become linear models."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass

import numpy as np
from sklearn import discriminant_analysis, linear_model, svm
from sklearn.linear_model._base import LinearClassifierMixin
from sklearn.neighbors import NearestCentroid

from protonn_edge.extensions.conversion import reading
from protonn_edge.extensions.conversion.affine import Float64
from protonn_edge.extensions.conversion.answered import Answers
from protonn_edge.extensions.conversion.search import Candidate, ModelSearch, Readers, Rule
from protonn_edge.kinds.linear.head import LinearHead
from protonn_edge.learn.normalization import normalizer_from
from protonn_edge.model.checks import only_zeros
from protonn_edge.model.model import Model
from protonn_edge.system.errors import ProtoNNEdgeError

_LEAST_PRIOR = 1e-300  # its logarithm is finite, and too low to win


@dataclass(frozen=True, eq=False)
class LinearRule(Rule):
    """The class with the largest ``coefficients_l z + intercept_l``, the first on a tie."""

    coefficients: Float64  # (L, k)
    intercepts: Float64  # (L,)
    landmarks = None

    @property
    def differences(self) -> Float64:
        """The coefficients (L, k) minus their mean, which does not affect answers."""
        differences: Float64 = self.coefficients - self.coefficients.mean(axis=0)
        return differences

    def decisions(self, Z: Float64) -> Float64:
        """Return the value of each class, (n, L), for points Z (n, k)."""
        values: Float64 = Z @ self.coefficients.T + self.intercepts
        return values

    def answers(self, Z: Float64) -> Answers:
        """Return the class index of each point Z (n, k)."""
        classes: Answers = self.decisions(Z).argmax(axis=1).astype(np.int64)
        return classes

    @property
    def directions(self) -> Float64:
        """See `Rule.directions`."""
        return self.differences

    def best(self, search: ModelSearch) -> Candidate:
        """Return linear functions as a linear model, or a reduced one if that does not fit."""
        if not self.differences.any():
            raise only_zeros(
                "differences of coefficients",
                "fit the estimator on data that separates the classes",
            )
        features, normalizer = search.estimator.features, normalizer_from("standard", search.inputs)
        W = features.weights(self.differences) / normalizer.scale
        b = self.decisions(features.apply(normalizer.offset[None]))[0]
        b -= b.mean()
        if len(b) == 2:  # one row is enough for two classes
            W, b = np.diff(W, axis=0), np.diff(b)
        model = Model(
            head=LinearHead(W.astype(np.float32), b),
            normalizer=normalizer,
            inputs=search.inputs,
            classes=search.classes,
            feature_names=search.estimator.feature_names,
        )
        with suppress(ProtoNNEdgeError):  # too large, or without integers
            return search.candidate(("exact", model))
        return search.reduced()


def _linear(classifier: object, k: int, n_classes: int) -> LinearRule:
    sets_of_labels = getattr(classifier, "_label_binarizer", None)  # which a RidgeClassifier takes
    if str(getattr(sets_of_labels, "y_type_", "")).startswith("multilabel"):
        raise reading.several_outputs(classifier)
    rows = 1 if n_classes == 2 else n_classes
    flat = rows == 1 and reading.array_of(classifier, "coef_").ndim == 1  # a RidgeClassifier's
    shape = (k,) if flat else (rows, k)
    coefficients = reading.numbers_of(classifier, "coef_", shape).reshape(rows, k)
    given = reading.array_of(classifier, "intercept_").shape
    if given in ((), (1,)):  # fitted without an intercept: a single 0
        intercepts = np.repeat(reading.numbers_of(classifier, "intercept_", given), rows)
    else:
        intercepts = reading.numbers_of(classifier, "intercept_", (rows,))
    if rows == 1:  # above 0 is the second class
        coefficients = np.concatenate([-coefficients, coefficients]) / 2.0
        intercepts = np.concatenate([-intercepts, intercepts]) / 2.0
    return LinearRule(coefficients, intercepts)


def _centroids(classifier: object, k: int, n_classes: int) -> LinearRule:
    """Return nearest centroids as linear functions: ``||z||^2`` is the same for all classes."""
    reading.check_text(classifier, "metric", "euclidean")
    centroids = reading.numbers_of(classifier, "centroids_", (n_classes, k))
    priors = reading.numbers_of(classifier, "class_prior_", (n_classes,))
    if np.isclose(priors, 1.0 / n_classes).all():
        return LinearRule(2.0 * centroids, -np.square(centroids).sum(axis=1))
    # With priors, it is scikit-learn's discriminant score of features in units of their deviations.
    deviation = reading.numbers_of(classifier, "within_class_std_dev_", (k,))
    precision = 1.0 / np.square(np.where(deviation == 0, 1.0, deviation))
    intercepts = 2.0 * np.log(np.maximum(priors, _LEAST_PRIOR))
    return LinearRule(
        2.0 * centroids * precision, intercepts - (np.square(centroids) * precision).sum(axis=1)
    )


# All that scikit-learn has: they differ only in how they are trained.
_LINEAR = [
    each
    for module in (discriminant_analysis, linear_model, svm)
    for each in map(vars(module).get, module.__all__)
    if isinstance(each, type) and issubclass(each, LinearClassifierMixin)
]
READERS: Readers = {
    **dict.fromkeys(_LINEAR, _linear),
    NearestCentroid: _centroids,
}
