"""The estimator of each kind: what all device classifiers share."""

from __future__ import annotations

import json
import warnings
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from kinds.kind import EVERY, KINDS, kind_of, kinds_of_any_features, pairs_of
from refusals import refused_by
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.estimator_checks import parametrize_with_checks

from protonn_edge.data.points.splits import load_digits_dataset
from protonn_edge.learn.base import DeviceClassifier
from protonn_edge.model.file import load_model
from protonn_edge.model.head import kind_title
from protonn_edge.model.quantization import quantize
from protonn_edge.policy.rejection.held_out import calibrate_rejection
from protonn_edge.system.errors import InputError

DIGITS = load_digits_dataset()
SOME = slice(0, 600)
X_SOME, Y_SOME = DIGITS.X_train[SOME], DIGITS.y_train[SOME]

every_kind = pytest.mark.parametrize("kind", EVERY)
every_other_kind = pytest.mark.parametrize("kind", KINDS)
every_kind_of_any_features = pytest.mark.parametrize("kind", ["protonn", *kinds_of_any_features()])


def new(kind: str, **settings: Any) -> DeviceClassifier:
    own = kind_of(kind)
    return own.classifier(random_state=0, **{**own.settings, **settings})


@cache
def fitted(kind: str) -> DeviceClassifier:
    """Return a classifier of a kind, trained on all digits."""
    return new(kind).fit(DIGITS.X_train, DIGITS.y_train)


@parametrize_with_checks(
    [kind_of(kind).classifier(**kind_of(kind).settings) for kind in kinds_of_any_features()]
)
def test_scikit_learns_conventions_hold(estimator: DeviceClassifier, check: Any) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        check(estimator)


@every_kind
def test_its_integers_are_as_accurate(kind: str) -> None:
    classifier = fitted(kind)
    integers = quantize(classifier.to_model())
    share = np.mean(integers.predict(integers.quantize(DIGITS.X_test)) == DIGITS.y_test)
    floats = classifier.score(DIGITS.X_test, DIGITS.y_test)
    assert floats > kind_of(kind).accuracy
    assert abs(share - floats) < 0.02


@every_kind
def test_the_same_seed_gives_the_same_model(kind: str) -> None:
    hashes = {quantize(new(kind).fit(X_SOME, Y_SOME).to_model()).model_sha256 for _ in range(2)}
    assert len(hashes) == 1


@every_kind
def test_classes_may_count_alike(kind: str) -> None:
    weak = kind_of(kind).weak
    found = [
        np.mean(new(kind, class_weight=each, **weak).fit(X_SOME, Y_SOME == 3).predict(X_SOME))
        for each in (None, "balanced")
    ]
    assert found[0] < found[1]


@every_kind
def test_there_are_reports_and_a_record(kind: str) -> None:
    reports: list[Any] = []
    own = kind_of(kind)
    settings = {**own.settings, **own.own_settings}
    classifier = new(kind, **settings, callback=reports.append)
    classifier.fit(X_SOME, Y_SOME, evaluate_on=(DIGITS.X_test, DIGITS.y_test))
    assert list(classifier.history_) == reports
    last = reports[-1]
    assert last.epoch == last.epochs == classifier.n_iter_ == len(reports)
    assert len(reports) == classifier.planned_epochs
    known = pytest.approx(classifier.score(X_SOME, Y_SOME), abs=own.accuracy_tolerance)
    assert last.accuracy == known
    assert last.test_accuracy == pytest.approx(classifier.score(DIGITS.X_test, DIGITS.y_test))
    record = classifier.to_model().record
    assert record["n_train"] == len(Y_SOME)
    recorded = {name: record["settings"][name] for name in settings}
    assert recorded == json.loads(json.dumps(settings))
    for name, expected in own.facts.items():
        assert expected(record[name]) if callable(expected) else record[name] == expected


@every_kind_of_any_features
@pytest.mark.parametrize(
    ("settings", "features"),
    [
        ({"image_shape": (8, 8), "features": "deskew,pool:4x4"}, 16),
        ({"image_shape": (8, 8), "features": "gradients:3x3"}, 72),
        ({"features": "mean,deviation,max", "window_shape": (8, 8)}, 24),
    ],
)
def test_the_stages_of_features_come_before_it(
    kind: str, settings: dict[str, Any], features: int
) -> None:
    classifier = new(kind, **settings).fit(X_SOME, Y_SOME)
    model = classifier.to_model()
    integers = quantize(model)
    assert (model.n_inputs, model.n_features) == (features, 64)
    assert (kind_of(kind).stage or kind) in [stage.kind for stage in integers.stages][1:-1]
    share = np.mean(integers.predict(integers.quantize(X_SOME)) == Y_SOME)
    assert abs(share - classifier.score(X_SOME, Y_SOME)) < 0.03


@every_other_kind
def test_it_rejects_by_score_and_margin(kind: str, tmp_path: Path) -> None:
    own = kind_of(kind)
    classifier = new(kind, **own.calibrated).fit(X_SOME, Y_SOME)
    calibrate_rejection(classifier, X_SOME, Y_SOME, rate=0.1, by=("score", "margin")).save(
        tmp_path / "model.npz"
    )
    unknown = classifier.predict(DIGITS.X_test, unknown=-1) == -1
    assert 0.02 < np.mean(unknown) < 0.4
    integers = quantize(load_model(tmp_path / "model.npz"))
    answers = integers.predict(integers.quantize(DIGITS.X_test))
    assert np.mean((answers == 255) == unknown) > 0.95
    title = kind_title(own.random_model().head.kind)
    with pytest.raises(InputError, match=f"statistic of a {title} model: 'distance', expected"):
        calibrate_rejection(classifier, X_SOME, Y_SOME, by=("distance",))


@every_other_kind
def test_sets_of_labels_are_refused(kind: str) -> None:
    with refused_by("learn.training_request"):
        new(kind).fit(X_SOME, np.eye(10, dtype=int)[Y_SOME])


@pytest.mark.parametrize(("kind", "number"), pairs_of("refused_settings"))
def test_what_it_cannot_do_is_refused(kind: str, number: int) -> None:
    settings, words = kind_of(kind).refused_settings[number]
    with pytest.raises(ValueError, match=words):
        new(kind, **settings).fit(X_SOME, Y_SOME)
