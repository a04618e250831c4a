"""Rejection from Python: held-out statistics, thresholds, and the label of what is unknown."""

from __future__ import annotations

import numpy as np
import pytest
from model_factory import random_model
from refusals import refused_by

from protonn_edge.data.naming import NO_CLASS
from protonn_edge.data.points.splits import load_digits_dataset
from protonn_edge.kinds.linear.head import LinearHead
from protonn_edge.kinds.protonn.train.classifier import ProtoNNClassifier
from protonn_edge.policy.rejection import calibration
from protonn_edge.policy.rejection.calibration import statistics_of
from protonn_edge.policy.rejection.held_out import calibrate_rejection, held_out_statistics


def classifier(**settings: object) -> ProtoNNClassifier:
    given = {"n_projections": 8, "n_prototypes": 30, "epochs": 10, "random_state": 0} | settings
    return ProtoNNClassifier(**given)


@pytest.fixture(scope="module")
def calibrated() -> ProtoNNClassifier:
    digits = load_digits_dataset()
    fitted = classifier().fit(digits.X_train[:900], digits.y_train[:900])
    return calibrate_rejection(fitted, digits.X_train[900:], rate=0.05)


def test_every_point_is_held_out_once() -> None:
    digits = load_digits_dataset()
    told = []
    fitted = classifier(epochs=2).fit(digits.X_train, digits.y_train)
    known = held_out_statistics(
        classifier(epochs=2),
        digits.X_train,
        digits.y_train,
        fitted.to_model(),
        folds=3,
        on_fold=lambda *numbers: told.append(numbers),
    )
    assert len(known) == len(digits.y_train)
    assert told == [(1, 3), (2, 3), (3, 3)]
    seen = statistics_of(fitted.to_model(), digits.X_train)
    assert np.quantile(known.margin, 0.05) < np.quantile(seen.margin, 0.05)


def test_points_of_a_group_are_held_out_together(monkeypatch: pytest.MonkeyPatch) -> None:
    digits = load_digits_dataset()
    X, y, writers = digits.X_train[:300], digits.y_train[:300], np.arange(300) % 3
    fitted = classifier(epochs=2).fit(X, y).to_model()
    trained_on: list[set[int]] = []
    fit = ProtoNNClassifier.fit

    def noted(one: ProtoNNClassifier, *points: object, groups: np.ndarray) -> ProtoNNClassifier:
        trained_on.append(set(groups.tolist()))
        return fit(one, *points, groups=groups)

    monkeypatch.setattr(ProtoNNClassifier, "fit", noted)
    known = held_out_statistics(classifier(epochs=2), X, y, fitted, groups=writers)
    assert len(known) == 300
    assert sorted(map(sorted, trained_on)) == [[0, 1], [0, 2], [1, 2]]


def test_a_class_of_one_point_cannot_be_held_out() -> None:
    X = np.random.default_rng(0).random((9, 3), dtype=np.float32)
    with refused_by("learn.folds"):
        held_out_statistics(classifier(), X, np.array([0] * 8 + [1]), random_model(features=3))


def test_unknown_points_get_the_label_that_was_asked_for(calibrated: ProtoNNClassifier) -> None:
    digits = load_digits_dataset()
    X = np.concatenate([digits.X_test, 16 - digits.X_test])
    found = calibrated.predict(X, unknown=-1)
    rejected = found == -1
    assert np.array_equal(rejected, calibrated.model_.predict(X) == NO_CLASS)
    assert rejected[450:].mean() > 0.9
    assert 0 < rejected[:450].mean() < 0.2
    plain = calibrated.predict(X)
    assert -1 not in plain
    assert np.array_equal(found[~rejected], plain[~rejected])


def test_labels_of_text_may_be_unknown_by_text_or_none_at_all() -> None:
    digits = load_digits_dataset()
    names = np.array([f"digit {label}" for label in digits.y_train])
    fitted = classifier().fit(digits.X_train, names)
    calibrate_rejection(fitted, digits.X_train, rate=0.1)
    negatives = 16 - digits.X_test
    assert "not a digit" in fitted.predict(negatives, unknown="not a digit")
    assert -1 in fitted.predict(negatives, unknown=-1).tolist()


def test_what_cannot_be_asked_for_is_refused(calibrated: ProtoNNClassifier) -> None:
    digits = load_digits_dataset()
    with refused_by("learn.base"):
        calibrated.predict(digits.X_test, unknown=3)
    fitted = classifier(epochs=1).fit(digits.X_train[:200], digits.y_train[:200])
    with refused_by("learn.base"):
        fitted.predict(digits.X_test, unknown=-1)
    with refused_by("policy.rejection.calibration"):
        calibrate_rejection(fitted, digits.X_train[:20], rate=0.01)


def test_what_a_kind_of_model_does_not_have_is_refused_at_once(
    calibrated: ProtoNNClassifier, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(calibration, "NearestHead", LinearHead)
    X, y = np.zeros((3, 64)), np.zeros(3)
    with refused_by("policy.rejection.calibration"):
        calibrate_rejection(calibrated, X, y, rate=0.5, by=("score", "distance"))
