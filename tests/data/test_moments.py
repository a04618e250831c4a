"""Dates and times of day in the layouts of programs and countries."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from protonn_edge.data.tables.moments import moments_in

NOON = datetime(2024, 5, 31, 12, 30, 15, tzinfo=UTC).timestamp()
DAY = datetime(2024, 5, 31, tzinfo=UTC).timestamp()


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("2024-05-31 12:30:15", NOON),
        ("2024-05-31T12:30:15Z", NOON),
        ("2024-05-31T12:30:15.250Z", NOON + 0.25),
        ("2024-05-31 12:30:15,250", NOON + 0.25),
        ("2024-05-31T14:30:15+02:00", NOON),
        ("2024-05-31T08:00:15-0430", NOON),
        ("2024-05-31 12:30:15 UTC", NOON),
        ("2024/05/31 12:30:15", NOON),
        ("31.05.2024 12:30:15", NOON),
        ("31/05/2024, 12:30:15", NOON),
        ("05/31/2024 12:30:15 PM", NOON),
        ("05/31/2024 00:30:15 am", DAY + 1815),
        ("5/31/24 12:30:15 a.m.", DAY + 1815),
        ("31-05-2024 12:30", NOON - 15),
        ("31 May 2024 12:30:15", NOON),
        ("31-May-2024 12:30:15", NOON),
        ("May 31, 2024 12:30:15", NOON),
        ("31 May 2024", DAY),
        ("2024-05-31", DAY),
    ],
)
def test_a_day_is_read_in_the_usual_layouts(text: str, seconds: float) -> None:
    found = moments_in([text])
    assert found is not None
    assert found.seconds.tolist() == [pytest.approx(seconds, abs=1e-6)]
    assert found.has_day
    assert found.has_time == (":" in text)


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("12:30", 45_000),
        ("12:30:15", 45_015),
        ("12:30:15.5", 45_015.5),
        ("12:30:15,5", 45_015.5),
        ("12:30:15:500", 45_015.5),
        ("1:02:03 PM", 46_923),
        ("12:00:00 AM", 0),
        ("12:00 pm", 43_200),
    ],
)
def test_a_time_without_a_day_counts_from_midnight(text: str, seconds: float) -> None:
    found = moments_in([text])
    assert found is not None
    assert found.seconds.tolist() == [pytest.approx(seconds)]
    assert (found.has_day, found.has_time) == (False, True)


def test_the_order_of_day_and_month_is_that_of_all_rows() -> None:
    months_first = moments_in(["05/06/2024", "05/31/2024"])
    days_first = moments_in(["05/06/2024", "31/05/2024"])
    assert months_first is not None
    assert days_first is not None
    assert months_first.seconds[1] - months_first.seconds[0] == 25 * 86_400
    assert days_first.seconds[1] - days_first.seconds[0] == -5 * 86_400


@pytest.mark.parametrize(
    "texts",
    [
        [],
        ["soon"],
        ["1.5"],
        ["2024"],
        ["2024-05-31", "soon"],
        ["2024-05-31", "12:30:15"],
        ["2024-05-31 12:30:15", "2024-05-31"],
        ["2024-05-31 12:30", "12:30"],
        ["31.02.2024"],
        ["2024-13-01"],
        ["05/31/2024", "31/05/2024"],
    ],
)
def test_other_texts_and_mixed_layouts_are_no_moments(texts: list[str]) -> None:
    assert moments_in(texts) is None


@given(
    begin=st.integers(31_536_000_000, 3_092_601_600_000),  # 1971 to 2067
    steps=st.lists(st.integers(0, 10**9), max_size=5),
    layout=st.sampled_from(
        [
            "%Y-%m-%d %H:%M:%S.%f",
            "%d.%m.%Y %H:%M:%S.%f",
            "%d %b %Y %H:%M:%S.%f",
            "%Y/%m/%dT%H:%M:%S.%fZ",
        ]
    ),
)
def test_any_moment_comes_back(begin: int, steps: list[int], layout: str) -> None:
    first = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(milliseconds=begin)
    moments = [first + timedelta(milliseconds=step) for step in (0, *steps)]
    found = moments_in([f"{each:{layout}}" for each in moments])
    assert found is not None
    assert found.seconds.tolist() == [pytest.approx(each.timestamp(), abs=1e-5) for each in moments]
