"""The timer's settings for a sampling rate: the data sheet's prescalers and bits."""

from __future__ import annotations

import pytest

from protonn_edge.boards import load_board
from protonn_edge.sensors import sensor_kind
from protonn_edge.sensors.sampling import Sampling


@pytest.mark.parametrize(
    ("rate", "prescaler", "bits", "steps"),
    [
        (1_000, 1, "_BV(CS10)", 16_000),
        (200, 8, "_BV(CS11)", 10_000),
        (20, 64, "_BV(CS11) | _BV(CS10)", 12_500),
        (2, 256, "_BV(CS12)", 31_250),
        (0.5, 1_024, "_BV(CS12) | _BV(CS10)", 31_250),
    ],
)
def test_each_rate_has_the_finest_prescaler_that_16_bits_of_steps_allow(
    rate: float, prescaler: int, bits: str, steps: int
) -> None:
    sampling = Sampling.of([sensor_kind("a0")], rate, load_board("uno"))
    assert sampling.timer == (prescaler, bits, steps)
    assert sampling.period_cycles == prescaler * steps
    assert sampling.actual_rate == rate
