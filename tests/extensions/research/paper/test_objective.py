"""The objective by the formula, its gradient by finite differences, and what it learns."""

from __future__ import annotations

import numpy as np
import pytest
from finite_differences import assert_slope
from scipy.special import expit

from protonn_edge.extensions.research.kinds.paper.train.classifier import (
    PaperProtoNNClassifier,
)
from protonn_edge.extensions.research.kinds.paper.train.losses import LOSSES
from protonn_edge.learn.objective import (
    Loss,
    Parameters,
    objective,
    objective_gradient,
    rbf_values,
    scores_of,
)
from protonn_edge.policy.label_sets.rule import LABEL_RARITY
from protonn_edge.policy.label_sets.train import label_cross_entropy

EVERY_LOSS = {**LOSSES, "label_cross_entropy": label_cross_entropy}


def problem(seed: int = 0, n: int = 7, d: int = 3, D: int = 5, m: int = 4, L: int = 3) -> tuple:
    """Return parameters, points and targets in float64, with RBFs that do not vanish."""
    rng = np.random.default_rng(seed)
    parameters = Parameters(
        0.3 * rng.normal(size=(d, D)),
        0.5 * rng.normal(size=(d, m)),
        rng.normal(size=(L, m)),
        np.array([0.7]),
    )
    return parameters, rng.normal(size=(n, D)), np.eye(L)[rng.integers(L, size=n)]


def test_rbf_is_the_exponential_of_the_squared_distance() -> None:
    parameters, X, _ = problem()
    P = X @ parameters.projection.T
    distances = ((P[:, :, None] - parameters.prototypes[None]) ** 2).sum(axis=1)
    np.testing.assert_allclose(rbf_values(parameters, P), np.exp(-distances), rtol=1e-12)


def test_squared_error_is_the_papers() -> None:
    parameters, X, Y = problem()
    expected = np.mean(
        [np.sum((y - s) ** 2) for y, s in zip(Y, scores_of(parameters, X), strict=True)]
    )
    assert objective(parameters, X, Y, LOSSES["squared_error"]) == pytest.approx(expected)


def test_cross_entropy_is_that_of_a_softmax() -> None:
    parameters, X, Y = problem()
    logits = scores_of(parameters, X) * np.exp(0.7)
    likelihoods = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
    expected = -np.log(likelihoods[Y == 1]).mean()
    assert objective(parameters, X, Y, LOSSES["cross_entropy"]) == pytest.approx(expected)


def test_hinge_is_zero_where_every_score_is_on_its_side() -> None:
    Y = np.array([[1.0, 0.0, 1.0]])
    value, slope, _ = LOSSES["hinge"](np.array([[1.0, 0.0, 3.0]]), Y, np.zeros(1), None)
    assert value == 0.0
    assert not slope.any()
    value, slope, _ = LOSSES["hinge"](np.array([[0.5, 0.25, 1.0]]), Y, np.zeros(1), None)
    assert value == pytest.approx(1.0 + 0.5)
    np.testing.assert_array_equal(slope, [[-2.0, 2.0, 0.0]])


def test_loss_of_label_sets_is_the_cross_entropy_and_the_brier_score_of_each_label() -> None:
    parameters, X, _ = problem()
    Y = label_sets(len(X))
    likelihoods = expit(scores_of(parameters, X) * np.exp(0.7) - LABEL_RARITY)
    entropies = -np.log(np.where(Y == 1, likelihoods, 1 - likelihoods))
    expected = (entropies + 4 * (likelihoods - Y) ** 2).sum(axis=1).mean()
    assert objective(parameters, X, Y, label_cross_entropy) == pytest.approx(expected)


@pytest.mark.parametrize("loss", EVERY_LOSS.values(), ids=EVERY_LOSS)
def test_losses_of_huge_scores_are_finite(loss: Loss) -> None:
    scores = np.array([[1e6, -1e6]], dtype=np.float32)
    for Y in (np.array([[1, 0]], dtype=np.float32), np.array([[0, 1]], dtype=np.float32)):
        value, slope, by_sharpness = loss(scores, Y, np.zeros(1, dtype=np.float32), None)
        assert np.isfinite(value)
        assert np.isfinite(slope).all()
        assert np.isfinite(by_sharpness).all()


@pytest.mark.parametrize("loss", EVERY_LOSS.values())
def test_weights_are_repetitions(loss: Loss) -> None:
    parameters, X, Y = problem()
    twice, weights = np.r_[0, 0, 1:7], np.array([2.0, 1, 1, 1, 1, 1, 1])
    value, gradient = objective_gradient(parameters, X, Y, loss, weights * 7 / 8)
    again, repeated = objective_gradient(parameters, X[twice], Y[twice], loss)
    assert value == pytest.approx(again)
    for matrix, expected in zip(gradient, repeated, strict=True):
        np.testing.assert_allclose(matrix, expected, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("loss", EVERY_LOSS.values(), ids=EVERY_LOSS)
@pytest.mark.parametrize("seed", [0, 1])
def test_gradient_equals_finite_differences(loss: Loss, seed: int) -> None:
    parameters, X, Y = problem(seed)
    of_one_class = loss is LOSSES["cross_entropy"]  # as a softmax is
    for targets in (Y,) if of_one_class else (Y, label_sets(len(X))):
        value, gradient = objective_gradient(parameters, X, targets, loss)
        assert value == pytest.approx(objective(parameters, X, targets, loss))
        for matrix, slope in zip(parameters, gradient, strict=True):
            assert_slope(lambda to=targets: objective(parameters, X, to, loss), matrix, slope)


def label_sets(n: int) -> np.ndarray:
    """Return n rows of none to three labels out of three."""
    return (np.random.default_rng(1).random((n, 3)) < 0.5).astype(float)


def test_single_precision_stays_single() -> None:
    parameters, X, Y = problem()
    single = Parameters(*(matrix.astype(np.float32) for matrix in parameters))
    for loss in EVERY_LOSS.values():
        _, gradient = objective_gradient(single, X.astype(np.float32), Y.astype(np.float32), loss)
        assert all(matrix.dtype == np.float32 for matrix in gradient)


@pytest.mark.parametrize("optimizer", ["joint", "alternating"])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_hinge_learns_classes(optimizer: str, n_classes: int) -> None:
    generator = np.random.default_rng(0)
    y = generator.integers(n_classes, size=300)
    points = generator.normal(size=(300, 4)) + 3.0 * np.eye(4)[y]
    classifier = PaperProtoNNClassifier(
        loss="hinge", optimizer=optimizer, epochs=30, iterations=3, n_projections=3, random_state=0
    ).fit(points[:200], y[:200])
    assert classifier.score(points[200:], y[200:]) > 0.8
    likelihoods = classifier.predict_proba(points)
    np.testing.assert_allclose(likelihoods.sum(axis=1), 1.0)
