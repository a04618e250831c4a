"""What cannot be trained on is one sentence that names the value and what to do about it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from refusals import refused_by
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from trainings import DIGITS

from protonn_edge.kinds.protonn.train.classifier import ProtoNNClassifier

X, Y = DIGITS.X_train[:300], DIGITS.y_train[:300]


def fit(points: Any = X, labels: Any = Y, **settings: Any) -> ProtoNNClassifier:
    chosen = {"epochs": 2, "random_state": 0} | settings
    return ProtoNNClassifier(**chosen).fit(points, labels)


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (np.nan, "has NaN in feature 7"),
        (np.inf, "has a value that is infinite"),
        (-np.inf, "has a value that is infinite"),
    ],
)
def test_a_value_that_is_no_number_is_found(value: float, words: str) -> None:
    points = X.copy()
    points[11, 7] = value
    with pytest.raises(ValueError, match=f"row 11 of X {words}.*drop the point"):
        fit(points)
    with refused_by("learn.points", naming="row 11 of evaluate_on"):
        ProtoNNClassifier(epochs=1).fit(X, Y, evaluate_on=(points, Y))


def test_after_a_stopped_training_the_old_model_does_not_answer_with_new_classes() -> None:
    def stop(_: object) -> None:
        raise KeyboardInterrupt

    classifier = fit()
    classifier.set_params(callback=stop)
    with pytest.raises(KeyboardInterrupt):
        classifier.fit(X[Y < 3], Y[Y < 3])
    with pytest.raises(NotFittedError):
        classifier.predict(X)


def test_large_values_whose_sum_overflows_are_fine() -> None:
    check = X.astype(np.float64)
    check[:, 0] = np.where(Y % 2 == 0, 1e37, -1e37)
    assert fit(check).n_iter_ == 2


def test_a_restart_is_told_and_recorded() -> None:
    with pytest.warns(ConvergenceWarning, match="diverged at the learning rate"):
        classifier = fit(learning_rate=2.0, epochs=10)
    first = classifier.restarts_[0]
    assert first.learning_rate == 2.0
    assert first.lowered_to == pytest.approx(2.0 / 3.0)
    assert "reach" in first.reason or "finite" in first.reason
    record = classifier.to_model().record
    assert record["restarts"] == [str(restart) for restart in classifier.restarts_]
    assert record["learning_rate"] == classifier.restarts_[-1].lowered_to
