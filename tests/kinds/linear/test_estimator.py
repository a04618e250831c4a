"""The trainer: scikit-learn's own regression, and all that device classifiers share."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression

from protonn_edge.data.points.splits import load_digits_dataset
from protonn_edge.kinds.linear.train import LinearClassifier, _l1_penalty
from protonn_edge.learn.network_head import NetworkHead
from protonn_edge.model.quantization import quantize

DIGITS = load_digits_dataset()
SOME = np.flatnonzero(DIGITS.y_train < 4)[:240]
X, Y = DIGITS.X_train[SOME], DIGITS.y_train[SOME]
TWO = Y >= 2


def fitted(**settings: Any) -> LinearClassifier:
    return LinearClassifier(random_state=0, **settings).fit(X, Y)


@pytest.mark.parametrize(("y", "solver"), [(Y, "saga"), (TWO, "liblinear"), (TWO, "saga")])
def test_it_finds_what_scikit_learn_finds(y: np.ndarray, solver: str) -> None:
    settings = {"regularization": 2e-2, "solver": solver, "tolerance": 1e-4}
    classifier = LinearClassifier(random_state=0, max_iterations=3_000, **settings)
    model = classifier.fit(X, y).to_model()
    own = LogisticRegression(
        **_l1_penalty(),
        C=1 / (2e-2 * len(y)),
        solver=solver,
        max_iter=3_000,
        tol=1e-4,
        random_state=0,
    ).fit(model.normalized(X), y)
    np.testing.assert_allclose(model.head.weights, own.coef_, atol=0.03)
    shares = own.predict_proba(model.normalized(DIGITS.X_test))
    np.testing.assert_allclose(classifier.predict_proba(DIGITS.X_test), shares, atol=0.03)
    assert model.record["trainer"] == solver


def test_a_larger_regularization_leaves_weights_out() -> None:
    shares = [
        np.mean(fitted(regularization=each).model_.head.weights != 0) for each in (1e-4, 1e-2)
    ]
    assert shares[0] > 0.6
    assert shares[1] < 0.25


def test_a_weight_of_two_is_a_point_given_twice() -> None:
    weights = np.where(np.arange(len(X)) < 100, 2, 1)
    settings = {"random_state": 0, "tolerance": 1e-5, "max_iterations": 5_000}
    one = LinearClassifier(regularization=3e-2, **settings).fit(X, Y, sample_weight=weights)
    two = LinearClassifier(regularization=3e-2, **settings).fit(
        np.concatenate([X, X[:100]]), np.concatenate([Y, Y[:100]])
    )
    np.testing.assert_allclose(one.model_.head.weights, two.model_.head.weights, atol=1e-3)


def test_that_it_has_not_converged_is_remarked() -> None:
    with pytest.warns(ConvergenceWarning, match="not converge within the limit of 2 passes"):
        classifier = fitted(max_iterations=2)
    assert classifier.to_model().record["remarks"] == list(classifier.remarks_)


@pytest.mark.parametrize("y", [Y, TWO])
def test_it_takes_the_weights_that_convolutions_were_learned_with(
    y: np.ndarray, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept: list[NetworkHead] = []
    own = LinearClassifier.keep_head

    def keep(settings: LinearClassifier, head: NetworkHead) -> None:
        kept.append(head)
        own(settings, head)

    monkeypatch.setattr(LinearClassifier, "keep_head", keep)
    layers = {"image_shape": (8, 8), "features": "conv:4x3,max2", "network_epochs": 4}
    classifier = LinearClassifier(random_state=0, solver="network", **layers).fit(X, y)
    model = classifier.to_model()
    (head,) = kept
    weights, bias = head.parameters
    features = model.features.apply(X) * np.float32(head.unit)
    scores = features @ weights.T + bias
    found = model.scores(X)
    differences = (each - each.mean(axis=1, keepdims=True) for each in (found, scores))
    np.testing.assert_allclose(*differences, atol=1e-3)
    assert model.record["trainer"] == "network"
    integers = quantize(model)
    assert np.mean(integers.predict(integers.quantize(X)) == scores.argmax(axis=1)) > 0.95
