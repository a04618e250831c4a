"""Probabilities and nearness: what they are, and how far they can be trusted."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from extension_parts import additions
from trainings import DIGITS, fit

from protonn_edge.kinds.linear.train import LinearClassifier
from protonn_edge.learn.calibration import fitted_sharpness, least_log_loss, softmax


def log_loss(likelihoods: np.ndarray, y: np.ndarray) -> float:
    return float(-np.log(likelihoods[np.arange(len(y)), y]).mean())


@pytest.mark.parametrize("sharpness", [0.3, 2.0, 25.0])
def test_the_sharpness_that_labels_were_drawn_with_is_found(sharpness: float) -> None:
    rng = np.random.default_rng(0)
    scores = rng.normal(size=(20_000, 4)) / sharpness * 2.0
    shares = softmax(scores * sharpness)
    y = (shares.cumsum(axis=1) < rng.random((len(shares), 1))).sum(axis=1)
    assert fitted_sharpness(scores, y) == pytest.approx(sharpness, rel=0.05)


@pytest.mark.parametrize("unit", [1.0, 1e-3, 1e6])
def test_the_log_loss_ranks_scores_of_any_unit(unit: float) -> None:
    y = np.arange(12) % 3
    own = np.eye(3)[y]
    narrow = own.copy()
    narrow[:2] = [[0.6, 0.4, 0.0], [0.4, 0.6, 0.0]]  # as accurate, with smaller margins
    wrong = own.copy()
    wrong[0] = [0.0, 1.0, 0.0]
    losses = [least_log_loss(unit * each, y) for each in (own, narrow, wrong, np.zeros((12, 3)))]
    assert losses == sorted(losses)
    assert losses[0] < losses[1] < losses[2] < losses[3] == pytest.approx(np.log(3))
    assert least_log_loss(np.zeros((0, 3)), y[:0]) == 0.0


def test_scores_that_part_all_points_give_a_finite_sharpness() -> None:
    y = np.arange(10) % 2
    assert np.isfinite(fitted_sharpness(np.eye(2)[y], y))
    assert np.isfinite(fitted_sharpness(np.zeros((10, 2)), y))
    assert fitted_sharpness(np.eye(2)[1 - y], y) < 0.01


@pytest.mark.parametrize(
    "settings",
    [
        {},
        *additions("probabilities").values(),
    ],
)
def test_every_loss_gives_probabilities_that_are_nearly_the_best(settings: dict[str, Any]) -> None:
    classifier = fit(**{"epochs": 40, **settings})
    likelihoods = classifier.predict_proba(DIGITS.X_test)
    np.testing.assert_allclose(likelihoods.sum(axis=1), 1)
    assert np.array_equal(likelihoods.argmax(axis=1), classifier.predict(DIGITS.X_test))
    scores = classifier.decision_function(DIGITS.X_test)
    best = softmax(scores * fitted_sharpness(scores, DIGITS.y_test))
    found = log_loss(likelihoods, DIGITS.y_test)
    assert found < 0.3
    assert found < 1.25 * log_loss(best, DIGITS.y_test)


def test_logits_become_less_certain_where_training_points_are_few() -> None:
    classifier = fit(epochs=5)
    scores, y = classifier.decision_function(DIGITS.X_test), DIGITS.y_test
    assert 0 < classifier.sharpness_ < 1.0
    likelihoods = classifier.predict_proba(DIGITS.X_test)
    np.testing.assert_allclose(likelihoods, softmax(scores * classifier.sharpness_))
    assert log_loss(likelihoods, y) < 0.8 * log_loss(softmax(scores), y)


def test_logits_are_never_made_more_certain() -> None:
    y = np.arange(3000) % 3
    X = np.random.default_rng(0).normal(size=(3000, 3)) + 3 * np.eye(3)[y]
    classifier = LinearClassifier(regularization=0.1, random_state=0).fit(X, y)
    assert fitted_sharpness(classifier.decision_function(X), y, certain=False) > 1.0
    assert classifier.sharpness_ == 1.0


@pytest.mark.parametrize("n", [1, 5, 300])
def test_a_class_of_n_points_that_are_all_right_has_platts_probability(n: int) -> None:
    y = np.arange(3 * n) % 3
    sharpness = fitted_sharpness(7.0 * np.eye(3)[y], y, certain=False)
    assert softmax(sharpness * 7.0 * np.eye(3))[0, 0] == pytest.approx((n + 1) / (n + 2))


def test_nearness_is_less_the_distance_in_rbf_widths() -> None:
    classifier = fit(epochs=5)
    model = classifier.model_
    nearness = classifier.score_samples(DIGITS.X_test)
    projected = model.normalizer.apply(DIGITS.X_test[:1]) @ model.head.projection.T.astype(float)
    distances = np.linalg.norm(model.head.prototypes.T - projected, axis=1)
    assert nearness[0] == pytest.approx(-model.head.gamma * distances.min())
    assert (nearness <= 0).all()


def test_inputs_unlike_any_in_training_lie_far_from_prototypes() -> None:
    classifier = fit(epochs=40)
    known = classifier.score_samples(DIGITS.X_test)
    noise = np.random.default_rng(0).integers(0, 17, DIGITS.X_test.shape)
    unknown = classifier.score_samples(noise)
    limit = np.quantile(classifier.score_samples(DIGITS.X_train), 0.02)
    assert np.mean(known > limit) > 0.9
    assert np.mean(unknown < limit) > 0.6
