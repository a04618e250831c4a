"""An MLPClassifier becomes a dense network; estimators without a counterpart lead on."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.decomposition import PCA
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from protonn_edge import from_sklearn

IRIS, CANCER = load_iris(return_X_y=True), load_breast_cancer(return_X_y=True)

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


def perceptron(*units: int, **settings: Any) -> MLPClassifier:
    return MLPClassifier(units, **{"max_iter": 150, "random_state": 0} | settings)


@pytest.mark.parametrize("before", [[], [StandardScaler()], [StandardScaler(), PCA(3)]], ids=str)
@pytest.mark.parametrize("units", [(), (10,), (8, 7)], ids=str)
@pytest.mark.parametrize("data", [IRIS, CANCER], ids=["three", "two"])
def test_a_network_answers_as_before(data: Any, units: tuple[int, ...], before: list[Any]):
    X, y = data
    estimator = make_pipeline(*before, perceptron(*units)).fit(X, y)
    found = from_sklearn(estimator, X, y)
    assert [step.name for step in found.steps] == ["estimator", "exact", "integers"]
    answers = found.source.labels[found.source.answers(X.astype(np.float32))]
    assert np.mean(answers == estimator.predict(X)) > 0.99
    assert found.steps[1].agreement > 0.99
    assert found.model.head.kind == ("dense" if units else "linear")
    if before:  # features of very different ranges are hard for bytes
        assert found.agreement > 0.95


def test_it_can_be_tuned_and_has_the_names_of_columns():
    X, y = IRIS
    estimator = perceptron(6).fit(X, y)
    estimator.feature_names_in_ = np.array(["a", "b", "c", "d"], object)
    found = from_sklearn(estimator, X, y, fine_tune=True, epochs=6)
    assert found.model.feature_names == ("a", "b", "c", "d")
    assert found.model.record["fine_tuning"]["points"] > 100
