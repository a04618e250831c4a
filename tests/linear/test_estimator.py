"""The trainer: scikit-learn's own regression, and all that device classifiers share."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.utils.estimator_checks import parametrize_with_checks

from protonn_edge.datasets import load_digits_dataset
from protonn_edge.errors import InputError
from protonn_edge.model import load_model
from protonn_edge.quantization import quantize
from protonn_edge.training.linear import LinearClassifier, _l1_penalty

DIGITS = load_digits_dataset()
TWO = DIGITS.y_train >= 5


def fitted(**settings: Any) -> LinearClassifier:
    return LinearClassifier(random_state=0, **settings).fit(DIGITS.X_train, DIGITS.y_train)


@parametrize_with_checks([LinearClassifier()])
def test_scikit_learns_conventions_hold(estimator: LinearClassifier, check: Any) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        check(estimator)


@pytest.mark.parametrize(
    ("y", "solver"), [(DIGITS.y_train, "saga"), (TWO, "liblinear"), (TWO, "saga")]
)
def test_it_finds_what_scikit_learn_finds(y: np.ndarray, solver: str) -> None:
    settings = {"regularization": 3e-3, "solver": solver, "tolerance": 1e-4}
    classifier = LinearClassifier(random_state=0, max_iterations=3_000, **settings)
    model = classifier.fit(DIGITS.X_train, y).to_model()
    own = LogisticRegression(
        **_l1_penalty(),
        C=1 / (3e-3 * len(y)),
        solver=solver,
        max_iter=3_000,
        tol=1e-4,
        random_state=0,
    ).fit(model.normalized(DIGITS.X_train), y)
    np.testing.assert_allclose(model.weights, own.coef_, atol=0.03)
    shares = own.predict_proba(model.normalized(DIGITS.X_test))
    np.testing.assert_allclose(classifier.predict_proba(DIGITS.X_test), shares, atol=0.03)
    assert model.record["trainer"] == solver


def test_a_larger_regularization_leaves_weights_out() -> None:
    shares = [np.mean(fitted(regularization=each).model_.weights != 0) for each in (1e-4, 1e-2)]
    assert shares[0] > 0.6
    assert shares[1] < 0.25


def test_its_integers_are_as_accurate() -> None:
    classifier = fitted()
    integers = quantize(classifier.to_model())
    share = np.mean(integers.predict(integers.quantize(DIGITS.X_test)) == DIGITS.y_test)
    assert abs(share - classifier.score(DIGITS.X_test, DIGITS.y_test)) < 0.01


def test_a_weight_of_two_is_a_point_given_twice() -> None:
    X, y = DIGITS.X_train[:300], DIGITS.y_train[:300]
    weights = np.where(np.arange(300) < 100, 2, 1)
    settings = {"random_state": 0, "tolerance": 1e-5, "max_iterations": 5_000}
    one = LinearClassifier(regularization=1e-2, **settings).fit(X, y, sample_weight=weights)
    two = LinearClassifier(regularization=1e-2, **settings).fit(
        np.concatenate([X, X[:100]]), np.concatenate([y, y[:100]])
    )
    np.testing.assert_allclose(one.model_.weights, two.model_.weights, atol=1e-3)


def test_classes_may_count_alike() -> None:
    X, y = DIGITS.X_train, DIGITS.y_train == 3
    found = [
        np.mean(LinearClassifier(class_weight=each, regularization=1e-2).fit(X, y).predict(X))
        for each in (None, "balanced")
    ]
    assert found[0] < found[1]


def test_sparse_points_stay_sparse_and_give_the_same() -> None:
    settings = {"normalization": "none", "random_state": 0, "regularization": 1e-2}
    dense = LinearClassifier(**settings).fit(DIGITS.X_train, TWO)
    sparse = LinearClassifier(**settings).fit(csr_array(DIGITS.X_train), TWO)
    np.testing.assert_allclose(sparse.model_.weights, dense.model_.weights, atol=1e-4)
    assert (sparse.predict(csr_array(DIGITS.X_test)) == dense.predict(DIGITS.X_test)).all()


def test_there_is_one_report_and_a_record() -> None:
    reports: list[Any] = []
    classifier = LinearClassifier(random_state=0, callback=reports.append)
    classifier.fit(DIGITS.X_train, DIGITS.y_train, evaluate_on=(DIGITS.X_test, DIGITS.y_test))
    (report,) = classifier.history_
    assert reports == [report]
    assert (report.epoch, report.epochs, classifier.n_iter_) == (1, 1, 1)
    assert report.accuracy == classifier.score(DIGITS.X_train, DIGITS.y_train)
    assert report.test_accuracy == pytest.approx(classifier.score(DIGITS.X_test, DIGITS.y_test))
    record = classifier.to_model().record
    assert record["settings"]["regularization"] == 1e-4
    assert record["settings"]["solver"] == "auto"
    assert 1 <= record["passes"] < 500
    assert record["n_train"] == len(DIGITS.y_train)


def test_that_it_has_not_converged_is_remarked() -> None:
    with pytest.warns(ConvergenceWarning, match="not converged after 2 passes"):
        classifier = fitted(max_iterations=2)
    assert classifier.to_model().record["remarks"] == list(classifier.remarks_)


@pytest.mark.parametrize(
    ("settings", "features"),
    [
        ({"image_shape": (8, 8), "reduced_shape": (4, 4)}, 16),
        ({"image_shape": (8, 8), "reduced_shape": (4, 4), "deskew": True}, 16),
        ({"features": "mean,deviation,max", "window_shape": (8, 8)}, 24),
    ],
)
def test_the_stages_of_features_come_before_it(settings: dict[str, Any], features: int) -> None:
    model = fitted(**settings).to_model()
    assert (model.n_inputs, model.n_features) == (features, 64)
    kinds = [stage.kind for stage in quantize(model).stages]
    assert len(kinds) >= 3
    assert kinds[-2:] == ["linear", "decision"]


def test_it_rejects_by_score_and_margin(tmp_path: Path) -> None:
    classifier = fitted(regularization=1e-3)
    classifier.calibrate_rejection(
        DIGITS.X_train, DIGITS.y_train, rate=0.1, by=("score", "margin")
    ).save(tmp_path / "model.npz")
    unknown = classifier.predict(DIGITS.X_test, unknown=-1) == -1
    assert 0.02 < np.mean(unknown) < 0.25
    integers = quantize(load_model(tmp_path / "model.npz"))
    answers = integers.predict(integers.quantize(DIGITS.X_test))
    assert np.mean((answers == 255) == unknown) > 0.98
    with pytest.raises(InputError, match="a linear model has no distance to reject points by"):
        classifier.calibrate_rejection(DIGITS.X_train, DIGITS.y_train, by=("distance",))


@pytest.mark.parametrize(
    ("settings", "y", "words"),
    [
        ({}, np.eye(10, dtype=int)[DIGITS.y_train], "sets of labels, but a linear classifier"),
        ({"solver": "liblinear"}, DIGITS.y_train, "tells two classes apart, but there are 10"),
        ({"regularization": 0.0}, DIGITS.y_train, "'regularization' parameter of LinearClas"),
        ({"solver": "sag"}, DIGITS.y_train, "'solver' parameter of LinearClassifier"),
    ],
)
def test_what_it_cannot_do_is_refused(settings: dict[str, Any], y: Any, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        LinearClassifier(**settings).fit(DIGITS.X_train, y)
