"""A classifier of linear functions becomes L prototypes, and answers every point as it did."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.linear_model import LogisticRegression

from protonn_edge.chain.statistics import InputStatistics
from protonn_edge.codegen import make_plan
from protonn_edge.codegen.host import host_program
from protonn_edge.conversion.converting import from_sklearn
from protonn_edge.conversion.estimators import FittedEstimator, LinearRule
from protonn_edge.conversion.prototypes import REACHES, as_model, exact_prototypes
from protonn_edge.conversion.scaling import AffineMap
from protonn_edge.datasets import load_digits_dataset
from protonn_edge.kinds.protonn.head import rbf
from protonn_edge.quantization import quantize

DIGITS = load_digits_dataset()


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
    Z = rng.normal(size=(200, n_features)) * unit + 3 * unit
    coefficients = rng.normal(size=(n_classes, n_features)) / unit
    intercepts = 2 * rng.normal(size=n_classes) - 3 * unit * coefficients.sum(axis=1)
    rule = LinearRule(coefficients, intercepts)
    decisions = np.sort(rule.decisions(Z), axis=1)
    clear = decisions[:, -1] - decisions[:, -2] > 1e-6
    answers = rule.answers(Z)
    found = exact_prototypes(rule, Z, answers)
    assert len(found) == len(REACHES)
    for model in found:
        assert model.prototypes.shape[1] == n_classes
        assert len(model.projection) <= min(n_classes - 1, n_features)
        K = rbf(Z @ model.projection.T, model.prototypes, model.gamma)
        # Logarithms, so that what underflows far away is compared, too.
        squares = ((Z @ model.projection.T)[:, :, None] - model.prototypes[None]) ** 2
        logs = np.log(np.diag(model.labels).clip(1e-300)) - model.gamma**2 * squares.sum(axis=1)
        assert np.array_equal(logs.argmax(axis=1)[clear], answers[clear])
        assert np.array_equal(K.shape, logs.shape)


def test_shares_of_the_scores_are_the_probabilities_where_s_is_that_of_the_logits():
    """Scores are proportional to a power of the probabilities, the same for all points."""
    machine = LogisticRegression(max_iter=2000).fit(DIGITS.X_train, DIGITS.y_train)
    model = from_sklearn(machine, DIGITS.X_train).model
    logits = np.log(machine.predict_proba(DIGITS.X_test[:50]))
    logs = np.log(model.scores(DIGITS.X_test[:50]))
    between = (logs[:, :-1] - logs[:, 1:]) / (logits[:, :-1] - logits[:, 1:])
    np.testing.assert_allclose(between, np.median(between), rtol=0.05)


def test_as_a_model_of_raw_features_it_is_exact_too():
    machine = LogisticRegression(max_iter=2000).fit(DIGITS.X_train / 16, DIGITS.y_train)
    rule = LinearRule(machine.coef_.astype(float), machine.intercept_.astype(float))
    features = AffineMap.identity(64).scaled(np.zeros(64), np.full(64, 1 / 16))
    fitted = FittedEstimator("LogisticRegression", features, rule, machine.classes_, ())
    Z = features.apply(DIGITS.X_train)
    for found in exact_prototypes(rule, Z, rule.answers(Z)):
        inputs = InputStatistics.of(DIGITS.X_train)
        model = as_model(found, fitted, inputs, DIGITS.classes, 0.0)
        assert np.array_equal(model.predict(DIGITS.X_test), machine.predict(DIGITS.X_test / 16))


@pytest.mark.parametrize("n_classes", [2, 10])
def test_its_c_gives_the_scores_of_its_integers(n_classes: int):
    y = DIGITS.y_train % n_classes
    machine = LogisticRegression(max_iter=2000).fit(DIGITS.X_train, y)
    converted = from_sklearn(machine, DIGITS.X_train)
    integers = quantize(converted.model)
    assert (
        integers.named_stages["projection"].n_outputs,
        integers.named_stages["prototypes"].n_prototypes,
    ) == (n_classes - 1, n_classes)
    assert converted.agreement > 0.95
    Q = integers.quantize(DIGITS.X_test)
    with host_program(integers, make_plan(integers)) as program:
        assert np.array_equal(program.run(Q, "whole")[1], integers.scores(Q))


def test_a_class_that_is_never_answered_does_no_harm():
    rule = LinearRule(np.array([[1.0, 0], [-1, 0], [0, 0]]), np.array([0.0, 0, -1000]))
    Z = np.random.default_rng(0).normal(size=(100, 2))
    for found in exact_prototypes(rule, Z, rule.answers(Z)):
        K = rbf(Z @ found.projection.T, found.prototypes, found.gamma)
        assert np.array_equal((K @ found.labels.T).argmax(axis=1), rule.answers(Z))


@pytest.mark.parametrize("points", [np.ones((5, 2)), np.zeros((1, 2))])
def test_points_without_spread_are_no_reason_to_fail(points: np.ndarray):
    rule = LinearRule(np.array([[1.0, 2], [3, 1]]), np.array([0.5, -1]))
    for found in exact_prototypes(rule, points, rule.answers(points)):
        assert all(np.isfinite(matrix).all() for matrix in (found.projection, found.prototypes))
