"""Energy over time: a battery's life for a share of the time that is computed."""

from __future__ import annotations

import pytest

from protonn_edge.boards import load_board
from protonn_edge.report.content import Battery, Life

BOARD = load_board("uno")


def test_power_is_shared_between_computing_and_resting():
    life = Battery(watt_hours=1.0, rate=100.0, idle_watts=0.1).life(BOARD, milliseconds=2.0)
    assert life.busy_share == pytest.approx(0.2)
    assert life.mean_mw == pytest.approx(0.2 * 245.5 + 0.8 * 100)
    assert life.hours == pytest.approx(1.0 / 0.1291, rel=1e-4)


def test_a_board_does_not_compute_for_more_than_all_of_the_time():
    assert Battery(rate=1e6).life(BOARD, milliseconds=2.0).busy_share == 1.0


def test_rates_beyond_the_board_are_left_out_and_its_own_limit_is_last():
    *_, (rate, life) = lives = list(Battery().lives(BOARD, milliseconds=20.0))
    assert [each for each, _ in lives] == [0.1, 1.0, 10.0, 50.0]
    assert (rate, life.busy_share) == (50.0, 1.0)


@pytest.mark.parametrize(
    ("hours", "text"),
    [
        (30, "30.0 hours"),
        (72, "3 days"),
        (6e4, "6.8 years"),
        (2e5, "more than 10 years (the shelf life of the battery)"),
    ],
)
def test_a_life_is_told_in_a_unit_that_suits_it(hours, text):
    assert Life(0.0, 0.0, hours).text == text


def test_an_idle_battery_discharges_itself_by_3_percent_a_year():
    life = Battery(watt_hours=6.0, rate=0.001).life(BOARD, milliseconds=1e-6)
    assert life.hours == pytest.approx(100 / 3 * 365.25 * 24, rel=1e-3)
