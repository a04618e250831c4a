"""Forests that predict numbers: scikit-learn's trees, within a budget."""

from __future__ import annotations

import numpy as np
import pytest
from forest_factory import caught_ensembles
from policy.value.numbers import points

from protonn_edge.kinds.forest.parameters import OF_NUMBERS
from protonn_edge.kinds.forest.value import train as training
from protonn_edge.kinds.forest.value.train import ForestRegressor
from protonn_edge.model.quantization import quantize
from protonn_edge.policy.value.rule import Value
from protonn_edge.system.errors import InputError

every_ensemble = pytest.mark.parametrize("ensemble", OF_NUMBERS)


@every_ensemble
def test_whole_trees_predict_as_scikit_learn(
    ensemble: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = caught_ensembles(training, monkeypatch)
    X, y = points()
    X = np.rint(100 * X)  # bytes are then whole features without their minimum
    regressor = ForestRegressor(ensemble=ensemble, size_budget=None, random_state=0).fit(X, y)
    value = regressor.model_.policy.find(Value)
    assert value is not None
    expected = value.offset + value.scale * made[0].predict(X - X.min(axis=0))
    np.testing.assert_allclose(regressor.predict(X), expected, rtol=1e-5)


@every_ensemble
def test_a_budget_is_kept_and_used(ensemble: str) -> None:
    X, y = points()
    settings = {"ensemble": ensemble, "n_trees": 40, "random_state": 0}
    regressor = ForestRegressor(size_budget=1_000, **settings).fit(X, y)
    assert 900 < quantize(regressor.model_).model_bytes <= 1_000
    assert regressor.score(*points(seed=1)) > 0.75


def test_outliers_among_the_labels_leave_their_influence() -> None:
    X, y = points()
    settings = {"ensemble": "boosting", "shrinkage": 1.0, "n_trees": 3, "random_state": 0}
    y[0] += 1_000
    far = ForestRegressor(**settings).fit(X, y)
    assert far.predict(X[:1])[0] > 900


def test_votes_for_classes_are_refused() -> None:
    X, y = points()
    for settings in ({"ensemble": "adaboost"}, {"tests": 60}):
        with pytest.raises(InputError):
            ForestRegressor(random_state=0, **settings).fit(X, y)
