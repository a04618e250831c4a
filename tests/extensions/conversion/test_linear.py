"""A classifier of linear functions becomes a linear model, and answers every point as it did."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler

from protonn_edge.data.splits import load_digits_dataset
from protonn_edge.extensions.conversion.converting import from_sklearn
from protonn_edge.extensions.conversion.linear import LinearRule
from protonn_edge.extensions.conversion.reading import StoredClassifier
from protonn_edge.learn.calibration import softmax

DIGITS = load_digits_dataset()


def stored(rule: LinearRule) -> StoredClassifier:
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
    model = from_sklearn(stored(rule), Z).model
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
    found = from_sklearn(stored(rule), Z)
    assert np.array_equal(found.model.predict(Z), rule.answers(Z.astype(float)))
