"""What cannot be trained on is one sentence that names the value and what to do about it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from refusals import refused_by
from sklearn.exceptions import ConvergenceWarning, NotFittedError

from protonn_edge.data.splits import load_digits_dataset
from protonn_edge.kinds.protonn.train.classifier import ProtoNNClassifier

DIGITS = load_digits_dataset()
X, Y = DIGITS.X_train[:300], DIGITS.y_train[:300]


def fit(points: Any = X, labels: Any = Y, **settings: Any) -> ProtoNNClassifier:
    chosen = {"epochs": 2, "random_state": 0} | settings
    return ProtoNNClassifier(**chosen).fit(points, labels)


def refused(words: str, *data: Any, **settings: Any) -> None:
    with pytest.raises(ValueError, match=words) as caught:
        fit(*data, **settings)
    assert "\n" not in str(caught.value)


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
    refused(f"row 11 of X {words}.*drop the point", points)
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


def test_some_constant_features_are_fine_and_all_of_them_are_not() -> None:
    refused("every feature is constant \\(feature 0 is always 3\\)", np.full_like(X, 3.0))
    points = np.full_like(X, 3.0)
    points[:, 5] = X[:, 20]
    model = fit(points).to_model()
    assert np.flatnonzero(model.head.projection.any(axis=0)).tolist() == [5]


def test_more_prototypes_than_points_are_refused() -> None:
    refused("number of prototypes is 301, but the training data has 300 points", n_prototypes=301)
    refused("number of prototypes is 310", n_prototypes=310)
    assert fit(X[:12], Y[:12]).to_model().head.n_prototypes == 4 * len(np.unique(Y[:12]))


def test_labels_that_are_no_classes_are_refused() -> None:
    refused("only one class", X, np.zeros(300))
    refused("continuous", X, np.linspace(0.0, 1.0, 300))
    refused("NaN", X, np.where(Y == 3, np.nan, Y))
    refused("samples", X, Y[:-1])


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
