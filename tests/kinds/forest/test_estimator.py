"""The trainer: scikit-learn's own forests on the device's bytes, cut to a budget."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.ensemble import (
    ExtraTreesClassifier,
    GradientBoostingClassifier,
    RandomForestClassifier,
)

from protonn_edge.data.points.splits import load_digits_dataset
from protonn_edge.kinds.forest.adaboost import AdaBoost
from protonn_edge.kinds.forest.grown import GrownTrees
from protonn_edge.kinds.forest.parameters import ENSEMBLES
from protonn_edge.kinds.forest.train import CLASSIFIERS, ForestClassifier
from protonn_edge.model.integer_chain import named_stages, own_inputs
from protonn_edge.model.quantization import quantize

DIGITS = load_digits_dataset()
SOME = slice(0, 600)


def fitted(**settings: Any) -> ForestClassifier:
    settings = {"n_trees": 10, "size_budget": None, "random_state": 0, **settings}
    return ForestClassifier(**settings).fit(DIGITS.X_train[SOME], DIGITS.y_train[SOME])


def integers_of(classifier: ForestClassifier) -> Any:
    return quantize(classifier.to_model())


def bytes_of(classifier: ForestClassifier, X: np.ndarray) -> np.ndarray:
    """Return what the trees of a classifier are given, as scikit-learn takes it."""
    integers = integers_of(classifier)
    return own_inputs(integers, integers.quantize(X)).astype(np.float32)


def own_forest(classifier: ForestClassifier, kind: Any, y: Any = DIGITS.y_train[SOME]) -> Any:
    """Return scikit-learn's own forest, trained on the bytes of the same points in their order."""
    X, caught = DIGITS.X_train[SOME], {}

    class Caught(kind):  # type: ignore[misc]
        def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
            caught.update(X=X, y=y, sample_weight=sample_weight, self=self)
            return super().fit(X, y, sample_weight)

    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(CLASSIFIERS, classifier.ensemble, Caught)
        classifier.fit(X, y)
    own = kind(**caught["self"].get_params())
    return own.fit(caught["X"], caught["y"], caught["sample_weight"])


@pytest.mark.parametrize(
    ("ensemble", "kind"), [("random", RandomForestClassifier), ("extra", ExtraTreesClassifier)]
)
def test_shares_of_classes_are_scikit_learns_own(ensemble: str, kind: Any) -> None:
    classifier = ForestClassifier(
        ensemble=ensemble,
        leaves="shares",
        n_trees=10,
        size_budget=None,
        min_samples_leaf=3,
        random_state=0,
    )
    own = own_forest(classifier, kind)
    Q = bytes_of(classifier, DIGITS.X_test)
    integers = integers_of(classifier)
    expected = own.predict_proba(Q)
    scores = integers.scores(Q.astype(np.uint8)) * integers.score_scale
    np.testing.assert_allclose(scores, expected, atol=0.5 / 127 + 1e-6)
    stage = named_stages(integers)["forest"]
    ends = stage.trees.leaves_of(Q, stage.thresholds)
    for ours, theirs in zip(ends.T, own.apply(Q).T, strict=True):
        assert len(np.unique(ours)) == len(np.unique(theirs))
        assert len(np.unique(np.stack([ours, theirs]), axis=1).T) == len(np.unique(ours))
    sure = np.diff(np.sort(expected)[:, -2:])[:, 0] > 1 / 127
    assert (scores.argmax(axis=1) == own.predict(Q))[sure].all()


def test_whole_trees_vote_exactly_as_scikit_learns() -> None:
    classifier = ForestClassifier(n_trees=15, size_budget=None, random_state=0)
    own = own_forest(classifier, RandomForestClassifier)
    Q = bytes_of(classifier, DIGITS.X_test)
    assert (integers_of(classifier).predict(Q.astype(np.uint8)) == own.predict(Q)).all()


@pytest.mark.parametrize("classes", [2, 10])
def test_boosting_gives_scikit_learns_own_scores(classes: int) -> None:
    classifier = ForestClassifier(ensemble="boosting", n_trees=10, size_budget=None, random_state=0)
    y = DIGITS.y_train[SOME] * classes // 10
    own = own_forest(classifier, GradientBoostingClassifier, y)
    for estimator in own.estimators_.ravel():
        values = estimator.tree_.value
        np.clip(values, -max(4, classes), max(4, classes), out=values)
    Q = bytes_of(classifier, DIGITS.X_test)
    expected = own.decision_function(Q)
    if classes == 2:
        expected = np.stack([np.zeros(len(Q)), expected], axis=1)
    model, integers = classifier.to_model(), integers_of(classifier)
    np.testing.assert_allclose(model.scores(DIGITS.X_test), expected, atol=1e-5)
    np.testing.assert_allclose(
        classifier.predict_proba(DIGITS.X_test), own.predict_proba(Q), atol=1e-5
    )
    scores = integers.scores(Q.astype(np.uint8)) * integers.score_scale
    rounding = 0.5 * (10 + 1) * integers.score_scale  # a tree a round and score, and the bias
    np.testing.assert_allclose(scores, expected, atol=rounding + 1e-5)
    sure = np.diff(np.sort(expected)[:, -2:])[:, 0] > 2 * rounding
    assert sure.mean() > 0.9
    assert (scores.argmax(axis=1) == expected.argmax(axis=1))[sure].all()


@pytest.mark.parametrize("alpha", [0.001, 0.004, 0.02])
def test_pruning_is_scikit_learns_own(alpha: float) -> None:
    X, y = DIGITS.X_train[SOME], DIGITS.y_train[SOME]
    whole = RandomForestClassifier(n_estimators=5, random_state=0).fit(X, y)
    own = RandomForestClassifier(n_estimators=5, random_state=0, ccp_alpha=alpha).fit(X, y)
    grown = GrownTrees.of(whole, X[:1])
    pruned = grown.with_leaves(grown.leaves_at(alpha))
    expected = GrownTrees.of(own, X[:1])
    assert (pruned.features == expected.features).all()
    assert (pruned.thresholds == expected.thresholds).all()
    np.testing.assert_allclose(pruned.values, expected.values)


@pytest.mark.parametrize("ensemble", ENSEMBLES)
def test_a_budget_is_kept_and_used(ensemble: str) -> None:
    whole = fitted(ensemble=ensemble)
    budget = integers_of(whole).model_bytes // 2
    small = fitted(ensemble=ensemble, size_budget=budget)
    assert 0.8 * budget < integers_of(small).model_bytes <= budget
    shares = [each.score(DIGITS.X_test, DIGITS.y_test) for each in (whole, small)]
    assert shares[1] > shares[0] - 0.05
    record = small.to_model().record
    limits = {"boosting": ("rounds", 10), "adaboost": ("max_leaf_nodes", 200)}
    name, most = limits.get(ensemble, ("ccp_alpha", 0.1))
    assert 0 < record[name] < most


@pytest.mark.parametrize("ensemble", ["random", "extra", "adaboost"])
def test_features_with_few_values_use_the_budget_that_a_packed_table_leaves(ensemble: str) -> None:
    rng = np.random.default_rng(0)
    X = rng.integers(0, 8, (1_000, 6)).astype(np.float32)
    y = X.sum(axis=1) + rng.integers(0, 4, 1_000) > 22
    classifier = ForestClassifier(ensemble=ensemble, size_budget=2_500, random_state=0).fit(X, y)
    stage = named_stages(integers_of(classifier))["forest"]
    assert stage.packs
    assert 2_000 < integers_of(classifier).model_bytes <= 2_500 < stage.table.n_bytes


@pytest.mark.parametrize("ensemble", ["random", "adaboost"])
def test_trees_that_share_tests_fit_a_packed_table(ensemble: str) -> None:
    settings = {"ensemble": ensemble, "size_budget": 1_500}
    alone, shared = (fitted(tests=tests, **settings) for tests in (None, 60))
    stages = [named_stages(integers_of(each))["forest"] for each in (alone, shared)]
    assert stages[1].packed.possible
    assert len(stages[1].packed.tests) <= 60
    assert 1_350 < stages[1].packed.n_bytes == integers_of(shared).model_bytes <= 1_500
    assert len(stages[1].leaves) > 1.4 * len(stages[0].leaves)
    assert shared.score(DIGITS.X_test, DIGITS.y_test) > 0.85


def test_adaboost_needs_fewer_leaves() -> None:
    random, adaboost = (fitted(ensemble=each, size_budget=1_000) for each in ("random", "adaboost"))
    shares = [each.score(DIGITS.X_test, DIGITS.y_test) for each in (random, adaboost)]
    assert shares[1] > shares[0]


def test_trees_of_adaboost_mend_mistakes() -> None:
    """Points on which a tree is wrong get the weight of the SAMME algorithm for the next one."""
    X, y = DIGITS.X_train[SOME].astype(np.float32), DIGITS.y_train[SOME]
    boosted = AdaBoost(n_estimators=2, random_state=5, max_leaf_nodes=20)
    first, second = boosted.fit(X, y).estimators_
    wrong = first.predict(X) != y
    error = wrong.mean()
    weights = np.where(wrong, ((1 - error) / error * 9) ** 0.3, 1.0)
    again = clone(second).fit(X, y, sample_weight=weights / weights.sum())
    assert (again.predict(X) == second.predict(X)).all()
    assert second.random_state != first.random_state


def test_the_normalization_has_no_influence() -> None:
    hashes = {integers_of(fitted(normalization=each)).model_sha256 for each in ("none", "standard")}
    assert len(hashes) == 1
