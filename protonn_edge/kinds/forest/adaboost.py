"""Trees that vote, each grown on points weighted by the mistakes of those before it.

This is SAMME (Zhu et al., 2009) with a learning rate of 0.3, but all votes count the same. A node
has the best of random thresholds, one for each feature. Fewer leaves are enough than in a random
forest, because a tree need not repeat what others do well.
"""

from __future__ import annotations

from typing import Self

import numpy as np
from numpy.typing import NDArray
from sklearn.tree import ExtraTreeClassifier

from protonn_edge.system.arrays import Array

_RATE = 0.3
_LEAST_ERROR = 1e-4  # of a tree, so that one without mistakes does not count for everything


class AdaBoost:
    """Grows scikit-learn's trees one after the other."""

    def __init__(self, *, n_estimators: int, random_state: int, **of_tree: object) -> None:
        self.n_estimators, self.random_state, self.of_tree = n_estimators, random_state, of_tree
        self.estimators_: list[ExtraTreeClassifier] = []

    def fit(self, X: Array, y: NDArray[np.int64], sample_weight: Array | None = None) -> Self:
        """Grow the trees for points X (n, D) of classes y (n,)."""
        weights = np.ones(len(y)) if sample_weight is None else sample_weight.astype(np.float64)
        others = np.log(max(1, len(np.unique(y)) - 1))
        self.estimators_ = []
        for number in range(self.n_estimators):
            weights = weights / weights.sum()
            seed = self.random_state + number
            tree = ExtraTreeClassifier(**self.of_tree, max_features=None, random_state=seed)
            wrong = tree.fit(X, y, sample_weight=weights).predict(X) != y
            error = np.clip(weights[wrong].sum(), _LEAST_ERROR, 1 - _LEAST_ERROR)
            step = _RATE * max(0.0, np.log((1 - error) / error) + others)
            weights = weights * np.exp(step * wrong)
            self.estimators_.append(tree)
        return self
