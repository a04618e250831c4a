"""Weighted sums, the similarity loss and teachers: values by loops, gradients by differences."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from finite_differences import assert_slope
from refusals import refused_by
from sklearn.linear_model import LogisticRegression
from sklearn.neural_network import MLPClassifier
from sklearn.svm import SVC

from protonn_edge.extensions.research.kinds.basis_images.train.images import (
    BasisImages,
    EstimatorTeacher,
    NetworkTeacher,
    Parts,
    Teacher,
    similarity_loss,
)
from protonn_edge.features.convolution.train.layers import Rectifier
from protonn_edge.features.convolution.train.network import Network, layers_of
from protonn_edge.features.convolution.train.notation import read_layers
from protonn_edge.features.images.pixel_scale import PixelScale
from protonn_edge.kinds.dense.learner import DenseNetwork

SHAPE = (6, 5)


@pytest.mark.parametrize("grid", [(1, 1), (2, 2), (3, 1), (6, 5)])
def test_each_part_of_an_image_has_a_weight(grid: tuple[int, int]) -> None:
    rng = np.random.default_rng(1)
    A, Z = rng.normal(size=(3, 4 * grid[0] * grid[1])), rng.normal(size=(4, 30))
    parts = Parts.of_grid(SHAPE, grid)
    edges = [
        np.repeat(np.arange(count), [len(each) for each in np.array_split(np.arange(side), count)])
        for side, count in zip(SHAPE, grid, strict=True)
    ]
    expected = np.zeros((3, *SHAPE))
    for n, row, column in np.ndindex(expected.shape):
        part = edges[0][row] * grid[1] + edges[1][column]
        weights = A[n].reshape(4, -1)[:, part]
        expected[n, row, column] = weights @ Z.reshape(4, *SHAPE)[:, row, column]
    np.testing.assert_allclose(parts.sums(A, Z), expected.reshape(3, -1))
    slope = rng.normal(size=(3, 30))
    for array, of in zip((A, Z), parts.backward(A, Z, slope), strict=True):
        assert_slope(lambda: float((parts.sums(A, Z) * slope).sum()), array, of)


def test_more_parts_than_pixels_are_refused() -> None:
    with refused_by("extensions.research.kinds.basis_images.train.images"):
        Parts.of_grid(SHAPE, (7, 1))


def in_loops(A: np.ndarray, y: np.ndarray, margin: float) -> float:
    losses = []
    for i in range(len(A)):
        within = [np.linalg.norm(A[i] - A[j]) for j in range(len(A)) if y[j] == y[i]]
        others = [np.linalg.norm(A[i] - A[j]) for j in range(len(A)) if y[j] != y[i]]
        if len(within) > 1 and others:
            losses.append(abs(max(within) - min(others) - margin))
    return float(np.mean(losses)) if losses else 0.0


@pytest.mark.parametrize("y", [[0, 0, 0, 1, 1, 2, 1], [0, 1, 2, 3], [1, 1, 1]])
def test_similarity_is_equation_6(y: list[int]) -> None:
    labels, margin = np.array(y), np.array([0.4])
    A = np.random.default_rng(2).normal(size=(len(y), 5))
    loss, of_weights, of_margin = similarity_loss(A, labels, 0.4)
    assert loss == pytest.approx(in_loops(A, labels, 0.4))

    def value() -> float:
        return similarity_loss(A, labels, float(margin[0]))[0]

    assert_slope(value, A, of_weights)
    assert_slope(value, margin, np.array([of_margin]))


def test_weights_that_are_equal_have_a_similarity() -> None:
    loss, of_weights, _ = similarity_loss(np.zeros((4, 3)), np.array([0, 0, 1, 1]), 0.5)
    assert loss == 0.5
    assert not of_weights.any()


def test_what_is_limited_has_no_slope() -> None:
    x = np.array([-1.0, 0.5, 3.0])
    values, kept = Rectifier(2.0).forward(x)
    np.testing.assert_array_equal(values, [0, 0.5, 2])
    np.testing.assert_array_equal(Rectifier(2.0).backward(kept, np.ones(3))[0], [0, 1, 0])


def points(classes: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(3)
    return rng.integers(17, size=(90, 30)).astype(float), rng.permutation(np.arange(90) % classes)


def estimator(kind: str, classes: int) -> Any:
    X, y = points(classes)
    if kind == "linear":
        return LogisticRegression(max_iter=20).fit(X / 16, y)
    made = MLPClassifier((7, 5), activation=kind, max_iter=3, random_state=0, tol=1e9)
    return made.fit(X / 16, y)


ESTIMATORS = [("linear", 3), ("linear", 2), ("relu", 3), ("relu", 2), ("tanh", 3), ("logistic", 3)]


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize(("kind", "classes"), ESTIMATORS)
def test_teachers_of_scikit_learn_score_as_they_predict(kind: str, classes: int) -> None:
    given = estimator(kind, classes)
    teacher = EstimatorTeacher.of(given, SHAPE, PixelScale(1.0, -1 / 255))
    images = np.random.default_rng(4).random((20, 30))
    scores, kept = teacher.forward(images)
    assert scores.shape == (20, teacher.n_classes)
    likelihoods = np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)
    np.testing.assert_allclose(likelihoods, given.predict_proba(1 - images), atol=1e-5)
    assert_gradient(teacher, images, scores, kept)


def assert_gradient(teacher: Teacher, images: Any, scores: Any, kept: Any) -> None:
    slope = np.random.default_rng(5).normal(size=scores.shape)
    of_images = teacher.backward(kept, slope)
    assert_slope(lambda: float((teacher.forward(images)[0] * slope).sum()), images, of_images)


def network(text: str = "4x3,max2,3x1") -> Network:
    rng = np.random.default_rng(6)
    made = Network(layers_of(read_layers(text), rng), DenseNetwork.random((6, 3), rng, 1.0))
    for _ in range(5):  # moves the running moments
        made.gradient(rng.random((1, *SHAPE, 20)).astype(np.float32), np.eye(3)[[0, 1] * 10], None)
    return made


def test_networks_are_teachers() -> None:
    given = network()
    teacher = NetworkTeacher.of(given, SHAPE)
    assert teacher.n_parameters == 4 * 10 + 3 * 5 + 3 * 7
    images = np.random.default_rng(7).random((20, 30))
    scores, kept = teacher.forward(images)
    features = given.features(np.ascontiguousarray(images.T).reshape(1, *SHAPE, 20))
    np.testing.assert_allclose(scores, given.head.scores(features), atol=1e-5)
    assert_gradient(teacher, images, scores, kept)


@pytest.mark.parametrize("given", [SVC(), LogisticRegression().fit(np.eye(4), [0, 1, 0, 1])])
def test_what_has_no_gradient_is_no_teacher(given: Any) -> None:
    with refused_by("extensions.research.kinds.basis_images.train.images"):
        EstimatorTeacher.of(given, SHAPE, PixelScale(0.0, 1.0))


@pytest.mark.parametrize("learned", [True, False])
def test_basis_images_have_the_gradient_of_their_loss(*, learned: bool) -> None:
    rng = np.random.default_rng(8)
    head = BasisImages(
        NetworkTeacher.of(network(), SHAPE),
        rng.normal(size=(4, 30)),
        Parts.of_grid(SHAPE, (2, 1)),
        0.3,
        np.array([-0.5]),
        learned,
    )
    features, Y = rng.random((12, 8)) * 2, np.eye(3)[np.arange(12) % 3]
    weights = rng.random(12) * 2
    _, of_features, of_parameters = head.gradient(features, Y, weights)
    assert len(head.parameters) == 1 + learned
    arrays = [features, *head.parameters]
    for array, of in zip(arrays, [of_features, *of_parameters], strict=True):
        assert_slope(lambda: head.gradient(features, Y, weights)[0], array, of)
