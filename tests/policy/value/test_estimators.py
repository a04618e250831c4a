"""Regressors follow scikit-learn's conventions, and predict what they learned."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from extension_parts import needs
from policy.value.numbers import REGRESSORS, fitted, points
from refusals import refused_by
from sklearn.base import clone
from sklearn.utils.estimator_checks import parametrize_with_checks

import protonn_edge

FEW = {"forest": {"n_trees": 3}, "extra": {"n_trees": 3}, "boosting": {"n_trees": 25}}


@parametrize_with_checks(
    [
        clone(each).set_params(**FEW.get(kind, {}))
        for kind, each in REGRESSORS.items()
        if kind != "dense"  # layers
    ]
)
def test_scikit_learns_conventions_hold(estimator: Any, check: Any) -> None:
    check(estimator)


LEAST = {
    "protonn": 0.9,
    "linear": 0.7,
    "dense": 0.9,
    "layers": 0.85,
    "forest": 0.9,
    "extra": 0.85,
    "boosting": 0.9,
}


@pytest.mark.parametrize(("kind", "least"), LEAST.items())
def test_new_points_are_predicted(kind: str, least: float) -> None:
    assert fitted(kind).score(*points(seed=1)) > least


@pytest.mark.parametrize("kind", REGRESSORS)
def test_the_unit_of_the_label_does_not_matter(kind: str) -> None:
    X, y = points()
    other = clone(REGRESSORS[kind]).fit(X, 1000 * y - 7)
    np.testing.assert_allclose(other.predict(X), 1000 * fitted(kind).predict(X) - 7, rtol=1e-3)


WHOLE = {"dense": {"batch_size": 100, "epochs": 30}}  # so that each step is of all points


@pytest.mark.parametrize(
    "kind", ["protonn", "linear", "dense", "boosting"]
)  # others draw points or tests
def test_a_point_of_weight_2_is_two_points(kind: str) -> None:
    X, y = points(n=60)
    weights = np.where(np.arange(60) < 20, 2, 1)
    regressor = clone(REGRESSORS[kind]).set_params(**WHOLE.get(kind, {}))
    weighted = clone(regressor).fit(X, y, weights)
    repeated = clone(regressor).fit(np.repeat(X, weights, 0), np.repeat(y, weights))
    np.testing.assert_allclose(weighted.predict(X), repeated.predict(X), rtol=1e-3)


NUMBERS = points()[1]


@pytest.mark.parametrize(
    ("y", "others"),
    [
        (np.full_like(NUMBERS, 3.0), {}),
        ((1000 * NUMBERS).astype("M8[s]"), {}),
        ((1000 * NUMBERS).astype("m8[s]"), {}),
        ([10**400, *NUMBERS[1:]], {}),
        ([None, *NUMBERS[1:]], {}),
        (NUMBERS, {"evaluate_on": (points()[0], np.append(NUMBERS[1:], np.nan))}),
        *((scale * NUMBERS, {}) for scale in (1e-30, 1e-9, 1e12, 1e30)),  # no unit of a device
    ],
)
def test_what_is_no_number_to_learn_is_refused(y: Any, others: dict[str, Any]) -> None:
    with refused_by("policy.value.train"):
        clone(REGRESSORS["linear"]).fit(points()[0], y, **others)


@needs("one_class")
def test_a_regressor_of_one_class_is_refused() -> None:
    with pytest.raises(TypeError, match="one_class"):
        protonn_edge.ProtoNNRegressor(one_class=True)  # type: ignore[call-arg]


def test_r2_of_points_to_evaluate_on_is_reported() -> None:
    X, y = points(seed=1)
    regressor = clone(REGRESSORS["protonn"]).fit(*points(), evaluate_on=(X, y))
    reported = regressor.history_[-1].test_accuracy
    assert reported == pytest.approx(regressor.score(X, y), abs=0.02)


def test_overlapping_rbfs_do_not_drive_prototypes_away() -> None:
    """A number that the features give away almost exactly is not lost in the first steps."""
    rng = np.random.default_rng(0)
    y = rng.uniform(0, 5, 300)
    X = np.stack([y + rng.normal(0, 0.05, 300) for _ in range(14)], axis=1).astype(np.float32)
    regressor = protonn_edge.ProtoNNRegressor(random_state=0).fit(X[:200], y[:200])
    assert regressor.score(X[200:], y[200:]) > 0.99
