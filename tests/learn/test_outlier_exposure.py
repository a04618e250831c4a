"""Outlier exposure: made-up points of no class, and what a model learns from them."""

from __future__ import annotations

import numpy as np
import pytest
from trainings import DIGITS, LOSSES, fit

from protonn_edge.learn.augmentation import make_exposure_points
from protonn_edge.learn.objective import EXPOSURE_LOGIT, cross_entropy, cross_entropy_or_none


def images(n: int = 50, shape: tuple[int, int] = (8, 8)) -> np.ndarray:
    return np.random.default_rng(0).random((n, shape[0] * shape[1])).astype(np.float32)


@pytest.mark.parametrize("shape", [(8, 8), (7, 10), (1, 64), (3, 3), (1, 1)])
def test_pieces_change_places_and_no_pixel_is_lost(shape: tuple[int, int]) -> None:
    X = images(50, shape)
    made = make_exposure_points(X, shape, 21, np.random.default_rng(1))
    assert made.shape == (21, X.shape[1])
    sorted_points = {tuple(row) for row in np.sort(X, axis=1).tolist()}
    assert all(tuple(row) in sorted_points for row in np.sort(made, axis=1).tolist())
    if shape[0] * shape[1] >= 4:
        points = {row.tobytes() for row in X}
        assert not any(row.tobytes() in points for row in made)


def test_features_without_an_order_come_from_different_points() -> None:
    X = images(50)
    made = make_exposure_points(X, None, 200, np.random.default_rng(1))
    assert all(np.isin(column, of).all() for column, of in zip(made.T, X.T, strict=True))
    points = {row.tobytes() for row in X}
    assert not any(row.tobytes() in points for row in made)


def loss_problem() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    Y = np.eye(3)[rng.integers(3, size=12)]
    Y[8:] = 0
    return 3 * rng.normal(size=(12, 3)), Y, np.array([0.3])


def test_none_of_the_classes_is_one_more_class_of_a_fixed_logit() -> None:
    scores, Y, sharpness = loss_problem()
    with_none = np.column_stack([scores, np.full(12, EXPOSURE_LOGIT / np.exp(0.3))])
    targets = np.column_stack([Y, 1 - Y.sum(axis=1)])
    value, slope, _ = cross_entropy_or_none(scores, Y, sharpness, None)
    expected, expected_slope, _ = cross_entropy(with_none, targets, sharpness, None)
    assert value == pytest.approx(expected)
    np.testing.assert_allclose(slope, expected_slope[:, :3], atol=1e-12)


@pytest.mark.parametrize("weights", [None, np.linspace(0.5, 1.5, 12)])
def test_its_derivatives_are_those_of_finite_differences(weights: np.ndarray | None) -> None:
    scores, Y, sharpness = loss_problem()
    _, by_scores, by_sharpness = cross_entropy_or_none(scores, Y, sharpness, weights)
    step = 1e-6
    for i, label in [(0, 0), (3, 2), (9, 1), (11, 0)]:
        moved = [scores.copy(), scores.copy()]
        moved[0][i, label] -= step
        moved[1][i, label] += step
        low, high = (cross_entropy_or_none(s, Y, sharpness, weights)[0] for s in moved)
        assert (high - low) / (2 * step) == pytest.approx(by_scores[i, label], abs=1e-6)
    low, high = (cross_entropy_or_none(scores, Y, sharpness + d, weights)[0] for d in (-step, step))
    assert (high - low) / (2 * step) == pytest.approx(by_sharpness[0], abs=1e-6)


def test_it_is_finite_for_huge_scores() -> None:
    scores = np.array([[1e4, -1e4], [-1e4, 1e4], [1e4, 1e4]], dtype=np.float32)
    Y = np.array([[1, 0], [1, 0], [0, 0]], dtype=np.float32)
    value, slope, _ = cross_entropy_or_none(scores, Y, np.zeros(1, np.float32), None)
    assert np.isfinite(value)
    assert np.isfinite(slope).all()


@pytest.mark.parametrize("loss", LOSSES)
def test_classes_stay_low_where_there_is_outlier_exposure(loss: str) -> None:
    noise = np.random.default_rng(0).uniform(0, 16, (300, 64)).astype(np.float32)
    shares = []
    for strangers in (0.0, 0.5):
        exposed = {"strangers": strangers, "image_shape": (8, 8)}
        classifier = fit(epochs=15, **LOSSES[loss], **exposed)
        assert classifier.model_.n_classes == 10
        assert classifier.model_.head.labels.shape == (10, 30)
        assert classifier.score(DIGITS.X_test, DIGITS.y_test) > 0.9
        assert classifier.history_[-1].accuracy > 0.9
        known = classifier.decision_function(DIGITS.X_test).max(axis=1)
        strange = classifier.decision_function(noise).max(axis=1)
        shares.append(np.mean(strange < np.quantile(known, 0.05)))
    assert shares[1] > 0.95
    assert shares[1] >= shares[0]
