"""Features of any scale and skewness: bytes are fine where the trees of floats have thresholds."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.ensemble import ExtraTreesClassifier, RandomForestClassifier, RandomForestRegressor

from protonn_edge.kinds.forest.parameters import ENSEMBLES
from protonn_edge.kinds.forest.quantize import byte_inputs
from protonn_edge.kinds.forest.ranges import between_thresholds, with_best_steps
from protonn_edge.kinds.forest.train import ForestClassifier
from protonn_edge.kinds.forest.value.train import ForestRegressor
from protonn_edge.model.expected import limits_of_training
from protonn_edge.model.quantization import quantize

N_TRAIN = 700


def skewed(seed: int = 0, n: int = 2_000) -> tuple[np.ndarray, np.ndarray]:
    """Return points (n, 6) with a few enormous values, and a sum (n,) of their logarithms."""
    Z = np.random.default_rng(seed).normal(size=(n, 6))
    return np.exp(2.5 * Z).astype(np.float32), Z[:, 0] + Z[:, 1] - Z[:, 2]


def right(classifier: ForestClassifier, X: np.ndarray, y: np.ndarray) -> float:
    integers = quantize(classifier.to_model())
    return float(np.mean(integers.predict(integers.quantize(X)) == y))


@pytest.mark.parametrize("ensemble", ENSEMBLES)
def test_integers_on_skewed_features_are_about_as_good_as_floats(ensemble: str) -> None:
    X, value = skewed()
    y = (value > 0).astype(int)
    classifier = ForestClassifier(ensemble=ensemble, n_trees=20, random_state=0)
    classifier.fit(X[:N_TRAIN], y[:N_TRAIN])
    kind = ExtraTreesClassifier if ensemble == "extra" else RandomForestClassifier
    floats = kind(20, random_state=0).fit(X[:N_TRAIN], y[:N_TRAIN])
    share = right(classifier, X[N_TRAIN:], y[N_TRAIN:])
    assert share > floats.score(X[N_TRAIN:], y[N_TRAIN:]) - 0.03


def test_numbers_of_skewed_features_are_about_as_good_as_of_floats() -> None:
    X, y = skewed()
    X = np.sqrt(X)  # with more, values that are all equally likely need more than 256 bytes
    regressor = ForestRegressor(n_trees=20, random_state=0).fit(X[:N_TRAIN], y[:N_TRAIN])
    floats = RandomForestRegressor(20, random_state=0).fit(X[:N_TRAIN], y[:N_TRAIN])
    assert regressor.score(X[N_TRAIN:], y[N_TRAIN:]) > floats.score(X[N_TRAIN:], y[N_TRAIN:]) - 0.05


def test_rare_large_values_are_distinguished_if_they_decide() -> None:
    X, _ = skewed()
    y = np.searchsorted(np.quantile(X[:, 0], [0.5, 0.97, 0.99]), X[:, 0])
    classifier = ForestClassifier(random_state=0).fit(X[:N_TRAIN], y[:N_TRAIN])
    assert right(classifier, X[N_TRAIN:], y[N_TRAIN:]) > 0.97


def test_whole_numbers_of_few_values_keep_one_byte_each() -> None:
    X, value = skewed()
    X[:, 1] = np.random.default_rng(1).integers(-50, 100, len(X))
    y = (value + X[:, 1] / 20 > 0).astype(int)
    inputs = byte_inputs(ForestClassifier(random_state=0).fit(X, y).to_model().inputs)
    assert inputs.step[1] == 1
    assert inputs.zero[1] == -50


@pytest.mark.parametrize("n_trees", [5, 11, 20])
def test_adaboost_fits_a_budget_near_the_size_of_its_whole_trees(n_trees: int) -> None:
    X, value = skewed(seed=3, n=300)
    settings = {"ensemble": "adaboost", "n_trees": n_trees, "random_state": 0}
    whole = ForestClassifier(size_budget=None, **settings).fit(X, (value > 0).astype(int))
    size = quantize(whole.to_model()).model_bytes
    for share in (0.97, 0.9, 1.0):
        budget = int(share * size)
        small = ForestClassifier(size_budget=budget, **settings).fit(X, (value > 0).astype(int))
        assert quantize(small.to_model()).model_bytes <= budget


def test_values_of_any_size_are_compared() -> None:
    X, value = skewed()
    y = (value > 0).astype(int)
    for factor in (1e-30, 1e25):
        classifier = ForestClassifier(random_state=0).fit(np.float32(factor) * X, y)
        assert right(classifier, np.float32(factor) * X, y) > 0.95


def test_steps_follow_thresholds_and_the_range_of_training_is_still_known() -> None:
    X, value = skewed()
    model = ForestClassifier(random_state=0).fit(X, (value > 0).astype(int)).to_model()
    least, end = quantize(model).quantizer.limits
    assert (end[:3] < X[:, :3].max(axis=0)).all()
    low, high = limits_of_training(model, least, end)
    assert (((low <= X) & (high >= X)).mean(axis=0) > 0.5).all()


def test_no_point_crosses_a_threshold_that_the_steps_can_separate() -> None:
    X = np.append(np.linspace(0, 1, 60), 1e6)[:, None].astype(np.float32)
    asked, thresholds = np.zeros(3, int), np.array([0.2, 0.5, 0.8])
    statistics = ForestClassifier(random_state=0).fit(X, X[:, 0] > 0.5).to_model().inputs
    placed = with_best_steps(
        between_thresholds(statistics, asked, thresholds), asked, thresholds, X
    )
    bytes_of = byte_inputs(placed).quantize(X)[:, 0]
    for threshold in thresholds:
        below = X[:, 0] <= threshold
        assert bytes_of[below].max() < bytes_of[~below].min()


@pytest.mark.parametrize("draw", ["uniform", "normal"])
def test_ordinary_features_keep_their_ranges(draw: str) -> None:
    X = getattr(np.random.default_rng(0), draw)(size=(800, 3)).astype(np.float32)
    inputs = ForestClassifier(random_state=0).fit(X, X[:, 0] > X[:, 1]).to_model().inputs
    assert (inputs.lower == X.min(axis=0)).all()
    assert (inputs.upper == X.max(axis=0)).all()
