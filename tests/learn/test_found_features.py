"""``features="auto"``: windows choose their features, by groups and without their test points."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

from protonn_edge.kinds.forest.train import ForestClassifier
from protonn_edge.kinds.linear.train import LinearClassifier
from protonn_edge.kinds.linear.value.train import LinearRegressor
from protonn_edge.learn.features import texts_for
from protonn_edge.learn.found_features import FoundFeatures
from protonn_edge.model.quantization import quantize
from protonn_edge.system.errors import InputError

SHAPE = (32, 2)
USUAL = "mean,deviation,min,max,change,crossings,bands:5"


def found(X: np.ndarray, y: np.ndarray, groups: Any = None, **settings: Any) -> FoundFeatures:
    chosen = {"features": "auto", "window_shape": SHAPE, "random_state": 0, **settings}
    return LinearClassifier(**chosen).fit(X, y, groups=groups).features_


def waves(n: int = 150) -> tuple[np.ndarray, np.ndarray]:
    """Return windows (n, 64) of three frequencies, of any phase, level and loudness."""
    rng = np.random.default_rng(0)
    y, t = np.arange(n) % 3, np.arange(32)[:, None]
    frequency = np.array([0.3, 0.8, 2.0])[y][:, None, None]
    loud, level = rng.uniform(5, 20, (n, 1, 2)), rng.normal(0, 50, (n, 1, 2))
    signal = level + loud * np.sin(frequency * t + rng.uniform(0, 6, (n, 1, 2)))
    return (signal + rng.normal(0, 1, signal.shape)).reshape(n, -1), y


def strokes(n: int = 150) -> tuple[np.ndarray, np.ndarray]:
    """Return windows (n, 64) with a stroke early or late, of which no feature knows the time."""
    rng = np.random.default_rng(0)
    y, t = np.arange(n) % 2, np.arange(32)[:, None]
    at = np.array([10, 21])[y][:, None, None] + rng.normal(0, 1, (n, 1, 1))
    signal = rng.uniform(20, 40, (n, 1, 2)) * np.exp(-(((t - at) / 3) ** 2))
    return (signal + rng.normal(0, 2, signal.shape)).reshape(n, -1), y


@pytest.fixture(scope="module")
def of_waves() -> FoundFeatures:
    return found(*waves())


@pytest.fixture(scope="module")
def of_strokes() -> FoundFeatures:
    return found(*strokes())


def test_frequencies_choose_features_and_strokes_choose_averages_or_samples(
    of_waves: FoundFeatures, of_strokes: FoundFeatures
) -> None:
    assert re.search("bands|crossings", of_waves.text)
    assert of_strokes.text in ("pool:16x2", "samples")
    for each in (of_waves, of_strokes):
        lists = {text: error for text, error in each.errors.items() if "kernels" not in text}
        assert each.errors[each.text] == min(lists.values())  # among fewer than 500 windows
        assert str(each).startswith(f"features 'auto' chose {each.text}: ")


def test_of_equally_good_lists_the_shortest_is_chosen() -> None:
    X, y = waves()
    X = X + 500 * y[:, None]  # every list with the mean is right
    assert found(X, y).text == "mean,deviation"


def test_few_windows_take_the_usual_list() -> None:
    X, y = strokes(49)
    assert found(X, y).text == USUAL
    assert "can test 49 windows, and needs 50" in str(found(X, y))


def teeth(n: int) -> tuple[np.ndarray, np.ndarray]:
    """Return windows (n, 64) of teeth that rise slowly or fall slowly, at any phase."""
    rng = np.random.default_rng(0)
    y, t = np.arange(n) % 2, np.arange(32)[:, None]
    tooth = (0.11 * t + rng.uniform(0, 1, (n, 1, 2))) % 1
    signal = np.where(y[:, None, None], tooth, 1 - tooth) + rng.normal(0, 0.2, (n, 32, 2))
    return signal.reshape(n, -1), y


@pytest.mark.parametrize("n", [60, 150])
def test_shapes_at_any_time_choose_kernels_but_not_for_trees(n: int) -> None:
    of_teeth = found(*teeth(n))
    assert of_teeth.text == "kernels:96"
    chosen = {"features": "auto", "window_shape": SHAPE, "random_state": 0}
    of_trees = ForestClassifier(**chosen).fit(*teeth(n)).features_
    assert of_trees.errors.keys() == of_teeth.errors.keys() - {"kernels:96"}


def test_kernels_that_noise_chose_have_no_merit_in_the_folds() -> None:
    X, y = np.random.default_rng(0).normal(size=(150, 64)), np.arange(150) % 2
    assert found(X, y).errors["kernels:96"] > 0.3


def test_the_model_has_the_features_that_its_record_names(of_strokes: FoundFeatures) -> None:
    X, y = strokes()
    settings = {"features": "auto", "window_shape": SHAPE, "sample_rate": 50.0}
    estimator = LinearClassifier(**settings, random_state=0).fit(X, y)
    model = estimator.to_model()
    assert estimator.features == "auto"
    assert estimator.features_ == of_strokes
    assert model.record["settings"]["features"] == estimator.features_.text
    assert model.features is not None
    assert model.features.points.signal.rate == 50.0
    named = LinearClassifier(**{**settings, "features": estimator.features_.text}, random_state=0)
    assert quantize(named.fit(X, y).to_model()).model_sha256 == quantize(model).model_sha256


def test_the_order_of_windows_does_not_matter(of_waves: FoundFeatures) -> None:
    X, y = waves()
    assert found(X[::-1], y[::-1]) == of_waves


def test_groups_are_never_divided() -> None:
    rng = np.random.default_rng(0)
    person = np.arange(240) % 20
    X = rng.normal(0, 9, (20, 64))[person] + rng.normal(0, 1, (240, 64))  # each is recognized
    alone, in_groups = found(X, person % 2), found(X, person % 2, person)
    assert alone.errors["samples"] < 0.1
    assert in_groups.errors["samples"] > 0.25
    assert "by groups" in str(in_groups)


def test_classes_of_one_group_each_cannot_be_compared() -> None:
    X, y = waves()
    alone = found(X, y, y)
    assert alone.text == USUAL
    assert "by groups can test 0 windows" in str(alone)


def test_a_class_of_one_window_does_not_prevent_the_comparison() -> None:
    X, y = strokes()
    for rare in (-1, 2):
        assert found(X, np.where(np.arange(150) == 7, rare, y)).text in ("pool:16x2", "samples")


def test_a_list_that_other_settings_refuse_is_not_chosen() -> None:
    assert found(*strokes(), clip=0.02).text not in ("pool:16x2", "samples")


def test_numbers_are_compared_by_the_variance_that_is_explained() -> None:
    X, _ = waves()
    loud = np.std(X.reshape(-1, *SHAPE), axis=1).mean(axis=1)
    regressor = LinearRegressor(features="auto", window_shape=SHAPE, random_state=0)
    chosen = regressor.fit(X, loud).features_
    assert "deviation" in chosen.text
    assert "of the variance explained" in str(chosen)


def test_one_channel_is_the_default_and_short_windows_have_fewer_bands() -> None:
    lists = texts_for(LinearClassifier(), np.zeros((1, 6), np.float32))
    assert lists[0] == "mean,deviation,min,max,change,crossings,bands:2"
    assert "pool:16x1" not in lists
    lists = texts_for(LinearClassifier(), np.zeros((1, 1), np.float32))
    assert not any("bands" in each for each in lists)
    assert len(lists) == len(set(lists))


def test_windows_that_are_too_long_are_refused() -> None:
    X, y = np.random.default_rng(0).normal(size=(120, 514)), np.arange(120) % 2
    with pytest.raises(InputError, match="at most 256 samples"):
        found(X, y, window_shape=(257, 2))
