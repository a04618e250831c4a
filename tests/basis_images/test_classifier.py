"""Basis images as a classifier: in Python, on the command line, and on the device."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from avr_tools import needs_emulated_avr
from command_line import assert_one_sentence, run, run_json
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression

from protonn_edge.datasets import load_digits_dataset
from protonn_edge.errors import InputError
from protonn_edge.model import load_model
from protonn_edge.quantization import quantize
from protonn_edge.training.basis_images.classifier import BasisImagesClassifier

DIGITS = load_digits_dataset()
X, Y = DIGITS.X_train[:600], DIGITS.y_train[:600]
SETTINGS: dict[str, Any] = {
    "image_shape": (8, 8),
    "convolutions": "6x3,max2",
    "teacher_epochs": 4,
    "basis_images": 8,
    "network_epochs": 5,
    "network_moved_share": 0.0,
    "epochs": 20,
}
OPTIONS = {
    "--image-shape": "8x8",
    "--convolutions": "5x3,max2",
    "--teacher": "9x3,max2",
    "--teacher-epochs": "3",
    "--basis-images": "4",
    "--image-parts": "2x1",
    "--similarity": "0.2",
    "--network-epochs": "4",
    "--hidden": "12",
    "--epochs": "15",
}


def new(**settings: Any) -> BasisImagesClassifier:
    return BasisImagesClassifier(**{"random_state": 0, **SETTINGS, **settings})


@pytest.fixture(scope="module")
def fitted() -> BasisImagesClassifier:
    return new().fit(X, Y)


def test_the_model_is_a_student_and_its_extension(fitted: BasisImagesClassifier) -> None:
    model = fitted.to_model()
    assert model.kind == "dense"
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


def test_the_same_seed_gives_the_same_model() -> None:
    brief = {"epochs": 2, "network_epochs": 2, "teacher_epochs": 1}
    first, again, other = (
        quantize(new(random_state=seed, **brief).fit(X[:100], Y[:100]).to_model()).model_sha256
        for seed in (0, 0, 1)
    )
    assert first == again != other


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
    assert found.to_model().record["teacher_parameters"] == 650
    assert found.taught_.head.teacher.shape == (8, 8)


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"convolutions": None}, "basis images have a student, but its layers are not given"),
        ({"image_shape": None}, "the shape of the image is not given"),
        ({"image_parts": (5, 5)}, "basis images have 200 weights, a layer gives at most 128"),
        ({"image_parts": (0, 1)}, "the parts of an image are .0, 1.; they must be"),
        ({"basis_images": 129}, "'basis_images' parameter of BasisImagesClassifier"),
        ({"teacher": "8x4"}, "a layer of convolutions is '8x4'"),
        ({"teacher": object()}, "the teacher is a object; it must be a fitted MLPClassifier"),
        ({"reduced_shape": (4, 4)}, "convolutions are to be learned, but"),
    ],
)
def test_what_cannot_be_trained_is_refused(settings: dict[str, Any], words: str) -> None:
    with pytest.raises((InputError, ValueError), match=words):
        new(**settings).fit(X[:50], Y[:50])


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path, dict[str, Any]]:
    """Return data, a model of it and what training said, from the command line."""
    folder = tmp_path_factory.mktemp("basis_images")
    data, model = folder / "digits.npz", folder / "model.npz"
    test = {"X_test": DIGITS.X_test[:40], "y_test": DIGITS.y_test[:40]}
    np.savez(data, X_train=X, y_train=Y, **test)
    options = [text for option in OPTIONS.items() for text in option]
    said = run_json("train", data, "-o", model, "--classifier", "basis-images", *options)
    return data, model, said


def test_options_are_settings(trained: tuple[Path, Path, dict[str, Any]]) -> None:
    _, path, said = trained
    assert said["accuracy"] > 0.6
    settings = load_model(path).record["settings"]
    assert settings["image_parts"] == [2, 1]
    own = {"teacher": "9x3,max2", "teacher_epochs": 3, "basis_images": 4, "similarity": 0.2}
    assert {name: settings[name] for name in own} == own


@needs_emulated_avr
def test_every_execution_agrees(trained: tuple[Path, Path, dict[str, Any]], tmp_path: Path) -> None:
    data, path, _ = trained
    record = run_json("verify", path, data)
    assert [each["mismatches"] for each in record["executions"]] == [0, 0]


def test_a_student_without_layers_is_one_sentence(
    trained: tuple[Path, Path, dict[str, Any]], tmp_path: Path
) -> None:
    options = ("--classifier", "basis-images", "--image-shape", "8x8")
    done = run("train", trained[0], "-o", tmp_path / "model.npz", *options)
    assert_one_sentence(done, "its layers are not given; say them with --convolutions")
