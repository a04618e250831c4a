"""Features of windows are the definition's integers, and never leave 16 bits."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from laws.conformance.window_features import features_by_the_definition
from model_factory import random_windows, scaled, window_features_of, with_points
from refusals import refused_by

from protonn_edge.features.window_features.making import fitted_to, names_of
from protonn_edge.features.window_features.windows import WINDOW_LIMIT, FeatureSet, Windows, roots
from protonn_edge.model.features import Features
from protonn_edge.model.integer_stage import run_through

EVERY = "mean,deviation,min,max,change,crossings:2,bands:3"


@given(st.data())
@settings(max_examples=100, deadline=None)
def test_features_are_the_definitions(data: st.DataObject) -> None:
    window = data.draw(st.integers(8, 40))
    channels = data.draw(st.integers(1, 3))
    Q = data.draw(arrays(np.uint8, (2, window * channels)))
    stage = window_features_of(EVERY, window, channels)
    found = run_through(stage.stages, Q)
    for row, point in zip(found, Q.reshape(2, window, channels), strict=True):
        channel_samples = point.T.tolist()
        expected = [
            features_by_the_definition(stage.stages[0].window.features, each)
            for each in channel_samples
        ]
        assert row.reshape(channels, -1).tolist() == expected


@given(st.data())
@settings(max_examples=60, deadline=None)
def test_no_samples_leave_the_proven_ranges(data: st.DataObject) -> None:
    window = data.draw(st.sampled_from([2, 3, 16, 255, 256]))
    bands = max(1, int(math.log2(window)))
    window_features = window_features_of(
        f"mean,deviation,min,max,change,crossings:0,bands:{bands}", window, 1
    )
    steps = st.sampled_from([0, 0, 0, 1, 127, 128, 254, 255, 255, 255])
    Q = data.draw(arrays(np.uint8, (4, window), elements=steps))
    assert_within_ranges(window_features, Q)


@pytest.mark.parametrize("window", [2, 100, 256])
def test_extreme_windows_reach_the_ranges_and_no_further(window: int) -> None:
    bands = int(math.log2(window))
    window_features = window_features_of(
        f"mean,deviation,min,max,change,crossings:0,bands:{bands}", window, 1
    )
    t = np.arange(window)
    squares = [255 * (t >> level & 1) for level in range(bands)]
    Q = np.array([0 * t, 0 * t + 255, *squares, *(255 - row for row in squares)], np.uint8)
    assert_within_ranges(window_features, Q)
    found = run_through(window_features.stages, Q)
    assert (found[:, 0].min(), found[:, 0].max()) == (-128 * window, 127 * window)
    assert found[:, 1].max() == window // 2 * 255  # of an even number of samples
    for level in range(1, bands + 1):
        most = (window >> level) * (255 << (level - 1)) ** 2
        assert found[:, 5 + level].max() == math.isqrt(most)


def assert_within_ranges(window_features: Features, Q: np.ndarray) -> None:
    """Check the table of the module's text, 16 bits, and what the squares of roots may be."""
    n = window_features.points.shape[0]
    found = run_through(window_features.stages, Q)
    assert found.min() >= -(1 << 15)
    assert found.max() < 1 << 15
    limits = [127 * n, 255 * n // 2, 127, 127, 255 * (n - 1) // 2, n - 1]
    assert (found[:, :6] <= limits).all()
    x = Q.astype(np.int64) - 128
    assert (n * np.square(x).sum(axis=1) <= 1 << 30).all()
    assert (np.square(x.sum(axis=1)) <= 1 << 30).all()
    assert (found[:, 6:] < 1 << 15).all()


@given(st.integers(0, (1 << 30) - 1))
def test_roots_are_rounded_down(square: int) -> None:
    near = [square, math.isqrt(square) ** 2, math.isqrt(square) ** 2 - 1]
    whole = [max(0, number) for number in near]
    assert roots(np.array(whole)).tolist() == [math.isqrt(number) for number in whole]


def test_samples_become_bytes_channel_by_channel() -> None:
    X = np.array([[0.0, -3.0, 1.0, 9.0], [0.5, 5.0, 0.25, 1.0]])
    window_features = fitted_to(X, FeatureSet.of("min,max"), (2, 2))
    assert window_features.points.scale.zero.tolist() == [0.0, -3.0]
    assert window_features.points.scale.step.tolist() == [1 / 255, 12 / 255]
    assert window_features.points.to_bytes(X).tolist() == [[0, 0, 255, 255], [128, 170, 64, 85]]
    assert window_features.points.to_bytes(np.array([[-9.0, 99.0, 9.0, -99.0]])).tolist() == [
        [0, 255, 255, 0]
    ]
    assert names_of(window_features) == (
        "channel0_min",
        "channel0_max",
        "channel1_min",
        "channel1_max",
    )
    assert window_features.apply(X.astype(np.float32)).dtype == np.float32


def test_a_channel_that_never_changes_is_a_constant() -> None:
    window_features = fitted_to(np.full((3, 2), 7.0), FeatureSet.of("mean"), (2, 1))
    assert window_features.apply(np.full((1, 2), 7.0)).tolist() == [[-256.0]]


def test_many_windows_are_worked_on_in_parts() -> None:
    window_features = window_features_of(EVERY, 256, 4)
    X = random_windows(0, 2100, window_features).astype(np.float64)
    assert (window_features.apply(X)[-40:] == window_features.apply(X[-40:])).all()
    assert window_features.apply(X[:0]).shape == (0, window_features.n_outputs)


@pytest.mark.parametrize(
    "change",
    [{"window": 0}, {"window": WINDOW_LIMIT + 1}, {"channels": 0}, {"channels": 33}, {"window": 7}],
)
def test_windows_that_generated_code_cannot_hold_are_refused(change: dict[str, int]) -> None:
    with refused_by("features.window_features.windows"):
        Windows(**{"features": FeatureSet.of("bands:3"), "window": 32, "channels": 2} | change)


@pytest.mark.parametrize(
    ("zero", "step"),
    [
        ((0.0, math.nan), (1.0, 1.0)),
        ((0.0, 0.0), (1.0, 1e300)),
        ((0.0, 0.0), (1.0, 0.0)),
        ((0.0,), (1.0, 1.0)),
    ],
)
def test_samples_that_cannot_become_bytes_are_refused(
    zero: tuple[float, ...], step: tuple[float, ...]
) -> None:
    with refused_by("model.point_format"):
        scaled(window_features_of("mean"), zero, step)


def test_a_rate_that_no_sensor_has_is_refused() -> None:
    with refused_by("model.signals"):
        with_points(window_features_of("mean"), rate=0.0)


@pytest.mark.parametrize("shape", [(3, 2), (4, 2), (0, 0), (-2, -3)])
def test_windows_of_another_shape_are_refused(shape: tuple[int, int]) -> None:
    X = np.zeros((2, 7))
    with refused_by("features.window_features.scale"):
        fitted_to(X, FeatureSet.of("mean"), shape)


def test_samples_of_one_channel_are_drawn_as_a_line() -> None:
    assert window_features_of("mean", 32, 1).points.drawn_shape == (1, 32)
    assert window_features_of("mean", 32, 2).points.drawn_shape is None
