"""What the paper proves about a mixture of two Gaussians holds for this implementation.

Setting of its section 5: ``x ~ N(mu_+, I) / 2 + N(mu_-, I) / 2``, W = I, Z = I, gamma^2 = 1/2, one
prototype a class, the squared error.
"""

from __future__ import annotations

import numpy as np
import pytest

from protonn_edge.extensions.research.kinds.paper.train.losses import squared_error
from protonn_edge.learn.objective import Parameters, objective_gradient

GAMMA = np.sqrt(0.5)


def mixture(mu: np.ndarray, n: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Return points (n, d) and targets (n, 2) of means mu (2, d), half of each."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 2
    return mu[y] + rng.normal(size=(n, mu.shape[1])), np.eye(2)[y]


def gradient_of_prototypes(b: np.ndarray, X: np.ndarray, Y: np.ndarray) -> np.ndarray:
    """Return the implementation's derivatives (2, d) with respect to prototypes b (2, d)."""
    d = b.shape[1]
    folded = Parameters(GAMMA * np.eye(d), GAMMA * b.T, np.eye(2), np.zeros(1))
    return GAMMA * objective_gradient(folded, X, Y, squared_error)[1].prototypes.T


def corollary_1(b: np.ndarray, mu_own: np.ndarray, mu_other: np.ndarray) -> np.ndarray:
    """Return the expected derivative with respect to the prototype b (d,) of a class."""
    d = len(b)
    own, other = b - mu_own, b - mu_other
    return (
        0.5 ** (d / 2 + 1) * own * np.exp(-own @ own / 4)
        - (1 / 3) ** (d / 2 + 1) * own * np.exp(-own @ own / 3)
        - (1 / 3) ** (d / 2 + 1) * other * np.exp(-other @ other / 3)
    )


@pytest.mark.parametrize("d", [1, 2, 5])
@pytest.mark.parametrize("apart", [1.0, 3.0])
def test_the_gradient_is_that_of_corollary_1_in_the_limit(d: int, apart: float) -> None:
    mu = np.zeros((2, d))
    mu[0, 0] = apart
    b = mu + np.linspace(-0.8, 0.7, 2 * d).reshape(2, d)
    expected = np.stack([corollary_1(b[0], mu[0], mu[1]), corollary_1(b[1], mu[1], mu[0])])
    parts = np.stack([gradient_of_prototypes(b, *mixture(mu, 20_000, seed)) for seed in range(20)])
    error = parts.std(axis=0, ddof=1) / np.sqrt(len(parts))
    # 400,000 points: five standard errors, each below 2 % of the gradient.
    assert np.all(np.abs(parts.mean(axis=0) - expected) < 5 * error)
    assert np.linalg.norm(error) < 0.02 * np.linalg.norm(expected)


def descent(mu: np.ndarray, b: np.ndarray, rate: float, steps: int) -> np.ndarray:
    """Return the distances (steps + 1, 2) of the prototypes from the means, step by step."""
    X, Y = mixture(mu, 200_000)
    distances = [np.linalg.norm(b - mu, axis=1)]
    for _ in range(steps):
        b = b - rate * gradient_of_prototypes(b, X, Y)
        distances.append(np.linalg.norm(b - mu, axis=1))
    return np.array(distances)


def test_prototypes_converge_geometrically_as_theorem_1_says() -> None:
    d, separation, delta = 8, 10.0, 0.9
    alpha = delta + d / (8 * separation**2)  # the largest that the theorem allows
    mu = np.zeros((2, d))
    mu[0, 0] = separation
    away = np.zeros((2, d))
    away[:, 1], away[:, 2] = 0.8, -0.6
    assert np.all(away @ (mu[0] - mu[1]) >= -(1 - delta) / 2 * separation**2)
    distances = descent(mu, mu + away, rate=10.0, steps=12)
    bound = 1 - 0.01 * np.exp(-alpha * separation**2 / 4)
    assert np.all(distances[1:] ** 2 <= bound * distances[:-1] ** 2)
    ratios = distances[1:] / distances[:-1]
    factors = np.exp(np.polyfit(np.arange(13), np.log(distances), 1)[0])
    assert np.all(factors < 0.8)
    assert np.all(np.abs(ratios - factors) < 0.1)  # steady: the same ratio from step to step
    assert np.all(distances[-1] < 0.05 * distances[0])


def test_the_contraction_near_the_mean_is_that_of_corollary_1() -> None:
    d, rate = 8, 10.0
    mu = np.zeros((2, d))
    mu[0, 0] = 10.0
    away = np.full((2, d), 0.5 / np.sqrt(d))
    distances = descent(mu, mu + away, rate, steps=1)
    steepness = np.linalg.norm(corollary_1(mu[0] + away[0], mu[0], mu[1])) / 0.5
    assert distances[1] / distances[0] == pytest.approx(1 - rate * steepness, abs=0.03)


def test_prototypes_that_begin_nearer_to_the_other_mean_do_not_find_their_own() -> None:
    mu = np.zeros((2, 4))
    mu[0, 0] = 10.0
    distances = descent(mu, mu[::-1].copy(), rate=5.0, steps=10)
    assert np.all(distances[-1] > 0.99 * distances[0])
