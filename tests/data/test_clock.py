"""The clock of a recording: where it was interrupted."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from protonn_edge.data.roles.clock import Clock, usual_step


def rate_of(times: np.ndarray, seams: np.ndarray) -> float | None:
    interval = Clock.of(times, seams).interval
    return 1 / interval if interval else None


def gaps(times: np.ndarray) -> np.ndarray:
    return Clock.of(times).apart


def none(times: np.ndarray) -> np.ndarray:
    return np.zeros(len(times), np.bool_)


@given(
    step=st.sampled_from([0.02, 1.0, 20.0, 1e6]),
    place=st.integers(1, 58),
    lost=st.integers(1, 100),
)
def test_a_steady_clock_shows_each_lost_sample(step: float, place: int, lost: int) -> None:
    numbers = np.arange(60.0)
    numbers[place:] += lost
    assert np.flatnonzero(gaps(numbers * step)).tolist() == [place]


def test_a_clock_that_begins_again_is_interrupted() -> None:
    times = np.concatenate([np.arange(20.0), np.arange(20.0)])
    assert np.flatnonzero(gaps(times)).tolist() == [20]


def test_an_unsteady_clock_is_interrupted_by_long_steps_only() -> None:
    times = np.cumsum(np.tile([6.0, 10.0, 15.0, 8.0], 10))
    assert not gaps(times).any()
    times[20:] += 100
    assert np.flatnonzero(gaps(times)).tolist() == [20]


@pytest.mark.parametrize("times", [[], [1.0], [1.0, 1.0], [5.0] * 30])
def test_times_that_do_not_move_have_no_gaps_and_no_rate(times: list[float]) -> None:
    given_times = np.array(times)
    assert not gaps(given_times).any()
    assert usual_step(given_times) == 0
    if len(times) > 1:
        assert rate_of(given_times, none(given_times)) is None


@given(rate=st.integers(5, 400), phase=st.floats(0, 1), rows=st.integers(3, 8))
def test_whole_seconds_give_the_rate_of_full_seconds(rate: int, phase: float, rows: int) -> None:
    times = np.floor(phase + np.arange(rows * rate) / rate)
    assert rate_of(times, none(times)) == pytest.approx(rate, abs=1 / (rows - 2))


def test_short_takes_with_whole_seconds_give_the_rate_together() -> None:
    times = np.concatenate([np.floor(0.3 + 0.17 * take + np.arange(150) / 50) for take in range(8)])
    seams = none(times)
    seams[150::150] = True
    assert rate_of(times, seams) == pytest.approx(50, rel=0.01)


def test_a_take_within_one_tick_has_no_rate() -> None:
    times = np.repeat([3.0, 4.0], 20)
    assert rate_of(times, none(times)) is None


def test_the_mean_step_of_whole_milliseconds_may_be_fractional() -> None:
    times = np.round(np.arange(300) * 1000 / 60)
    assert rate_of(times, none(times)) == pytest.approx(0.06, rel=0.001)


def test_gaps_do_not_count_for_the_rate() -> None:
    times = np.arange(100) * 0.01
    times[50:] += 30
    assert rate_of(times, gaps(times)) == pytest.approx(100)


def test_rows_that_were_all_interrupted_have_no_rate() -> None:
    """It was the mean of no steps, with a warning of NumPy."""
    times, seams = np.array([0.0, 5.0, 0.0]), np.array([False, True, True])
    with np.errstate(all="raise"):
        assert Clock.of(times, seams).interval == 0
