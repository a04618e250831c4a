"""Basis images as a classifier: what it learns, and what it refuses."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from command_line import assert_one_sentence, run, run_json
from refusals import refused_by
from sklearn.base import clone
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression

from protonn_edge.data.points.splits import load_digits_dataset
from protonn_edge.extensions.research.kinds.basis_images.train.classifier import (
    BasisImagesClassifier,
)
from protonn_edge.kinds.protonn.train.classifier import ProtoNNClassifier
from protonn_edge.learn.progress import EpochReport
from protonn_edge.model.file import load_model
from protonn_edge.model.quantization import quantize
from protonn_edge.model.stored import digest
from protonn_edge.system.errors import InputError

DIGITS = load_digits_dataset()
X, Y = DIGITS.X_train[:600], DIGITS.y_train[:600]
SETTINGS: dict[str, Any] = {
    "image_shape": (8, 8),
    "features": "conv:6x3,max2",
    "teacher_epochs": 4,
    "basis_images": 8,
    "network_epochs": 5,
    "network_moved_share": 0.0,
    "epochs": 20,
}


def new(**settings: Any) -> BasisImagesClassifier:
    return BasisImagesClassifier(**{"random_state": 0, **SETTINGS, **settings})


@pytest.fixture(scope="module")
def fitted() -> BasisImagesClassifier:
    return new().fit(X, Y)


def test_the_model_is_a_student_and_its_extension(fitted: BasisImagesClassifier) -> None:
    model = fitted.to_model()
    assert model.head.kind == "dense"
    assert (model.n_features, model.n_inputs) == (64, 8)
    integers = quantize(model)
    kinds = [stage.kind for stage in integers.stages]
    assert kinds == ["convolution", "pooling", "convolution", *["dense"] * 2, "linear", "decision"]
    share = np.mean(integers.predict(integers.quantize(DIGITS.X_test)) == DIGITS.y_test)
    assert share > 0.75
    assert abs(share - fitted.score(DIGITS.X_test, DIGITS.y_test)) < 0.02


def test_the_teacher_is_wider_unless_it_is_given(fitted: BasisImagesClassifier) -> None:
    record = fitted.to_model().record
    assert record["trainer"] == "adam"
    assert record["teacher_parameters"] == 24 * 10 + 10 * (24 * 9 + 1)
    assert fitted.taught_.weights(X).shape == (600, 8)
    assert fitted.taught_.head.images.shape == (8, 64)


def test_another_extension_is_trained_for_a_student(fitted: BasisImagesClassifier) -> None:
    found = new(teacher=fitted.taught_, hidden="7", epochs=2).fit(X[:100], Y[:100])
    assert found.taught_ is fitted.taught_
    stages = [quantize(each.to_model()).stages for each in (fitted, found)]
    np.testing.assert_array_equal(stages[0][2].weights, stages[1][2].weights)
    assert len(stages[1]) == len(stages[0]) - 1


@pytest.mark.parametrize("given", ["estimator", "frozen", "object"])
def test_teachers_are_given(given: str) -> None:
    estimator = LogisticRegression(max_iter=200).fit(X, Y)
    teacher: Any = FrozenEstimator(estimator) if given == "frozen" else estimator
    brief = {"epochs": 2, "network_epochs": 2}
    if given == "object":
        teacher = new(teacher=estimator, **brief).fit(X[:100], Y[:100]).taught_.head.teacher
    found = new(teacher=teacher, **brief).fit(X[:100], Y[:100])
    record = found.to_model().record
    assert record["teacher_parameters"] == 650
    again = new(teacher=teacher, **brief).fit(X[:100], Y[:100]).to_model().record
    assert record["settings"]["teacher"] == again["settings"]["teacher"]
    assert found.taught_.head.teacher.shape == (8, 8)


def test_a_given_teacher_is_recorded_by_what_it_has_learned() -> None:
    teachers = [LogisticRegression(C=C, max_iter=200).fit(X, Y) for C in (1, 2)]
    brief = {"epochs": 1, "network_epochs": 1}
    names = [
        new(teacher=each, **brief).fit(X[:100], Y[:100]).to_model().record["settings"]["teacher"]
        for each in teachers
    ]
    assert [name.split()[0] for name in names] == ["LogisticRegression"] * 2
    assert names[0] != names[1]


def test_the_passes_of_teacher_and_student_are_reported() -> None:
    reports: list[EpochReport] = []
    brief = {"epochs": 1, "network_epochs": 2, "teacher_epochs": 1}
    new(network_callback=reports.append, **brief).fit(X[:100], Y[:100])
    told = [(each.network, each.epoch, each.epochs) for each in reports]
    assert told == [("teacher", 1, 1), ("student", 1, 2), ("student", 2, 2)]
    assert all(0 < each.objective < 10 for each in reports)


def test_prototypes_are_an_extension_too(fitted: BasisImagesClassifier) -> None:
    student = fitted.to_model().features
    sizes = {"n_projections": 6, "n_prototypes": 20, "epochs": 20}
    extension = ProtoNNClassifier(
        image_shape=(8, 8), features=student, random_state=0, **sizes
    ).fit(X, Y)
    model = extension.to_model()
    assert (model.head.kind, model.n_inputs) == ("protonn", 8)
    assert model.record["settings"]["features"] == f"Features {digest(student)}"
    integers = quantize(model)
    assert np.mean(integers.predict(integers.quantize(DIGITS.X_test)) == DIGITS.y_test) > 0.75
    with pytest.raises(InputError, match="32 values, expected 64"):
        clone(extension).set_params(image_shape=(4, 8)).fit(X[:, :32], Y)


def test_the_layers_of_a_models_file_are_taken(
    fitted: BasisImagesClassifier, tmp_path: Path
) -> None:
    data, path = tmp_path / "digits.npz", tmp_path / "student.npz"
    fitted.save(path)
    np.savez(data, X_train=X, y_train=Y, X_test=X[:9], y_test=Y[:9])
    options = ("--image-shape", "8x8", "--epochs", "2", "--features")
    run_json("train", data, "-o", tmp_path / "model.npz", *options, path)
    stages = [load_model(each).features for each in (path, tmp_path / "model.npz")]
    assert stages[0] == stages[1]
    run_json("train", data, "-o", path, "--epochs", "2")
    refused = run("train", data, "-o", tmp_path / "model.npz", *options, path)
    assert_one_sentence(
        refused, "--features is student.npz, but this model computes no features; name a"
    )


def test_basis_images_are_no_windows() -> None:
    images = BasisImagesClassifier(features="conv:4x3", window_shape=(32, 3))
    with refused_by("learn.training_request"):
        images.fit(np.zeros((2, 96)), np.arange(2))
