"""The decision rules of scikit-learn's fitted classifiers.

Four rules cover them: the largest of several linear functions, the votes of pairs of classes by
sums of RBFs, the nearest training points, and sums over decision trees. NumPy computes each rule
from checked numbers, without the estimator's own code.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, Protocol, Self

import numpy as np
from numpy.typing import NDArray
from sklearn import ensemble
from sklearn.base import OutlierMixin, RegressorMixin
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier, NearestCentroid
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import Pipeline
from sklearn.svm import SVC, LinearSVC, NuSVC
from sklearn.tree import DecisionTreeClassifier

from protonn_edge.conversion import reading
from protonn_edge.conversion.affine import AffineMap, Float64, filling, raw_names_of
from protonn_edge.conversion.boosters import histogram_rule
from protonn_edge.conversion.libraries import LIBRARIES, of_library
from protonn_edge.conversion.networks import MOST_HIDDEN, FloatNetwork
from protonn_edge.conversion.scaling import affine_map
from protonn_edge.conversion.trees import tree_rule
from protonn_edge.errors import InputError
from protonn_edge.kinds.dense.integers import MOST_UNITS
from protonn_edge.training.base import DeviceClassifier
from protonn_edge.training.points import Indices

_CHUNK_BYTES = 64 * 2**20
_EUCLIDEAN = ("euclidean", "l2")
_LEAST_PRIOR = 1e-300  # its logarithm is finite, and too low to win


class Rule(Protocol):
    """Maps an estimator's own features to the index of a class."""

    @property
    def landmarks(self) -> Float64 | None:
        """The points (m, k) that inputs are compared with, if any."""

    def answers(self, Z: Float64) -> Indices:
        """Return the class index of each point Z (n, k)."""


@dataclass(frozen=True, eq=False)
class LinearRule:
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

    def answers(self, Z: Float64) -> Indices:
        """Return the class index of each point Z (n, k)."""
        classes: Indices = self.decisions(Z).argmax(axis=1).astype(np.int64)
        return classes


@dataclass(frozen=True, eq=False)
class RBFRule:
    """Each pair of classes votes by the sign of ``sum_i a_i exp(-gamma ||s_i - z||^2) + b``."""

    landmarks: Float64  # (m, k): the support vectors s_i
    # (pairs, m): a_i for the pairs (0, 1), (0, 2), ..., (1, 2), ...; positive sums vote for the
    # first class
    weights: Float64
    intercepts: Float64  # (pairs,)
    gamma: float  # scikit-learn's gamma, the square of ProtoNN's
    n_classes: int
    # whether sums break ties, instead of the order of classes
    by_confidence: bool = False

    def answers(self, Z: Float64) -> Indices:
        """Return the class index of each point Z (n, k)."""
        classes = np.empty(len(Z), dtype=np.int64)
        rows = max(1, _CHUNK_BYTES // (8 * len(self.landmarks)))
        for start in range(0, len(Z), rows):
            chunk = slice(start, start + rows)
            classes[chunk] = self._votes(self.decisions(Z[chunk])).argmax(axis=1)
        return classes

    def decisions(self, Z: Float64) -> Float64:
        """Return the value of each pair of classes, (n, pairs)."""
        squares = np.square(Z).sum(axis=1)[:, None] + np.square(self.landmarks).sum(axis=1)
        squares -= 2.0 * (Z @ self.landmarks.T)
        kernel = np.exp(-self.gamma * np.maximum(squares, 0.0))
        values: Float64 = kernel @ self.weights.T + self.intercepts
        return values

    def _votes(self, decisions: Float64) -> Float64:
        votes = np.zeros((len(decisions), self.n_classes))
        sums = np.zeros_like(votes)
        for pair, (first, second) in enumerate(
            zip(*np.triu_indices(self.n_classes, 1), strict=True)
        ):
            votes[:, first] += decisions[:, pair] > 0
            votes[:, second] += decisions[:, pair] <= 0
            sums[:, first] += decisions[:, pair]
            sums[:, second] -= decisions[:, pair]
        return votes + sums / (3.0 * (np.abs(sums) + 1.0)) if self.by_confidence else votes


@dataclass(frozen=True, eq=False)
class NeighbourRule:
    """The classes of the nearest training points vote."""

    landmarks: Float64  # (m, k): the training points
    classes: Indices  # (m,): their class indices
    n_neighbors: int
    weights: str  # uniform, distance

    def answers(self, Z: Float64) -> Indices:
        """Return the class index of each point Z (n, k)."""
        neighbours = KNeighborsClassifier(self.n_neighbors, weights=self.weights)
        classes: Indices = neighbours.fit(self.landmarks, self.classes).predict(Z)
        return classes


@dataclass(frozen=True, eq=False)
class FittedEstimator:
    """A fitted estimator, from raw features to the label of a class."""

    name: str  # the classifier's, such as "SVC"
    features: AffineMap  # the steps before the classifier, from the features x in use
    rule: Rule
    labels: NDArray[Any]  # (L,): the labels, in the order of class indices
    feature_names: tuple[str, ...]  # the names of x, if the estimator was fitted with names
    # the same steps without values that fill gaps only for the device, if there are such values
    own: AffineMap | None = None

    @property
    def accepts_gaps(self) -> bool:
        """Whether the classifier has answers to points with missing values."""
        return getattr(self.rule, "gaps", None) is not None

    def filling(self, values: Sequence[float]) -> Self:
        """Return this estimator for a device that gets `values` (D,) in place of gaps."""
        return replace(self, features=filling(self.features, values), own=self.features)

    def answers_with_gaps(self, X: Any, what: str) -> Indices | None:
        """Return the class index of each raw point X (n, D) if it keeps its gaps (NaN).

        None if no gap is left to the estimator, or if it refuses gaps.
        """
        if self.own is None or not self.accepts_gaps:
            return None
        x = self.own.with_gaps(X, what)
        return self.rule.answers(self.own.apply(x)) if np.isnan(x).any() else None

    def answers(self, X: NDArray[Any]) -> Indices:
        """Return the class index of each raw point X."""
        return self.rule.answers(self.features.apply(X))


def read_estimator(estimator: Any, n_features: int | None = None) -> FittedEstimator:
    """Read a fitted classifier of D features, or a pipeline that ends in one, or refuse it.

    Without D, this is the number of features that the estimator was fitted with.
    """
    estimator = getattr(estimator, "best_estimator_", estimator)  # of a search for parameters
    *before, (_, classifier) = _steps(estimator)
    first = before[0][1] if before else classifier
    if n_features is None:
        n_features = getattr(first, "n_features_in_", 0)
    _check_features(first, n_features)
    features = affine_map(AffineMap.identity(n_features), before)
    stored = _stored(classifier, features.n_outputs)
    _check_features(stored, features.n_outputs)
    named = estimator if before else stored
    names = features.names(named)
    features = replace(features, raw_names=raw_names_of(named, n_features))
    return FittedEstimator(stored.name, features, stored.rule, stored.classes_, names)


def _stored(classifier: Any, k: int) -> reading.StoredClassifier:
    """Return a classifier of k features."""
    is_stored = isinstance(classifier, reading.StoredClassifier)
    if (stored := classifier if is_stored else of_library(classifier)) is not None:
        return stored
    name = type(classifier).__name__
    if isinstance(classifier, DeviceClassifier):
        raise InputError(
            f"a {name} already trains models for devices; call its method to_model(), or pass its "
            "Pipeline to from_pipeline"
        )
    if isinstance(classifier, RegressorMixin):
        raise InputError(
            f"the {name} predicts numbers (regression), but a device predicts classes; fit a "
            "classifier on a few bands of these numbers, such as low, medium and high, or use "
            "emlearn for regression"
        )
    if isinstance(classifier, OutlierMixin):
        raise InputError(
            f"the {name} finds outliers and cannot be converted; train a model of one class with "
            "'protonn-edge train --one-class' instead"
        )
    if type(classifier) not in _READERS:
        known_ones = {each.__name__ for each in _READERS}.union(*LIBRARIES.values())
        raise InputError(
            f"objects of the type {name} cannot be converted; pass a fitted "
            f"{', '.join(sorted(known_ones))}, or a Pipeline that ends in one of these, or export "
            "a neural network as ONNX and pass the file to from_network"
        )
    reading.check_fitted(classifier)
    labels = reading.labels_of(classifier)
    if labels.ndim != 1:
        raise reading.several_outputs(classifier)
    if len(labels) < 2:
        raise InputError(
            f"the {name} was fitted on fewer than two classes; fit it on at least two classes"
        )
    rule = _READERS[type(classifier)](classifier, k, len(labels))
    names = getattr(classifier, "feature_names_in_", np.array([], str))
    return reading.StoredClassifier(name, rule, k, names, labels)


def _steps(estimator: Any) -> list[tuple[Any, Any]]:
    """Return the steps of a pipeline, at least one, or the estimator as the only one."""
    if type(estimator) is not Pipeline:
        return [("", estimator)]
    steps = getattr(estimator, "steps", None)
    pairs = isinstance(steps, list) and all(
        isinstance(step, tuple | list) and len(step) == 2 for step in steps
    )
    if not (pairs and steps):
        raise InputError(
            "the Pipeline's steps are not pairs of a name and an estimator; fit the Pipeline again"
        )
    return [(name, step) for name, step in steps]


def _check_features(first: Any, n_features: int) -> None:
    """Refuse points with another number of features than a step or a classifier has."""
    is_stored = isinstance(first, reading.StoredClassifier)
    name = first.name if is_stored else type(first).__name__
    wanted = getattr(first, "n_features_in_", n_features)
    if not isinstance(wanted, int | np.integer):
        raise InputError(f"'n_features_in_' of the {name} is not a number; fit the estimator again")
    if wanted != n_features:
        raise InputError(
            f"the {name} was fitted with {wanted:,} features, but the points have {n_features:,}; "
            "give unscaled points with the features that it was fitted on"
        )


def _linear(classifier: Any, k: int, n_classes: int) -> LinearRule:
    rows = 1 if n_classes == 2 else n_classes
    coefficients = reading.numbers_of(classifier, "coef_", (rows, k))
    given = reading.array_of(classifier, "intercept_").shape
    if given in ((), (1,)):  # fitted without an intercept: a single 0
        intercepts = np.repeat(reading.numbers_of(classifier, "intercept_", given), rows)
    else:
        intercepts = reading.numbers_of(classifier, "intercept_", (rows,))
    if rows == 1:  # above 0 is the second class
        coefficients = np.concatenate([-coefficients, coefficients]) / 2.0
        intercepts = np.concatenate([-intercepts, intercepts]) / 2.0
    return LinearRule(coefficients, intercepts)


def _centroids(classifier: Any, k: int, n_classes: int) -> LinearRule:
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


def _machine(classifier: Any, k: int, n_classes: int) -> RBFRule:
    name = type(classifier).__name__
    kernel = reading.text_of(classifier, "kernel")
    if kernel != "rbf":
        remedy = "fit a LinearSVC" if kernel == "linear" else "fit it with kernel='rbf'"
        raise InputError(
            f"the {name} has the kernel {kernel[:40]!r}, which cannot be converted; {remedy}"
        )
    support = reading.numbers_of(classifier, "support_vectors_", (None, k))
    duals = reading.numbers_of(classifier, "dual_coef_", (n_classes - 1, len(support)))
    pairs = n_classes * (n_classes - 1) // 2
    intercepts = reading.numbers_of(classifier, "intercept_", (pairs,))
    counts = reading.numbers_of(classifier, "n_support_", (n_classes,)).astype(np.int64)
    gamma = float(reading.numbers_of(classifier, "_gamma", ()))
    if counts.min() < 0 or counts.sum() != len(support) or gamma <= 0:
        raise InputError(
            f"'n_support_' of the {name} does not match its support vectors; fit the {name} again"
        )
    by_confidence = reading.flag_of(classifier, "break_ties") and n_classes > 2
    if by_confidence and classifier.decision_function_shape != "ovr":
        by_confidence = False
    weights = _pair_weights(duals, np.repeat(np.arange(n_classes), counts), n_classes)
    sign = -1.0 if n_classes == 2 else 1.0  # with two classes, above 0 is the second one
    return RBFRule(support, sign * weights, sign * intercepts, gamma, n_classes, by_confidence)


def _pair_weights(duals: Float64, owner: Indices, n_classes: int) -> Float64:
    """Return the weight of each support vector in each pair, (pairs, m).

    For a vector of class c, libsvm stores one number per other class, in the order of classes:
    row j - 1 for a class j after c, and row i for a class i before c.
    """
    pairs = list(zip(*np.triu_indices(n_classes, 1), strict=True))
    weights = np.zeros((len(pairs), len(owner)))
    for pair, (first, second) in enumerate(pairs):
        weights[pair] = np.where(owner == first, duals[second - 1], 0.0)
        weights[pair] += np.where(owner == second, duals[first], 0.0)
    return weights


def _neighbours(classifier: Any, k: int, n_classes: int) -> NeighbourRule:
    if reading.flag_of(classifier, "outputs_2d_"):
        raise reading.several_outputs(classifier)
    metric = reading.text_of(classifier, "effective_metric_")
    if metric not in _EUCLIDEAN:
        raise InputError(
            f"the KNeighborsClassifier has the metric {metric[:40]!r}, which cannot be converted; "
            "fit it with metric='euclidean'"
        )
    weights = "uniform" if classifier.weights is None else reading.text_of(classifier, "weights")
    if weights not in ("uniform", "distance"):
        raise InputError(
            "the KNeighborsClassifier weights neighbours by a function, which cannot be converted; "
            "fit it with weights='uniform' or 'distance'"
        )
    points = reading.numbers_of(classifier, "_fit_X", (None, k))
    classes = reading.numbers_of(classifier, "_y", (len(points),)).astype(np.int64)
    count = int(classifier.n_neighbors)
    if classes.min() < 0 or classes.max() >= n_classes or not 1 <= count <= len(points):
        raise InputError("the KNeighborsClassifier's points and classes do not match; fit it again")
    return NeighbourRule(points, classes, count, weights)


def _perceptron(classifier: Any, k: int, n_classes: int) -> FloatNetwork:
    """Return a network as the matrices of its layers."""
    reading.check_text(classifier, "activation", "relu")
    outputs = 1 if n_classes == 2 else n_classes
    if reading.text_of(classifier, "out_activation_") == "logistic" and (
        n_classes > 2 or reading.attribute(classifier, "n_outputs_") != 1
    ):
        raise reading.several_outputs(classifier)
    units = reading.sizes_of(classifier, "intercepts_")[:-1]
    if len(units) > MOST_HIDDEN or max(units, default=0) > MOST_UNITS:
        raise InputError(
            f"the MLPClassifier has hidden layers of {units} units, but the limits are "
            f"{MOST_HIDDEN} layers and {MOST_UNITS} units; fit a smaller one"
        )
    sizes = [k, *units, outputs]
    matrices = reading.arrays_of(classifier, "coefs_", [*pairwise(sizes)])
    biases = reading.arrays_of(classifier, "intercepts_", [(size,) for size in sizes[1:]])
    W, b = matrices[-1], biases[-1]
    if outputs == 1:  # above 0 is the second class
        matrices[-1], biases[-1] = np.hstack([-W, W]) / 2, np.concatenate([-b, b]) / 2
    return FloatNetwork(
        layers=(),
        image=None,
        weights=tuple(np.ascontiguousarray(W.T, np.float32) for W in matrices),
        biases=tuple(b.astype(np.float32) for b in biases),
        order=np.arange(k),
    )


_READERS: dict[type, Callable[[Any, int, int], Rule]] = {
    DecisionTreeClassifier: tree_rule,
    ensemble.ExtraTreesClassifier: tree_rule,
    ensemble.GradientBoostingClassifier: tree_rule,
    ensemble.HistGradientBoostingClassifier: histogram_rule,
    ensemble.RandomForestClassifier: tree_rule,
    **dict.fromkeys((LinearDiscriminantAnalysis, LinearSVC, LogisticRegression), _linear),
    **dict.fromkeys((NuSVC, SVC), _machine),
    KNeighborsClassifier: _neighbours,
    MLPClassifier: _perceptron,
    NearestCentroid: _centroids,
}
