"""Trees and linear functions fitted by scikit-learn become models that answer as they did."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from extensions.conversion.files import stored, with_member
from hypothesis import given, settings
from hypothesis import strategies as st
from refusals import refused_by
from sklearn.datasets import load_iris
from sklearn.ensemble import (
    ExtraTreesClassifier,
    GradientBoostingClassifier,
    RandomForestClassifier,
)
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler
from sklearn.tree import DecisionTreeClassifier

from protonn_edge.data.points.splits import load_digits_dataset
from protonn_edge.extensions.conversion.converting import from_sklearn
from protonn_edge.extensions.conversion.linear import LinearRule
from protonn_edge.extensions.conversion.reading import StoredClassifier, load_estimator
from protonn_edge.learn.calibration import softmax
from protonn_edge.system.errors import CheckFailed

X, Y = load_iris(return_X_y=True)
DIGITS = load_digits_dataset()  # of features that are small whole numbers
PAIR = Y > 0

SOME = [
    DecisionTreeClassifier(random_state=0),
    RandomForestClassifier(10, random_state=0),
    ExtraTreesClassifier(10, random_state=0),
    RandomForestClassifier(5, min_samples_leaf=8, random_state=0),
    GradientBoostingClassifier(n_estimators=5, random_state=0),
    GradientBoostingClassifier(n_estimators=5, init="zero", random_state=0),
    make_pipeline(StandardScaler(), DecisionTreeClassifier(random_state=0)),
]


@pytest.mark.parametrize("labels", [Y, PAIR], ids=["three", "two"])
@pytest.mark.parametrize("estimator", SOME, ids=str)
def test_models_answer_as_the_estimator(estimator: Any, labels: np.ndarray):
    found = from_sklearn(estimator.fit(X, labels), X, labels)
    assert [step.name for step in found.steps] == ["estimator", "exact", "integers"]
    assert found.steps[0].accuracy == pytest.approx(estimator.score(X, labels), abs=0.01)
    assert found.steps[1].agreement == pytest.approx(1.0, abs=0.01)
    assert found.agreement >= 0.98


@pytest.mark.parametrize("estimator", SOME[:2], ids=str)
def test_integers_of_whole_trees_of_whole_numbers_are_the_estimator(estimator: Any):
    estimator.fit(DIGITS.X_train, DIGITS.y_train)
    found = from_sklearn(estimator, DIGITS.X_train, evaluate_on=(DIGITS.X_test, DIGITS.y_test))
    assert found.agreement == 1.0
    assert found.accuracy == estimator.score(DIGITS.X_test, DIGITS.y_test)


def test_trees_that_do_not_fit_are_pruned():
    estimator = RandomForestClassifier(20, random_state=0).fit(DIGITS.X_train, DIGITS.y_train)
    found = from_sklearn(estimator, DIGITS.X_train, budget=2_000)
    assert found.steps[1].name == "pruned"
    assert 1_500 < found.model_bytes <= 2_000
    assert found.agreement > 0.85
    with pytest.raises(
        CheckFailed, match="no subset of the RandomForestClassifier's trees is small enough"
    ):
        from_sklearn(estimator, DIGITS.X_train, budget=20)


def damaged(**changes: Any) -> DecisionTreeClassifier:
    """Return a tree whose nodes were changed by hand."""
    estimator = DecisionTreeClassifier(random_state=0, max_leaf_nodes=3).fit(X, Y)
    state = estimator.tree_.__getstate__()
    for field, value in changes.items():
        if field in state:
            state[field] = value
        else:
            values = np.atleast_1d(value)
            state["nodes"][field][: len(values)] = values
    estimator.tree_.__setstate__(state)
    return estimator


@pytest.mark.parametrize(
    "changes",
    [
        {"left_child": 0},
        {"right_child": 10**9},
        {"left_child": [3, 1, -1, -1, -1], "right_child": [4, 2, -1, -1, -1]},
        {"feature": 4},
        {"feature": -2},
        {"threshold": np.nan},
        {"impurity": np.inf},
        {"node_count": 10**6},
    ],
)
def test_damaged_trees_are_refused_before_they_are_walked(changes: Any):
    with refused_by("extensions.conversion.trees.trees"):
        from_sklearn(damaged(**changes), X)


def test_files_with_trees_of_several_outputs_are_not_loaded(tmp_path: Path):
    def change(content: bytes) -> bytes:
        schema = json.loads(content)
        tree = schema["content"]["content"]["tree_"]
        tree["__reduce__"]["args"]["content"][2]["content"] = "9000000"
        return json.dumps(schema).encode()

    path = stored(tmp_path / "trees.skops", SOME[0].fit(X, Y))
    with_member(path, "schema.json", change)
    with refused_by("extensions.conversion.reading"):
        load_estimator(path)


def of_rule(rule: LinearRule) -> StoredClassifier:
    n_classes, n_features = rule.coefficients.shape
    return StoredClassifier("rule", rule, n_features, np.array([], str), np.arange(n_classes))


@settings(max_examples=20)
@given(
    seed=st.integers(0, 10_000),
    n_classes=st.integers(2, 8),
    n_features=st.integers(1, 9),
    unit=st.sampled_from([1e-3, 1.0, 1e3]),
)
def test_it_is_exact_whatever_the_functions(
    seed: int, n_classes: int, n_features: int, unit: float
):
    rng = np.random.default_rng(seed)
    Z = (rng.normal(size=(200, n_features)) * unit + 3 * unit).astype(np.float32)
    coefficients = rng.normal(size=(n_classes, n_features)) / unit
    intercepts = 2 * rng.normal(size=n_classes) - 3 * unit * coefficients.sum(axis=1)
    rule = LinearRule(coefficients, intercepts)
    decisions = np.sort(rule.decisions(Z.astype(float)), axis=1)
    clear = decisions[:, -1] - decisions[:, -2] > 1e-4
    model = from_sklearn(of_rule(rule), Z).model
    assert model.head.kind == "linear"
    assert len(model.head.weights) == (n_classes if n_classes > 2 else 1)
    assert np.array_equal(model.predict(Z)[clear], rule.answers(Z.astype(float))[clear])


@pytest.mark.parametrize("n_classes", [2, 10])
def test_shares_of_the_scores_are_the_probabilities(n_classes: int):
    y = DIGITS.y_train % n_classes
    machine = make_pipeline(MinMaxScaler(), LogisticRegression(max_iter=2000))
    found = from_sklearn(machine.fit(DIGITS.X_train, y), DIGITS.X_train)
    X = DIGITS.X_test
    assert np.array_equal(found.model.predict(X), machine.predict(X))
    shares = softmax(found.model.scores(X))
    np.testing.assert_allclose(shares, machine.predict_proba(X), atol=1e-5)
    assert found.agreement > 0.98


def test_a_class_that_is_never_answered_does_no_harm():
    rule = LinearRule(np.array([[1.0, 0], [-1, 0], [0, 0]]), np.array([0.0, 0, -1000]))
    Z = np.random.default_rng(0).normal(size=(100, 2)).astype(np.float32)
    found = from_sklearn(of_rule(rule), Z)
    assert np.array_equal(found.model.predict(Z), rule.answers(Z.astype(float)))
