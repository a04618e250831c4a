"""Basis images that are learned on scikit-learn's digits."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from refusals import refused_by
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression

from protonn_edge.extensions.research.kinds.basis_images.train.classifier import (
    TaughtStudent,
    WantedImages,
    learned_student,
    learned_teacher,
    student_layouts,
)
from protonn_edge.extensions.research.kinds.basis_images.train.images import (
    EstimatorTeacher,
    NetworkTeacher,
)
from protonn_edge.features.convolution.train.learning import NetworkSpec, Schedule
from protonn_edge.features.convolution.train.notation import read_layers
from protonn_edge.features.convolution.train.rounding import Bits
from protonn_edge.features.images.pixel_scale import PixelScale

N = 1200
PIXELS = PixelScale(0.0, 16 / 255)
STUDENT = NetworkSpec(
    (8, 8), None, PIXELS, read_layers("6x3,8x3,max2"), Bits(8, 8), Schedule(14, moved_share=0.5)
)
WANTED = WantedImages(STUDENT, 16, similarity=0.1)

Points = tuple[np.ndarray, np.ndarray]


@pytest.fixture(scope="module")
def digits() -> Points:
    data = load_digits()
    return data.data.astype(np.float32), data.target.astype(np.int64)


@pytest.fixture(scope="module")
def teacher(digits: Points) -> NetworkTeacher:
    wanted = replace(STUDENT, layouts=read_layers("8x3,12x3,max2"), schedule=Schedule(5))
    return learned_teacher(wanted, digits[0][:N], digits[1][:N], None, seed=0)


@pytest.fixture(scope="module")
def student(digits: Points, teacher: NetworkTeacher) -> TaughtStudent:
    return learned_student(WANTED, teacher, digits[0][:N], digits[1][:N], None, seed=0)


def test_the_teacher_is_right_about_the_sums(
    digits: Points, teacher: NetworkTeacher, student: TaughtStudent
) -> None:
    X, y = digits
    images = STUDENT.to_bytes(X[N:]).astype(np.float32) / np.float32(255)
    scores, _ = teacher.forward(images.reshape(len(images), -1))
    of_images = np.mean(scores.argmax(axis=1) == y[N:])
    of_sums = np.mean(student.predict(X[N:]) == y[N:])
    assert of_images > 0.85
    assert of_sums > of_images - 0.08
    assert student.sums(X[N:]).shape == (len(X) - N, 64)


def test_the_weights_tell_digits_apart(digits: Points, student: TaughtStudent) -> None:
    X, y = digits
    weights = student.weights(X)
    extension = LogisticRegression(max_iter=1000).fit(weights[:N], y[:N])
    assert extension.score(weights[N:], y[N:]) > 0.85


def test_the_device_has_the_weights_as_bytes_from_end_to_end(
    digits: Points, student: TaughtStudent
) -> None:
    X, _ = digits
    x = STUDENT.to_bytes(X).reshape(len(X), -1)
    for stage in student.layers:
        x = stage.run(x)
    weights = student.weights(X)
    np.testing.assert_allclose(weights, x / 127.5 - 1, atol=1e-5)
    assert np.abs(weights).max() <= 1 + 1e-6
    assert (x.min(), x.max()) == (0, 255)
    assert 0.2 < weights.std() < 0.9


def test_images_of_noise_stay_as_they_are(digits: Points, teacher: NetworkTeacher) -> None:
    X, y = digits
    still, moving = (
        learned_student(
            replace(WANTED, learned=learned, student=replace(STUDENT, schedule=Schedule(2))),
            teacher,
            X[:300],
            y[:300],
            None,
            seed=0,
        ).head.images
        for learned in (False, True)
    )
    generator = np.random.default_rng([0, 1])
    noise = generator.standard_normal((16, 64), dtype=np.float32) / np.float32(4)
    np.testing.assert_allclose(still, noise, rtol=1e-6)
    assert np.abs(moving - noise).max() > 0.01


def test_an_estimator_teaches_parts_of_images(digits: Points) -> None:
    X, y = digits
    estimator = LogisticRegression(max_iter=300).fit(X[:N], y[:N])
    teacher = EstimatorTeacher.of(estimator, (8, 8), PIXELS)
    short = replace(STUDENT, schedule=Schedule(6, moved_share=0.0))
    wanted = replace(WANTED, student=short, count=4, grid=(2, 2), similarity=0.0)
    found = learned_student(wanted, teacher, X[:N], y[:N], None, seed=0)
    assert found.weights(X[:5]).shape == (5, 16)
    assert np.mean(found.predict(X[N:]) == y[N:]) > 0.7


@pytest.mark.parametrize(
    ("layers", "last"),
    [
        ("4x3", "5x5, of averages"),
        ("4x3,max2", "12x3"),
        ("4x3,max2,4x3", "12x1"),
        ("4x5", "average,12x1"),
        ("4x1", "average,12x1"),
    ],
)
def test_the_last_layer_sees_all_that_is_left(layers: str, last: str) -> None:
    shape = (7, 7, 1) if "5x5" in last else (8, 8, 1)
    expected = "12x5" if "5x5" in last else last
    found = student_layouts(read_layers(layers), shape, 12)
    assert ",".join(map(str, found)) == f"{layers},{expected}"


def test_more_weights_than_a_layer_has_are_refused(digits: Points, teacher: NetworkTeacher) -> None:
    wanted = replace(WANTED, count=65, grid=(2, 1))
    with refused_by("extensions.research.kinds.basis_images.train.classifier"):
        learned_student(wanted, teacher, *digits, None, seed=0)


def test_a_teacher_of_other_classes_is_refused(digits: Points, teacher: NetworkTeacher) -> None:
    X, y = digits
    with refused_by("extensions.research.kinds.basis_images.train.classifier"):
        learned_student(WANTED, teacher, X[:90], y[:90] % 3, None, seed=0)
