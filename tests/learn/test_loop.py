"""The loop of all trainings: which points a step gets, at which rate, and with which noise."""

from __future__ import annotations

from itertools import islice

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from protonn_edge.learn.loop import Steps, descend
from protonn_edge.learn.noise import Noise


@given(n=st.integers(1, 300), size=st.integers(1, 80), seed=st.integers(0, 2**32 - 1))
def test_every_pass_has_each_point_once(n: int, size: int, seed: int) -> None:
    rows = Steps(n, size, 1, 0.1).rows(np.random.default_rng(seed))
    a_pass = -(-n // size)
    for _ in range(2):
        drawn = np.concatenate(list(islice(rows, a_pass)))
        assert sorted(drawn.tolist()) == list(range(n))


def test_an_epoch_of_very_many_points_continues_where_the_last_one_ended() -> None:
    seen: list[int] = []

    def gradient(rows: np.ndarray) -> tuple[float, list[np.ndarray]]:
        seen.extend(rows.tolist())
        return 1.0, [np.zeros(2, np.float32)]

    steps = Steps(n=100, batch_size=2, epochs=5, learning_rate=0.1, most=10)
    assert (steps.an_epoch, steps.total) == (10, 50)
    parameters = [np.zeros(2, np.float32)]
    losses = list(descend(parameters, [1.0], steps, np.random.default_rng(0), gradient))
    assert losses == [1.0] * 5
    assert sorted(seen) == list(range(100))


@pytest.mark.parametrize("total", [1, 7, 300, 4_000])
def test_rates_rise_to_the_largest_step_and_fall_towards_zero(total: int) -> None:
    rates = Steps(1, 1, total, 0.5).rates
    assert len(rates) == total
    assert (rates > 0).all()
    assert rates.max() <= 0.5
    highest = int(rates.argmax())
    assert (np.diff(rates[: highest + 1]) > 0).all()
    assert (np.diff(rates[highest:]) < 0).all()
    assert total < 300 or rates[-1] < 1e-3 * rates.max()


def test_parameters_reach_the_minimum_and_those_with_factor_0_stay() -> None:
    parameters = [np.array([3.0, -2.0], np.float32), np.array([5.0], np.float32)]

    def gradient(_: np.ndarray) -> tuple[float, list[np.ndarray]]:
        return float(np.square(parameters[0]).sum()), [2 * each for each in parameters]

    steps = Steps(4, 4, 800, 0.05)
    losses = list(descend(parameters, [1.0, 0.0], steps, np.random.default_rng(0), gradient))
    assert losses[-1] < 1e-4 < losses[0]
    assert parameters[1] == 5.0


def test_noise_has_its_deviation_and_leaves_constant_features_alone() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2_000, 3)).astype(np.float32)
    X[:, 1] = 4
    noise = Noise(0.5, X, 100, rng)
    moved = np.concatenate([noise.add(X[i : i + 100].copy(), rng) for i in range(0, 2_000, 100)])
    changes = moved - X
    np.testing.assert_allclose(changes[:, [0, 2]].std(axis=0), 0.5, rtol=0.1)
    np.testing.assert_allclose(changes[:, [0, 2]].mean(axis=0), 0, atol=0.05)
    assert not changes[:, 1].any()


def test_without_a_deviation_there_is_no_noise() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(10, 2)).astype(np.float32)
    assert np.array_equal(Noise(0.0, X, 4, rng).add(X.copy(), rng), X)
