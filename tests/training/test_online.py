"""Calls of partial_fit: the contract, what lasts between them, and what comes out."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from protonn_edge.chain.file import model_bytes
from protonn_edge.datasets import load_digits_dataset
from protonn_edge.errors import InputError
from protonn_edge.kinds.protonn.train.classifier import ProtoNNClassifier
from protonn_edge.quantization import quantize
from protonn_edge.training.progress import EpochReport

DIGITS = load_digits_dataset()
CLASSES = np.arange(10)


def classifier(**settings: Any) -> ProtoNNClassifier:
    chosen = {"n_projections": 8, "n_prototypes": 30, "random_state": 0} | settings
    return ProtoNNClassifier(**chosen)


def parts(count: int = 4) -> list[tuple[np.ndarray, np.ndarray]]:
    order = np.random.default_rng(0).permutation(len(DIGITS.y_train))
    return [(DIGITS.X_train[rows], DIGITS.y_train[rows]) for rows in np.array_split(order, count)]


def gone_through(estimator: ProtoNNClassifier, rounds: int = 10) -> ProtoNNClassifier:
    for _ in range(rounds):
        for X, y in parts():
            estimator.partial_fit(X, y, classes=CLASSES)
    return estimator


@pytest.mark.parametrize("loss", ["cross_entropy", "squared_error"])
def test_call_after_call_the_digits_are_learned(loss: str) -> None:
    trained = gone_through(classifier(loss=loss))
    assert trained.score(DIGITS.X_test, DIGITS.y_test) > 0.9
    assert trained.n_iter_ == 40
    assert trained.to_model().record["n_train"] == 10 * len(DIGITS.y_train)
    integers = quantize(trained.to_model())
    right = integers.predict(integers.quantize(DIGITS.X_test)) == DIGITS.y_test
    assert right.mean() > 0.9


def test_the_first_call_needs_all_classes() -> None:
    with pytest.raises(InputError, match="needs all class labels, including those of later calls"):
        classifier().partial_fit(DIGITS.X_train, DIGITS.y_train)
    with pytest.raises(InputError, match="only one class"):
        classifier().partial_fit(DIGITS.X_train[:5], [1] * 5, classes=[1])


def test_classes_may_come_later() -> None:
    few = DIGITS.y_train < 5
    estimator = classifier(batch_size=32)
    estimator.partial_fit(DIGITS.X_train[few], DIGITS.y_train[few], classes=CLASSES)
    assert set(estimator.predict(DIGITS.X_test)) <= set(range(5))
    assert estimator.to_model().n_classes == 10
    gone_through(estimator)
    assert estimator.score(DIGITS.X_test, DIGITS.y_test) > 0.9


def test_labels_and_classes_must_stay_what_they_were() -> None:
    estimator = classifier().partial_fit(DIGITS.X_train, DIGITS.y_train, classes=CLASSES)
    with pytest.raises(InputError, match="has the label '77'"):
        estimator.partial_fit(DIGITS.X_train[:3], [1, 2, 77])
    with pytest.raises(InputError, match="differ from those of earlier calls"):
        estimator.partial_fit(DIGITS.X_train[:3], [1, 2, 3], classes=[1, 2, 3])
    with pytest.raises(ValueError, match="features"):
        estimator.partial_fit(DIGITS.X_train[:3, :5], [1, 2, 3])


def test_adams_moments_last_from_call_to_call() -> None:
    (X, y), again = parts(2)
    one, other = (classifier().partial_fit(X, y, classes=CLASSES) for _ in range(2))
    assert model_bytes(one.to_model()) == model_bytes(other.to_model())
    copied = pickle.loads(pickle.dumps(one))
    for estimator in (one, copied):
        estimator.partial_fit(*again)
    assert model_bytes(one.to_model()) == model_bytes(copied.to_model())
    restarted = classifier().partial_fit(*again, classes=CLASSES)
    assert model_bytes(one.to_model()) != model_bytes(restarted.to_model())


def test_statistics_are_those_of_all_calls() -> None:
    estimator = classifier()
    for X, y in parts():
        estimator.partial_fit(X, y, classes=CLASSES)
    inputs = estimator.to_model().inputs
    assert np.array_equal(inputs.upper, DIGITS.X_train.max(axis=0))
    np.testing.assert_allclose(inputs.mean, DIGITS.X_train.mean(axis=0, dtype=float), atol=1e-9)


def test_training_goes_on_from_fit() -> None:
    estimator = classifier(epochs=60).fit(DIGITS.X_train, DIGITS.y_train)
    before = estimator.score(DIGITS.X_test, DIGITS.y_test)
    normalizer = estimator.model_.normalizer
    for X, y in parts():
        estimator.partial_fit(X, y)
    assert estimator.score(DIGITS.X_test, DIGITS.y_test) > before - 0.03
    assert estimator.model_.normalizer is normalizer
    assert estimator.to_model().record["n_train"] == 2 * len(DIGITS.y_train)


def test_fit_begins_anew() -> None:
    estimator = gone_through(classifier(epochs=3), rounds=1).fit(DIGITS.X_train, DIGITS.y_train)
    fresh = classifier(epochs=3).fit(DIGITS.X_train, DIGITS.y_train)
    assert model_bytes(estimator.to_model()) == model_bytes(fresh.to_model())


def test_shares_and_budgets_hold_after_every_call() -> None:
    estimator = classifier(n_prototypes=None, budget=900, sparsity_projection=0.3)
    for X, y in parts():
        model = estimator.partial_fit(X, y, classes=CLASSES).to_model()
        assert quantize(model).model_bytes <= 900
        assert np.count_nonzero(model.head.projection) <= 0.3 * model.head.projection.size


def test_points_of_weight_0_count_for_nothing() -> None:
    X, y = parts()[0]
    weights = np.where(y == 3, 0.0, 1.0)
    moved = np.where((y == 3)[:, None], 1_000.0, X)
    weighted = classifier().partial_fit(moved, y, classes=CLASSES, sample_weight=weights)
    assert weighted.to_model().inputs.upper.max() == 16.0


def test_the_callback_sees_every_call() -> None:
    seen: list[EpochReport] = []
    estimator = gone_through(classifier(callback=seen.append), rounds=1)
    assert [report.epoch for report in seen] == [1, 2, 3, 4]
    assert estimator.history_ == tuple(seen)


def test_a_call_that_diverges_is_begun_again_and_told() -> None:
    (X, y), *_ = parts()
    estimator = classifier(learning_rate=10.0).partial_fit(X, y, classes=CLASSES)
    with pytest.warns(ConvergenceWarning, match="diverged at the learning rate"):
        estimator.partial_fit(X, y)
    assert estimator.history_[-1].accuracy > 0.2
    assert estimator.to_model().record["restarts"] == [str(each) for each in estimator.restarts_]


def test_a_call_that_always_diverges_is_refused_in_one_sentence() -> None:
    (X, y), *_ = parts()
    with pytest.raises(InputError, match="partial_fit diverges.*smaller learning rate") as caught:
        classifier(learning_rate=1e9).partial_fit(X, y, classes=CLASSES)
    assert "\n" not in str(caught.value)


def test_what_needs_all_points_at_once_is_refused() -> None:
    assert not hasattr(classifier(optimizer="alternating"), "partial_fit")
    with pytest.raises(InputError, match="augment"):
        classifier(augment=True, image_shape=(8, 8)).partial_fit(
            DIGITS.X_train, DIGITS.y_train, classes=CLASSES
        )


def test_a_long_history_is_thinned_in_the_record_and_ends_at_its_end() -> None:
    X, y = DIGITS.X_train[:40, 20:24], DIGITS.y_train[:40]
    estimator = classifier(epochs=5_001, n_prototypes=4, batch_size=64, quantization_aware=False)
    estimator.fit(X, y)
    recorded = estimator.to_model().record["history"]["objective"]
    assert len(recorded) <= 5_000
    assert recorded[-1] == round(estimator.history_[-1].objective, 6)


def test_images_that_come_in_parts_are_pooled() -> None:
    estimator = gone_through(
        classifier(image_shape=(8, 8), features="pool:4x4", budget=600, n_prototypes=None)
    )
    model = estimator.to_model()
    assert model.n_inputs == 16
    assert quantize(model).model_bytes <= 600
    assert model.inputs.upper.max() == DIGITS.X_train.max()
    assert estimator.score(DIGITS.X_test, DIGITS.y_test) > 0.8
