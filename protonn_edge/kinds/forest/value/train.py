"""Forests as a scikit-learn regressor, trained on the bytes that a device receives."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from sklearn.ensemble import ExtraTreesRegressor, GradientBoostingRegressor, RandomForestRegressor

from protonn_edge.kinds.forest.grown import GrownTrees, fitting, joined_nodes, nodes_of
from protonn_edge.kinds.forest.parameters import OF_NUMBERS
from protonn_edge.kinds.forest.train import ForestClassifier, new_ensemble
from protonn_edge.learn.points import Float32, Points
from protonn_edge.learn.searched import Among, SearchSpec, SearchTask
from protonn_edge.learn.training_request import TrainingRequest
from protonn_edge.policy.value.regressor import DeviceRegressor
from protonn_edge.policy.value.train import searched_without
from protonn_edge.system.schema import JsonObject

_REGRESSORS = {
    "random": RandomForestRegressor,
    "extra": ExtraTreesRegressor,
    "boosting": GradientBoostingRegressor,
}


def _trees_of(forest: Any) -> GrownTrees:
    """Return the trees of a scikit-learn ensemble, whose predictions are the scores."""
    trees = [each.tree_ for each in np.ravel(forest.estimators_)]
    boosted = isinstance(forest, GradientBoostingRegressor)
    weight = forest.learning_rate if boosted else 1 / len(trees)
    start = np.ravel(forest.init_.constant_) if boosted else np.zeros(1)
    nodes = joined_nodes([nodes_of(tree, weight * tree.value[:, 0]) for tree in trees])
    return GrownTrees(**nodes, bias=start, boosted=int(boosted))


@dataclass(kw_only=True, eq=False, repr=False)
class ForestRegressor(DeviceRegressor, ForestClassifier):
    """A number from a random forest, extra trees, or gradient boosting, trained by scikit-learn.

    The prediction is ``offset + scale * sum_t v_t``, with v_t the value of the leaf that the point
    reaches in tree t. Trees are trained on the bytes that the device receives, with the variance as
    criterion; `size_budget` limits them as in `ForestClassifier`.

    Parameters
    ----------
    ensemble : {"random", "extra", "boosting"}, default="random"
        scikit-learn's `RandomForestRegressor`, `ExtraTreesRegressor` or
        `GradientBoostingRegressor`.
    n_trees : int, default=10
        Number of trees, or of rounds of boosting.
    leaves : {"votes", "shares"}, default="votes"
        Not used: leaves hold means, for boosting of what is left to explain.

    Examples
    --------
    >>> from sklearn.datasets import make_friedman1
    >>> from protonn_edge.kinds.forest.value.train import ForestRegressor
    >>> X, y = make_friedman1(600, random_state=0)
    >>> regressor = ForestRegressor(ensemble="boosting", n_trees=100, random_state=0)
    >>> bool(regressor.fit(X[:400], y[:400]).score(X[400:], y[400:]) > 0.8)
    True
    """

    ensembles: ClassVar[Mapping[str, Callable[..., Any]]] = _REGRESSORS

    # others than of classes: AdaBoost votes, and more trees in the same bytes are no better
    ensemble: str = "random"
    n_trees: int = 10
    size_budget: int | None = 16_000

    def refuse(self, case: TrainingRequest) -> None:
        """Refuse an ensemble of classes."""
        super().refuse(case)
        if self.ensemble not in OF_NUMBERS:
            case.refuse(
                f"--ensemble '{self.ensemble}' votes for classes; choose 'random', 'extra' or "
                "'boosting'"
            )

    def grown(self, Q: Float32, points: Points, seed: int) -> tuple[GrownTrees, JsonObject]:
        """Return trees, whose leaves are means of numbers; see `ForestClassifier.grown`."""
        forest = new_ensemble(self, seed)
        forest.fit(Q, points.y[:, 0], sample_weight=points.weight)
        trees, facts = fitting(_trees_of(forest), self.size_budget)
        return trees, {"trainer": type(forest).__name__, **facts}

    @classmethod
    def searched(cls, task: SearchTask) -> SearchSpec:
        """Return the search space: that of classifiers, without what only votes have."""
        spec = searched_without(super().searched(task), "leaves")
        starts = tuple(start for start in spec.starts if start["ensemble"] in OF_NUMBERS)
        return replace(
            spec, parameters={**spec.parameters, "ensemble": Among(OF_NUMBERS)}, starts=starts
        )

    @property
    def scores_are_logits(self) -> bool:
        """Whether training makes the scores logits: no."""
        return False
