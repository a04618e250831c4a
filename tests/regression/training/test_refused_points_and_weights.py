"""Points and weights that training refuses, and what estimators are afterwards.

A refused call of `partial_fit` used to leave its points in the ranges of the features, so that the
model had no integers any more, and weights such as 1e300 ended in a ZeroDivisionError.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from refusals import refused_by
from sklearn.datasets import load_iris
from sklearn.exceptions import NotFittedError

from protonn_edge.chain.file import model_bytes
from protonn_edge.errors import InputError
from protonn_edge.kinds.protonn.train.classifier import ProtoNNClassifier
from protonn_edge.policy.rejection.held_out import calibrate_rejection
from protonn_edge.training.base import CLASSIFIERS

X, Y = load_iris(return_X_y=True)
CONSTANT = np.ones_like(X)


def begun() -> ProtoNNClassifier:
    return ProtoNNClassifier(random_state=0).partial_fit(X, Y, classes=[0, 1, 2])


@pytest.mark.parametrize(("factor", "reason"), [(1e30, "a feature reaches"), (1e3, "diverges")])
def test_points_that_partial_fit_refuses_leave_no_trace(factor: float, reason: str) -> None:
    estimator = begun()
    with pytest.raises(InputError, match=reason):
        estimator.partial_fit(factor * X, Y)
    estimator.partial_fit(X, Y)
    model, expected = estimator.to_model(), begun().partial_fit(X, Y).to_model()
    np.testing.assert_array_equal(model.inputs.upper, expected.inputs.upper)
    for fact in ("n_train", "data_sha256"):
        assert model.record[fact] == expected.record[fact]


def test_a_first_call_that_is_refused_does_not_count() -> None:
    estimator = ProtoNNClassifier(random_state=0)
    with pytest.raises(InputError, match="every feature is constant"):
        estimator.partial_fit(CONSTANT, Y, classes=[0, 1, 2])
    with pytest.raises(InputError, match="the first call of partial_fit needs all class labels"):
        estimator.partial_fit(X, Y)
    few = Y < 2
    estimator.partial_fit(X[few, :3], Y[few], classes=[0, 1])
    whole = ProtoNNClassifier(random_state=0).partial_fit(X[few, :3], Y[few], classes=[0, 1])
    assert model_bytes(estimator.to_model()) == model_bytes(whole.to_model())


@pytest.mark.parametrize("kind", [kind for name, kind in CLASSIFIERS.items() if "-i" not in name])
def test_after_a_refused_fit_an_estimator_is_not_fitted(kind: Any) -> None:
    estimator = kind()
    with pytest.raises(InputError, match="every feature is constant"):
        estimator.fit(CONSTANT, Y)
    for use in (estimator.predict, estimator.predict_proba, lambda _: estimator.to_model()):
        with pytest.raises(NotFittedError):
            use(X)


@pytest.mark.parametrize("weight", [1e300, 1e-60, -1.0, np.nan, np.inf])
def test_weights_of_classes_are_positive_and_of_similar_size(weight: float) -> None:
    estimator = ProtoNNClassifier(class_weight={0: weight, 1: 1.0, 2: 1.0})
    with refused_by("training.given_points"):
        estimator.fit(X, Y)


def test_weights_of_points_are_of_similar_size() -> None:
    with refused_by("training.given_points"):
        ProtoNNClassifier().fit(X, Y, np.where(Y > 0, 1.0, 1e-60))
    usual = ProtoNNClassifier(epochs=2, random_state=0).fit(X, Y).predict(X)
    tiny = ProtoNNClassifier(epochs=2, random_state=0).fit(X, Y, np.full(len(Y), 1e-300))
    np.testing.assert_array_equal(tiny.predict(X), usual)


def test_labels_of_training_points_are_as_many_as_the_points() -> None:
    estimator = ProtoNNClassifier(epochs=1, random_state=0).fit(X, Y)
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        calibrate_rejection(estimator, X, Y[:10], rate=0.1)


@pytest.mark.parametrize("name", ["n_trees", "max_depth", "min_samples_leaf"])
def test_numbers_beyond_all_limits_of_a_forest(name: str) -> None:
    with pytest.raises(ValueError, match=f"The '{name}' parameter of ForestClassifier must be"):
        CLASSIFIERS["forest"](**{name: 2**70}).fit(X, Y)
