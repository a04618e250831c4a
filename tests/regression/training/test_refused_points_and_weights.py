"""Points and weights that training refuses, and what estimators are afterwards.

Weights such as 1e300 used to end in a ZeroDivisionError.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from refusals import refused_by
from sklearn.datasets import load_iris
from sklearn.exceptions import NotFittedError

from protonn_edge.kinds.protonn.train.classifier import ProtoNNClassifier
from protonn_edge.learn.base import CLASSIFIERS
from protonn_edge.policy.rejection.held_out import calibrate_rejection
from protonn_edge.system.errors import InputError

X, Y = load_iris(return_X_y=True)
CONSTANT = np.ones_like(X)


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
    with refused_by("learn.given_points"):
        estimator.fit(X, Y)


def test_weights_of_points_are_of_similar_size() -> None:
    with refused_by("learn.given_points"):
        ProtoNNClassifier().fit(X, Y, np.where(Y > 0, 1.0, 1e-60))
    usual = ProtoNNClassifier(epochs=2, random_state=0).fit(X, Y).predict(X)
    tiny = ProtoNNClassifier(epochs=2, random_state=0).fit(X, Y, np.full(len(Y), 1e-300))
    np.testing.assert_array_equal(tiny.predict(X), usual)


def test_labels_of_training_points_are_as_many_as_the_points() -> None:
    estimator = ProtoNNClassifier(epochs=1, random_state=0).fit(X, Y)
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        calibrate_rejection(estimator, X, Y[:10], rate=0.1)
