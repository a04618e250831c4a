"""Thresholds: what they reject, and that integers and floats mean the same by them."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from refusals import refused_by

from protonn_edge.model.policy import Units
from protonn_edge.policy.rejection.rule import IntegerRejection, Rejection, margins

SCORES = np.array([[9, 5, -3], [4, 4, 0], [0, 0, 0], [-2, -9, -1]])
NEAREST = np.array([100, 60, 0, 5])


def units(scale: float) -> Units:
    return Units(scale, 127, 2, 0, (-9, 9))


@pytest.mark.parametrize(
    ("thresholds", "rejected"),
    [
        ({"score": 5}, [False, True, True, True]),
        ({"score": 4}, [False, False, True, True]),
        ({"rbf": 1}, [False, False, True, False]),
        ({"rbf": 61}, [False, True, True, True]),
        ({"margin": 1}, [False, True, True, False]),
        ({"margin": 2, "rbf": 1}, [False, True, True, True]),
    ],
)
def test_a_point_is_unknown_if_one_statistic_is_below_its_threshold(
    thresholds: dict[str, int], rejected: list[bool]
) -> None:
    assert IntegerRejection(**thresholds).rejects(SCORES, NEAREST).tolist() == rejected


@given(st.lists(st.integers(-(1 << 31), (1 << 31) - 1), min_size=2, max_size=9))
def test_the_margin_is_what_the_largest_leads_the_second_by(scores: list[int]) -> None:
    *_, second, largest = sorted(scores)
    assert margins(np.array([scores])).tolist() == [largest - second]


@given(st.integers(0, 32_767), st.integers(0, 127), st.integers(0, 65_535), st.floats(1e-9, 1e3))
def test_whole_thresholds_survive_the_way_through_floats(
    score: int, rbf: int, margin: int, scale: float
) -> None:
    assume(score or rbf or margin)
    floats = Rejection(score * scale, rbf / 127, margin * scale)
    assert floats.in_integers(units(scale)) == IntegerRejection(score, rbf, margin)


def test_a_threshold_that_is_less_than_a_unit_stays_one() -> None:
    assert Rejection(score=1e-6).in_integers(units(1.0)) == IntegerRejection(score=1)


def test_the_distance_is_in_rbf_widths() -> None:
    assert Rejection(rbf=math.exp(-4.0)).distance == pytest.approx(2.0)
    assert Rejection(score=1.0).distance is None


@pytest.mark.parametrize(
    "thresholds", [{}, {"score": -1.0}, {"rbf": 1.5}, {"margin": math.nan}, {"score": math.inf}]
)
def test_what_cannot_be_a_threshold_is_refused(thresholds: dict[str, float]) -> None:
    with refused_by("policy.rejection.rule"):
        Rejection(**thresholds)
