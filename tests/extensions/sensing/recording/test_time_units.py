"""The unit of times, and rates."""

from __future__ import annotations

import pytest

from protonn_edge.extensions.sensing.recordings.time_units import hertz, seconds_of_a_unit


@pytest.mark.parametrize(
    ("name", "step", "first", "seconds"),
    [
        ("t (s)", 20, 0, 1.0),
        ("t (ms)", 0.02, 0, 1e-3),
        ("seconds", 20, 0, 1.0),
        ("elapsed_ms", 20, 0, 1e-3),
        ("time_us", 20, 0, 1e-6),
        ("time (µs)", 20, 0, 1e-6),
        ("timestamp_ns", 20, 0, 1e-9),
        ("millis", 20, 0, 1e-3),
        ("micros", 20_000, 0, 1e-6),
        ("time", 0.02, 0, 1.0),
        ("time", 0.02, 1.7e9, 1.0),
        ("time", 20, 0, 1e-3),
        ("time", 2_500, 0, 1e-6),
        ("time", 20_000_000, 1.7e18, 1e-9),
        ("time", 2.3e-7, 45_000.5, 86_400.0),  # of a spreadsheet
        ("time", 1, 0, None),
        ("time", 0.7, 0, None),
        ("time", 16.5, 0, 1e-3),  # the median of 16 and 17
        ("time (fortnights)", 20, 0, None),
        ("", 20, 0, 1e-3),
        ("", 20_000, 0, 1e-6),
        ("", 20_000_000, 0, 1e-9),
    ],
)
def test_the_unit_of_times_follows_from_the_name_or_the_step(
    name: str, step: float, first: float, seconds: float | None
) -> None:
    assert seconds_of_a_unit(name, step, first) == seconds


def test_a_rate_is_rounded_to_few_digits() -> None:
    assert hertz(0.05000123, 1e-3) == 50
