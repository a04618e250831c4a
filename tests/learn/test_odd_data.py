"""Trainings of odd data, and what they leave."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import extension_parts
import numpy as np
import pytest
from command_line import run
from policy.value.numbers import REGRESSORS
from refusals import refused_by
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.exceptions import NotFittedError

from protonn_edge.cli.trained import unlearned
from protonn_edge.data.naming import NO_CLASS
from protonn_edge.data.points.dataset import Dataset
from protonn_edge.kinds.protonn.train.classifier import ProtoNNClassifier
from protonn_edge.learn.base import CLASSIFIERS
from protonn_edge.model.quantization import quantize
from protonn_edge.policy.rejection.held_out import calibrate_rejection
from protonn_edge.system.errors import InputError

# Copies of points keep what their labels are: those of points with numbers had sets of labels.


@pytest.mark.parametrize("kind", ["protonn", "linear", "dense"])
def test_numbers_are_learned_from_copies_of_windows(kind: str) -> None:
    rng = np.random.default_rng(0)
    level = rng.uniform(-5, 5, 200)
    windows = (level[:, None] + rng.normal(0, 0.1, (200, 16))).astype(np.float32)
    asked = {"features": "mean,deviation", "window_shape": (16, 1), "copies": 1}
    regressor = clone(REGRESSORS[kind]).set_params(**asked).fit(windows[:150], 7 + 3 * level[:150])
    assert regressor.score(windows[150:], 7 + 3 * level[150:]) > 0.8


# Training wrote a model that it then refused, because its prototypes are too far apart.


def test_a_refused_model_is_not_written(tmp_path: Path) -> None:
    X = np.random.default_rng(0).normal(size=(30, 2))
    np.savez(tmp_path / "data.npz", X=X, y=np.array(list("abc" * 10)))
    model = tmp_path / "model.npz"
    done = run("train", tmp_path / "data.npz", "--epochs", 2, "--gamma", "10", "-o", model)
    assert done.exit_code == 2
    assert "RBF widths, but the integer model covers only 31" in done.stderr
    assert not model.exists()


# Points and weights that training refuses, and what estimators are afterwards.

X, SPECIES = load_iris(return_X_y=True)
CONSTANT = np.ones_like(X)


@pytest.mark.parametrize("kind", [kind for name, kind in CLASSIFIERS.items() if "-i" not in name])
def test_after_a_refused_fit_an_estimator_is_not_fitted(kind: Any) -> None:
    estimator = kind()
    with pytest.raises(InputError, match="every feature is constant"):
        estimator.fit(CONSTANT, SPECIES)
    for use in (estimator.predict, estimator.predict_proba, lambda _: estimator.to_model()):
        with pytest.raises(NotFittedError):
            use(X)


def test_weights_of_points_are_of_similar_size() -> None:
    with refused_by("learn.given_points"):
        ProtoNNClassifier().fit(X, SPECIES, np.where(SPECIES > 0, 1.0, 1e-60))
    usual = ProtoNNClassifier(epochs=2, random_state=0).fit(X, SPECIES).predict(X)
    tiny = ProtoNNClassifier(epochs=2, random_state=0).fit(
        X, SPECIES, np.full(len(SPECIES), 1e-300)
    )
    np.testing.assert_array_equal(tiny.predict(X), usual)


def test_labels_of_training_points_are_as_many_as_the_points() -> None:
    estimator = ProtoNNClassifier(epochs=1, random_state=0).fit(X, SPECIES)
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        calibrate_rejection(estimator, X, SPECIES[:10], rate=0.1)


# The defaults suit small tables: prototypes spread no further than integers cover.

GENERATOR = np.random.default_rng(1)
NOISE = GENERATOR.normal(0, 1, 300)
TABLES = {
    "temperatures": 21 + NOISE,
    "uniform": GENERATOR.random(300),
    "few whole numbers": np.rint(2 * NOISE),
    "steps": 100 * np.rint(NOISE) + GENERATOR.normal(0, 1e-3, 300),
    "two values": (NOISE > 0).astype(float),
    "far outliers": np.where(np.arange(300) % 100 == 3, 1e4, NOISE),
}


@extension_parts.needs("one_class")
@pytest.mark.parametrize("table", TABLES)
def test_one_class_of_one_feature_has_integers(table: str) -> None:
    X = TABLES[table][:, None].astype(np.float32)
    from protonn_edge.extensions.one_class.kinds.one_class.train.classifier import (
        OneClassProtoNNClassifier,
    )

    classifier = OneClassProtoNNClassifier(one_class=True, random_state=0).fit(X)
    calibrate_rejection(classifier, X, np.zeros(len(X)), rate=0.05, by=["distance"])
    integers = quantize(classifier.to_model())
    rejected = integers.predict(integers.quantize(X)) == NO_CLASS
    assert rejected.mean() < 0.2


@extension_parts.needs("one_class")
def test_temperatures_unlike_the_usual_ones_are_unknown() -> None:
    X = TABLES["temperatures"][:, None].astype(np.float32)
    from protonn_edge.extensions.one_class.kinds.one_class.train.classifier import (
        OneClassProtoNNClassifier,
    )

    classifier = OneClassProtoNNClassifier(one_class=True, random_state=0).fit(X)
    calibrate_rejection(classifier, X, np.zeros(len(X)), rate=0.05, by=["distance"])
    integers = quantize(classifier.to_model())
    strange = np.array([[14.0], [16.0], [26.0], [28.0]], np.float32)
    assert (integers.predict(integers.quantize(strange)) == NO_CLASS).all()


@pytest.mark.parametrize("table", TABLES)
@pytest.mark.parametrize("n", [10, 300])
def test_two_classes_of_one_feature_have_integers(table: str, n: int) -> None:
    X = TABLES[table][:n, None].astype(np.float32)
    classifier = ProtoNNClassifier(epochs=10, random_state=0).fit(X, np.arange(n) % 2)
    quantize(classifier.to_model())


# Models that learned nothing, or not all classes: training ended well, without a word.


def data_set(y_train: np.ndarray, y_test: np.ndarray, classes: int) -> Dataset:
    X_train, X_test = (np.zeros((len(y), 1), np.float32) for y in (y_train, y_test))
    return Dataset(X_train, y_train, X_test, y_test, tuple("abcdefgh"[:classes]))


Y = np.arange(100) % 4 // 3  # every fourth point is a "b"
EMPTY = np.empty(0, np.int64)
RIGHT = np.concatenate([Y[:50], 1 - Y[50:]])  # a half of all


@pytest.mark.parametrize(
    ("answers", "kinds"),
    [
        (Y, []),
        (np.where(np.arange(100) < 20, 0, Y), []),  # 95 %, by 20 points more than "a"
        (1 - Y, ["chance"]),
        (RIGHT, ["chance"]),
        (np.where(np.arange(100) < 92, 0, Y), ["chance"]),  # 77 %, two points more
        (np.zeros(100, np.int64), ["chance", "never_answered"]),
        (np.full(100, 255), ["chance", "never_answered"]),  # unknown
    ],
)
def test_what_is_no_better_than_one_answer_is_called_that(
    answers: np.ndarray, kinds: list[str]
) -> None:
    assert [each.kind for each in unlearned(data_set(Y, EMPTY, 2), answers, EMPTY)] == kinds
    tested = unlearned(data_set(Y, Y, 2), Y, answers)
    assert [each.kind for each in tested] == [kind for kind in kinds if kind == "chance"]


def test_the_share_of_one_answer_is_that_of_the_tested_points() -> None:
    (notice,) = unlearned(data_set(1 - Y, Y, 2), 1 - Y, np.where(np.arange(100) < 80, 0, 1 - Y))
    assert (
        "test points are classified correctly, which is not clearly better than always answering "
        "'a' (75.00 %)" in str(notice)
    )


def test_points_of_one_class_are_not_judged_by_it() -> None:
    assert unlearned(data_set(Y, np.zeros(9, np.int64), 2), Y, np.zeros(9, np.int64)) == []
