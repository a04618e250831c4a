"""Fitted trees of other libraries that predict a number become forests."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
from sklearn import ensemble
from sklearn.dummy import DummyRegressor
from sklearn.tree import DecisionTreeRegressor

from protonn_edge.extensions.conversion import reading
from protonn_edge.extensions.conversion.affine import Float64
from protonn_edge.extensions.conversion.numbers import NumberRule, as_numbers, scale_of
from protonn_edge.extensions.conversion.search import Candidate, ModelSearch, Readers
from protonn_edge.extensions.conversion.trees.boosters import histogram_rule
from protonn_edge.extensions.conversion.trees.trees import TreeRule, checked_tree
from protonn_edge.kinds.forest.grown import GrownTrees, joined_nodes, nodes_of, preorder
from protonn_edge.system.checks import check

_LOSSES = ("absolute_error", "quantile", "squared_error")  # of sums that are the numbers themselves


@dataclass(frozen=True, eq=False)
class TreeNumberRule(NumberRule, TreeRule):
    """The sum of values over the leaves that a point reaches."""

    not_tuned: ClassVar[str] = "consists of trees"
    votes: ClassVar[bool] = False

    def answers(self, Z: Float64) -> Float64:
        """Return the number for each point Z (n, k)."""
        return self.sums(Z)[:, 0]

    def best(self, search: ModelSearch) -> Candidate:
        """Return the trees: unchanged if they fit, otherwise pruned."""
        value, grown = scale_of(search), self.grown
        values, bias = grown.values / value.scale, (grown.bias - value.offset) / value.scale
        return TreeRule.best(replace(self, grown=replace(grown, values=values, bias=bias)), search)


def of_number(rule: TreeRule) -> TreeNumberRule:
    """Return the rule of trees with a single score."""
    made: TreeNumberRule = as_numbers(replace(rule, fine=True), TreeNumberRule)
    return made


def tree_rule(regressor: object, k: int, _n_labels: int) -> TreeNumberRule:
    """Return the trees of a tree, a random forest, extra trees or gradient boosting."""
    name, boosted = (
        type(regressor).__name__,
        isinstance(regressor, ensemble.GradientBoostingRegressor),
    )
    alone = isinstance(regressor, DecisionTreeRegressor)
    estimators = [regressor] if alone else reading.array_of(regressor, "estimators_").ravel()
    trees = [checked_tree(each, k, 1, name) for each in estimators]
    check(len(trees) > 0, f"trees of the {name}", "none", "at least one")
    weight, start = 1 / len(trees), np.zeros(1)
    if boosted:
        weight = float(reading.numbers_of(regressor, "learning_rate", ()))
        start = _start(regressor)
    nodes = joined_nodes([nodes_of(tree, weight * tree.value[:, 0]) for tree in trees])
    gaps = [tree.missing_go_to_left[preorder(tree)] > 0 for tree in trees]
    accepted = None if boosted else np.concatenate(gaps)
    grown = GrownTrees(**nodes, bias=start, boosted=int(boosted))
    return TreeNumberRule(grown, fine=True, gaps=accepted)


def _start(regressor: object) -> Float64:
    """Return the initial number (1,) of boosting."""
    first = reading.attribute(regressor, "init_")
    if isinstance(first, str) and first == "zero":
        return np.zeros(1)
    usual = type(first) is DummyRegressor
    check(usual, "GradientBoostingRegressor.init", "an estimator", "None or 'zero'")
    constant: Float64 = reading.numbers_of(first, "constant_", (1, 1))
    return constant.reshape(1)


def _histogram_rule(regressor: object, k: int, n_labels: int) -> TreeNumberRule:
    loss = reading.text_of(regressor, "loss")
    known = ", ".join(map(repr, _LOSSES))
    check(loss in _LOSSES, f"{type(regressor).__name__}.loss", repr(loss[:40]), f"one of {known}")
    return of_number(histogram_rule(regressor, k, n_labels))


READERS: Readers = {
    DecisionTreeRegressor: tree_rule,
    ensemble.ExtraTreesRegressor: tree_rule,
    ensemble.GradientBoostingRegressor: tree_rule,
    ensemble.HistGradientBoostingRegressor: _histogram_rule,
    ensemble.RandomForestRegressor: tree_rule,
}
LIBRARIES = {
    "xgboost": ("XGBRegressor", "XGBRFRegressor"),
    "lightgbm": ("LGBMRegressor",),
}
TYPES: set[str] = {name for names in LIBRARIES.values() for name in names}
OBJECTIVES = dict.fromkeys(
    (
        *("reg:squarederror", "reg:absoluteerror", "reg:pseudohubererror", "reg:quantileerror"),
        *("regression", "regression_l1", "huber", "fair", "quantile", "mape"),
    ),
    of_number,
)
"""The objectives of XGBoost and LightGBM whose sums are the numbers themselves."""
