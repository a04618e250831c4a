"""The rules of machines with RBFs, and of nearest neighbours, which prototypes approximate."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.neighbors import KNeighborsClassifier

from protonn_edge.extensions.conversion import reading
from protonn_edge.extensions.conversion.affine import Float64
from protonn_edge.extensions.conversion.search import Rule
from protonn_edge.learn.points import Indices
from protonn_edge.model.statistics import CHUNK_BYTES
from protonn_edge.system.checks import check, check_choice
from protonn_edge.system.errors import InvalidValue

_EUCLIDEAN = ("euclidean", "l2")


@dataclass(frozen=True, eq=False)
class RBFRule(Rule):
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
        rows = max(1, CHUNK_BYTES // (8 * len(self.landmarks)))
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
class NeighbourRule(Rule):
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


def machine_rule(classifier: Any, k: int, n_classes: int) -> RBFRule:
    """Return the rule of a support-vector machine."""
    name = type(classifier).__name__
    kernel = reading.text_of(classifier, "kernel")
    if kernel != "rbf":
        remedy = "fit a LinearSVC" if kernel == "linear" else "fit it with kernel='rbf'"
        raise InvalidValue(name, f"the kernel {kernel[:40]!r}, which cannot be converted", remedy)
    support = reading.numbers_of(classifier, "support_vectors_", (None, k))
    duals = reading.numbers_of(classifier, "dual_coef_", (n_classes - 1, len(support)))
    pairs = n_classes * (n_classes - 1) // 2
    intercepts = reading.numbers_of(classifier, "intercept_", (pairs,))
    counts = reading.numbers_of(classifier, "n_support_", (n_classes,)).astype(np.int64)
    gamma = float(reading.numbers_of(classifier, "_gamma", ()))
    fits = counts.min() >= 0 and counts.sum() == len(support) and gamma > 0
    check(fits, f"{name}.n_support_", counts.tolist(), f"{len(support):,} support vectors in all")
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


def neighbour_rule(classifier: Any, k: int, n_classes: int) -> NeighbourRule:
    """Return the rule of nearest neighbours."""
    if reading.flag_of(classifier, "outputs_2d_"):
        raise reading.several_outputs(classifier)
    metric = reading.text_of(classifier, "effective_metric_")
    check_choice("KNeighborsClassifier.metric", metric[:40], _EUCLIDEAN)
    weights = "uniform" if classifier.weights is None else reading.text_of(classifier, "weights")
    check_choice("KNeighborsClassifier.weights", weights[:40], ("uniform", "distance"))
    points = reading.numbers_of(classifier, "_fit_X", (None, k))
    classes = reading.numbers_of(classifier, "_y", (len(points),)).astype(np.int64)
    count = int(classifier.n_neighbors)
    fits = classes.min() >= 0 and classes.max() < n_classes and 1 <= count <= len(points)
    check(fits, "KNeighborsClassifier", "classes of other points", "one for each point")
    return NeighbourRule(points, classes, count, weights)
