"""Energy over time: a battery's life for a share of the time that is computed."""

from __future__ import annotations

import pytest

from protonn_edge.chips.boards import load_board
from protonn_edge.report.content import Battery, Life

BOARD = load_board("uno")


def test_power_is_shared_between_computing_and_resting():
    lives = Battery(watt_hours=1.0, rate=100.0, idle_watts=0.1).lives(BOARD, milliseconds=2.0)
    assert list(lives) == ["at 100 mW"]
    life = lives["at 100 mW"]
    assert life.busy_share == pytest.approx(0.2)
    assert life.hours == pytest.approx(1.0 / (0.2 * 0.2455 + 0.8 * 0.1), rel=1e-4)


def test_an_unknown_power_has_two_ends_and_the_one_of_a_plain_board_is_first():
    """Only the end of a sleeping chip was told: "more than 10 years" for an Uno."""
    lives = Battery(watt_hours=6.0, rate=1.0).lives(BOARD, milliseconds=0.6)
    assert list(lives) == ["awake", "asleep"]
    assert lives["awake"].hours == pytest.approx(6.0 / 0.2455, rel=1e-3)
    assert lives["asleep"].hours > 4 * 365 * 24
    sentences = Battery().sentences(BOARD, milliseconds=0.6)
    awake, asleep = map(sentences.index, ("lasts 24.4 hours", "4.1 years if it draws nothing"))
    assert awake < asleep
    assert "24.4 hours" not in Battery(idle_watts=0.01).sentences(BOARD, milliseconds=0.6)


def test_a_board_that_computes_all_the_time_has_no_rest():
    lives = Battery(rate=1e6).lives(BOARD, milliseconds=2.0)
    assert {life.busy_share for life in lives.values()} == {1.0}
    assert len({life.hours for life in lives.values()}) == 1


def test_rates_beyond_the_board_are_left_out_and_its_own_limit_is_last():
    *_, (rate, lives) = by_rate = list(Battery().by_rate(BOARD, milliseconds=20.0))
    assert [each for each, _ in by_rate] == [0.1, 1.0, 10.0, 50.0]
    assert (rate, lives["asleep"].busy_share) == (50.0, 1.0)


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
    assert Life(0.0, hours).text == text


def test_an_idle_battery_discharges_itself_by_3_percent_a_year():
    lives = Battery(watt_hours=6.0, rate=0.001).lives(BOARD, milliseconds=1e-6)
    assert lives["asleep"].hours == pytest.approx(100 / 3 * 365.25 * 24, rel=1e-3)
