"""The estimator: scikit-learn's conventions, determinism, constraints, and how good it is."""

from __future__ import annotations

import doctest
import json
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import sklearn
from extension_parts import additions
from sklearn.datasets import load_breast_cancer, load_digits
from sklearn.exceptions import NotFittedError
from sklearn.utils.estimator_checks import (
    check_class_weight_classifiers,
    parametrize_with_checks,
)
from trainings import DIGITS, LOSSES, OPTIMIZERS, protonn
from trainings import fit as fitted

import protonn_edge
from protonn_edge.kinds.protonn.train import classifier as module
from protonn_edge.kinds.protonn.train.classifier import ProtoNNClassifier
from protonn_edge.learn.progress import EpochReport
from protonn_edge.learn.sparsity import kept_entries
from protonn_edge.model.file import model_bytes


@parametrize_with_checks(
    [
        ProtoNNClassifier(epochs=30),
        *(
            protonn(**{**settings, "iterations": 5, "loss": "squared_error"})
            for settings in additions("optimizers").values()
        ),
    ]
)
def test_scikit_learns_conventions_hold(estimator: ProtoNNClassifier, check: Any) -> None:
    if check.func is check_class_weight_classifiers:  # it wants a class all but forgotten
        estimator.set_params(epochs=100)
    check(estimator)


def test_the_example_in_the_documentation_works() -> None:
    failed, tried = doctest.testmod(module)
    assert tried > 0
    assert failed == 0


def test_digits_are_learned_by_a_small_model() -> None:
    accuracies = [
        ProtoNNClassifier(n_projections=8, n_prototypes=30, epochs=100, random_state=seed)
        .fit(DIGITS.X_train, DIGITS.y_train)
        .score(DIGITS.X_test, DIGITS.y_test)
        for seed in range(3)
    ]
    assert min(accuracies) > 0.94


@pytest.mark.parametrize("loss", LOSSES)
def test_the_same_seed_gives_the_same_bytes(loss: str) -> None:
    first, again = (fitted(**LOSSES[loss]).to_model() for _ in range(2))
    assert model_bytes(first) == model_bytes(again)
    assert model_bytes(fitted(**LOSSES[loss], random_state=1).to_model()) != model_bytes(first)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("shares", [(0.3, 0.8, 0.5), (0.1, 1.0, 0.25)])
def test_shares_of_non_zero_entries_are_kept_exactly(
    loss: str, shares: tuple[float, float, float]
) -> None:
    model = fitted(
        **LOSSES[loss],
        sparsity_projection=shares[0],
        sparsity_prototypes=shares[1],
        sparsity_labels=shares[2],
    ).to_model()
    for matrix, share in zip(
        (model.head.projection, model.head.prototypes, model.head.labels), shares, strict=True
    ):
        assert np.count_nonzero(matrix) == kept_entries(matrix.size, share)


def test_the_model_answers_as_the_estimator_does() -> None:
    classifier = fitted()
    model = classifier.to_model(classes=DIGITS.classes, feature_names=DIGITS.feature_names)
    assert model.classes == DIGITS.classes
    assert model.feature_names == DIGITS.feature_names
    assert np.array_equal(classifier.decision_function(DIGITS.X_test), model.scores(DIGITS.X_test))
    assert np.array_equal(
        classifier.predict(DIGITS.X_test), classifier.classes_[model.predict(DIGITS.X_test)]
    )


def test_labels_of_any_type_come_back() -> None:
    names = np.array(["zero", "one"])
    few = DIGITS.y_train < 2
    classifier = ProtoNNClassifier(epochs=5, random_state=0)
    classifier.fit(DIGITS.X_train[few], names[DIGITS.y_train[few]])
    assert set(classifier.predict(DIGITS.X_train[few])) == {"zero", "one"}
    assert classifier.to_model().classes == ("one", "zero")
    assert classifier.decision_function(DIGITS.X_train[:3]).shape == (3,)


def test_there_are_four_prototypes_per_class_by_default() -> None:
    assert fitted(n_prototypes=None).to_model().head.n_prototypes == 40


def test_there_are_no_more_projections_than_features() -> None:
    classifier = ProtoNNClassifier(n_projections=10, epochs=2, random_state=0)
    classifier.fit(DIGITS.X_train[:, 20:24], DIGITS.y_train)
    assert classifier.to_model().head.n_projections == 4


def test_the_record_says_how_the_model_came_about() -> None:
    seen: list[EpochReport] = []
    classifier = fitted(epochs=3, sparsity_projection=np.float64(0.5), callback=seen.append)
    record = classifier.to_model().record
    assert json.loads(json.dumps(record)) == record
    assert record["settings"]["epochs"] == 3
    assert record["settings"]["sparsity_projection"] == 0.5
    assert record["n_train"] == len(DIGITS.y_train)
    assert len(record["history"]["objective"]) == len(seen) == classifier.n_iter_ == 3
    assert record["versions"] == {
        "protonn-edge": protonn_edge.__version__,
        "numpy": np.__version__,
        "scikit-learn": sklearn.__version__,
    }
    assert record["seed"] == fitted(epochs=1).to_model().record["seed"]
    assert len(record["data_sha256"]) == 64
    others = {"callback", "network_callback", "random_state"}
    assert set(record["settings"]) == set(classifier.get_params()) - others
    assert {"callback", "random_state"}.isdisjoint(record["settings"])


@pytest.mark.parametrize("optimizer", OPTIMIZERS)
def test_points_to_evaluate_on_are_reported_and_change_nothing(optimizer: str) -> None:
    settings = {"epochs": 3, **OPTIMIZERS[optimizer]}
    classifier = protonn(random_state=0, **settings)
    classifier.fit(DIGITS.X_train, DIGITS.y_train, evaluate_on=(DIGITS.X_test, DIGITS.y_test))
    reported = classifier.history_[-1].test_accuracy
    assert reported == pytest.approx(classifier.score(DIGITS.X_test, DIGITS.y_test), abs=0.01)
    alone = protonn(random_state=0, **settings).fit(DIGITS.X_train, DIGITS.y_train)
    assert alone.history_[-1].test_accuracy is None
    assert model_bytes(alone.to_model()) == model_bytes(classifier.to_model())


def test_an_array_as_the_start_is_in_the_record_by_its_digest() -> None:
    given = np.eye(3, 64)
    records = [
        fitted(epochs=1, init_projection=start).to_model().record["settings"]["init_projection"]
        for start in (given, given.tolist())
    ]
    assert records[0].startswith("array (3, 64) ")
    assert records[0] == records[1]


@pytest.mark.parametrize("use", [lambda it: it.to_model(), lambda it: it.measure([[0.0]], [0])])
def test_a_model_before_training_is_refused(use: Callable[[ProtoNNClassifier], object]) -> None:
    with pytest.raises(NotFittedError):
        use(ProtoNNClassifier())


@pytest.mark.parametrize(
    ("load", "settings", "floor"),
    [
        (load_digits, {"n_projections": 16, "n_prototypes": 40, "epochs": 40}, 0.96),
        (load_breast_cancer, {"n_projections": 5, "n_prototypes": 10, "epochs": 20}, 0.92),
        *((load_digits, *known) for known in additions("learned digits").values()),
    ],
)
def test_real_data_is_learned(
    load: Callable[..., Any], settings: dict[str, Any], floor: float
) -> None:
    X, y = load(return_X_y=True)
    classifier = protonn(random_state=0, **settings).fit(X[::2], y[::2])
    assert classifier.score(X[1::2], y[1::2]) > floor
