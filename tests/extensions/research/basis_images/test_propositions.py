"""What the paper's appendices say, on small convex teachers."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize

from protonn_edge.extensions.research.kinds.basis_images.train.images import (
    EstimatorTeacher,
    Parts,
)
from protonn_edge.features.images.pixel_scale import PixelScale
from protonn_edge.learn.objective import cross_entropy

SHAPE, CLASSES, MOST = (3, 3), 3, 6
WHOLE = Parts.of_grid(SHAPE, (1, 1))
RNG = np.random.default_rng(0)
W = RNG.normal(size=(CLASSES, 9))
TEACHER = EstimatorTeacher((W,), (RNG.normal(size=CLASSES),), "identity", SHAPE, PixelScale(0, 1))


def loss_and_gradient(theta: np.ndarray, label: int) -> tuple[float, np.ndarray]:
    """Return the cross-entropy of a linear teacher, which is convex, at an image (9,)."""
    scores, kept = TEACHER.forward(theta[None] / 255)
    loss, slope, _ = cross_entropy(scores, np.eye(CLASSES)[[label]], np.zeros(1), None)
    return loss, TEACHER.backward(kept, slope)[0] / 255


def largest_eigenvalue(theta: np.ndarray) -> float:
    """Return that of the loss's Hessian."""
    scores = TEACHER.forward(theta[None] / 255)[0][0]
    p = np.exp(scores - scores.max())
    p /= p.sum()
    return float(np.linalg.eigvalsh(W.T @ (np.diag(p) - np.outer(p, p)) @ W)[-1])


def best_sum(Z: np.ndarray, label: int) -> np.ndarray:
    """Return the sum of images Z (M, 9) with the weights, -1 to 1, at which the loss is least."""

    def of_weights(a: np.ndarray) -> tuple[float, np.ndarray]:
        loss, by_sum = loss_and_gradient(WHOLE.sums(a[None], Z)[0], label)
        return loss, WHOLE.backward(a[None], Z, by_sum[None])[0][0]

    found = minimize(of_weights, np.zeros(len(Z)), jac=True, bounds=[(-1, 1)] * len(Z))
    return WHOLE.sums(found.x[None], Z)[0]


@pytest.mark.parametrize("label", range(CLASSES))
@pytest.mark.parametrize("scale", [0.1, 1.0])
def test_another_image_changes_the_loss_within_proposition_a1(label: int, scale: float) -> None:
    images = np.random.default_rng(1).normal(size=(MOST, 9)) * scale
    sums = [np.zeros(9), *(best_sum(images[: M + 1], label) for M in range(MOST))]
    for before, after, z in zip(sums[:-1], sums[1:], images, strict=True):
        (loss, _), (least, gradient) = (loss_and_gradient(each, label) for each in (before, after))
        length = np.linalg.norm(z)
        bound = length * (np.linalg.norm(gradient) + largest_eigenvalue(before) * length / 2)
        assert least - loss <= bound
        assert least - loss <= 1e-7  # the weight of the last image may be 0
        assert largest_eigenvalue(after) >= -1e-9


@pytest.mark.parametrize("M", [1, 2, 5, 8])
def test_the_loss_of_a_linear_teacher_does_not_depend_on_the_number_of_images(M: int) -> None:
    rng = np.random.default_rng(2)
    X, y = rng.normal(size=(40, 8)), rng.normal(size=40)
    theta = np.linalg.lstsq(X, y, rcond=None)[0]
    towards = theta / np.linalg.norm(theta)
    others = rng.normal(size=(M - 1, 8))
    Z = np.vstack([towards, others - np.outer(others @ towards, towards)])
    np.testing.assert_allclose(Z.T @ Z @ theta, theta)  # equation 63
    sums = Parts.of_grid((2, 4), (1, 1)).sums(X @ Z.T, Z)
    np.testing.assert_allclose(sums @ theta, X @ theta)  # equation 64
    slope = X.T @ (sums @ theta - y)  # equation 58, without the factor theta
    np.testing.assert_allclose(slope, 0, atol=1e-12)
