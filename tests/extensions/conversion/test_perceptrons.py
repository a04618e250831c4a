"""An MLPClassifier becomes a dense network; estimators without a counterpart lead on."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from refusals import refused_by
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.decomposition import PCA
from sklearn.ensemble import AdaBoostClassifier, IsolationForest
from sklearn.neighbors import KNeighborsRegressor
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, OneClassSVM

from protonn_edge import from_sklearn
from protonn_edge.system.errors import InputError

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


@pytest.mark.parametrize(
    "estimator", [perceptron(3, activation="tanh"), perceptron(3, 3, 3), perceptron(300)]
)
def test_what_has_no_counterpart_is_refused(estimator: MLPClassifier):
    X, y = IRIS
    with refused_by("extensions.conversion.reading", "extensions.conversion.networks.perceptron"):
        from_sklearn(estimator.set_params(max_iter=2).fit(X, y), X)


@pytest.mark.parametrize("sets", [2, 3])
def test_sets_of_labels_are_refused(sets: int):
    X, y = IRIS
    estimator = perceptron(3, max_iter=2).fit(X, np.eye(3, dtype=int)[y][:, :sets])
    with refused_by("extensions.conversion.networks.perceptron"):
        from_sklearn(estimator, X)


@pytest.mark.parametrize(
    ("estimator", "sentence"),
    [
        (KNeighborsRegressor(), r"the KNeighborsRegressor predicts numbers and cannot be conv"),
        (OneClassSVM(), "finds outliers and cannot be converted; train .* --one-class"),
        (IsolationForest(n_estimators=2), "finds outliers"),
        (AdaBoostClassifier(n_estimators=2), "AdaBoostClassifier cannot be converted; pass a fit"),
        (SVC(kernel="poly"), "SVC: the kernel 'poly', which cannot be converted; fit it with kern"),
    ],
    ids=lambda each: type(each).__name__,
)
def test_estimators_without_a_counterpart_lead_on(estimator: Any, sentence: str):
    X, y = IRIS
    with pytest.raises(InputError, match=sentence) as caught:
        from_sklearn(estimator.fit(X, y), X)
    assert "\n" not in str(caught.value)
