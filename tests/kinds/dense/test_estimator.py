"""The trainer: gradients, pruning to a budget, and what becomes of steps that are too large."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
from finite_differences import assert_slope
from refusals import refused_by
from sklearn.exceptions import ConvergenceWarning

from protonn_edge.data.points.splits import load_digits_dataset
from protonn_edge.kinds.dense.learner import DenseNetwork, masks_within, stored_bytes
from protonn_edge.kinds.dense.train import DenseClassifier
from protonn_edge.kinds.dense.value.train import DenseRegressor
from protonn_edge.policy.value.train import squared_error

DIGITS = load_digits_dataset()


def fitted(**settings: Any) -> DenseClassifier:
    settings = {"epochs": 30, "random_state": 0, **settings}
    return DenseClassifier(**settings).fit(DIGITS.X_train, DIGITS.y_train)


@pytest.mark.parametrize(("scores", "alone"), [(1, False), (4, False), (1, True)])
def test_the_gradient_is_that_of_the_loss(scores: int, alone: bool) -> None:
    rng = np.random.default_rng(0)
    network = DenseNetwork.random((7, 6, 5, scores), rng)
    network = DenseNetwork(
        [W.astype(np.float64) for W in network.weights],  # type: ignore[misc]
        [rng.normal(size=b.shape) for b in network.biases],
        *([squared_error, True] if alone else []),
    )
    classes = max(2, scores)
    X, Y = rng.normal(size=(9, 7)), np.eye(classes)[rng.integers(0, classes, 9)]
    Y = rng.normal(size=(9, 1)) if alone else Y
    weights = rng.random(9)
    _, _, slopes = network.gradient(X, Y, weights)
    for parameter, slope in zip(network.parameters, slopes, strict=True):
        assert_slope(lambda: network.gradient(X, Y, weights)[0], parameter, slope)


@pytest.mark.parametrize(
    ("hidden", "budget"), [("20", 1_479), ("20", 700), ("30,10", 700), ("20", 300)]
)
def test_a_budget_is_kept_and_used(hidden: str, budget: int) -> None:
    classifier = fitted(hidden=hidden, size_budget=budget)
    *pruned, last = classifier.to_model().head.weights
    assert 0.9 * budget < last.size + sum(stored_bytes(W != 0) for W in pruned) <= budget
    assert classifier.score(DIGITS.X_test, DIGITS.y_test) > (0.85 if budget > 300 else 0.7)


def test_what_fits_keeps_all_of_its_weights() -> None:
    for budget in (None, 1_480):
        model = fitted(size_budget=budget, epochs=3).to_model()
        assert all((W != 0).all() for W in model.head.weights)


def test_pruning_costs_little() -> None:
    whole, pruned = (fitted(size_budget=each, epochs=60) for each in (None, 740))
    shares = [each.score(DIGITS.X_test, DIGITS.y_test) for each in (whole, pruned)]
    assert shares[1] > shares[0] - 0.03


def test_the_weights_that_matter_most_remain() -> None:
    rng = np.random.default_rng(1)
    matter = [rng.random((20, 100), np.float32), rng.random((8, 20), np.float32)]
    masks = masks_within(matter, 800)
    assert masks is not None
    assert 790 < sum(map(stored_bytes, masks)) <= 800
    for each, mask in zip(matter, masks, strict=True):
        assert each[mask].min() > each[~mask].max()
    assert masks_within(matter, 2_160) is None


def test_steps_that_are_too_large_are_made_smaller() -> None:
    with warnings.catch_warnings():  # how often, and when, goes by how a processor rounds
        warnings.simplefilter("ignore", ConvergenceWarning)
        with pytest.warns(ConvergenceWarning, match="diverged at the learning rate 30 in epoch"):
            classifier = fitted(learning_rate=30.0, epochs=4)
    assert classifier.restarts_


def test_steps_that_stay_too_large_are_refused() -> None:
    with refused_by("learn.loop"):
        fitted(learning_rate=1e9, epochs=4)


def test_noise_of_numbers_is_not_learned_by_heart() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1_000, 30))
    y = X[:, :5].sum(axis=1) + rng.normal(0, 2, 1_000)
    regressor = DenseRegressor(random_state=0).fit(X[:600], y[:600])
    assert regressor.score(X[600:], y[600:]) > 0.15  # at most 0.56; the noise by heart: below 0
