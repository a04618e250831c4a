"""The timer's settings for a sampling rate: the data sheet's prescalers and bits."""

from __future__ import annotations

import pytest

from protonn_edge.chips.boards import load_board
from protonn_edge.extensions.sensing.described import sensor_kind
from protonn_edge.extensions.sensing.sampling import Sampling, used_channels
from protonn_edge.system.errors import InputError


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


@pytest.mark.parametrize("board", ["uno", "promini8", "mega2560", "leonardo"])
@pytest.mark.parametrize(("rate", "most_khz"), [(1_000, 200), (8_000, 400)])
def test_the_converters_clock_is_one_of_the_data_sheet(
    board: str, rate: float, most_khz: int
) -> None:
    """From 50 to 200 kHz for all 10 bits; twice as fast for what is sampled as sound is."""
    sampling = Sampling.of([sensor_kind("a0")], rate, load_board(board))
    context = sampling.context(115_200)
    clock_khz = sampling.board.clock_hz / 1_000 / 2 ** int(str(context["adc_prescaler_bits"]))
    assert most_khz / 4 <= clock_khz <= most_khz
    assert context["conversion_us"] == pytest.approx(13_000 / clock_khz)


def test_channels_with_other_names_are_refused_with_an_option_that_renames_all_of_them() -> None:
    sampling = Sampling.of([sensor_kind("mpu6050")], 50, load_board("uno"))
    with pytest.raises(InputError) as refused:
        used_channels(sampling, ["accX", "accY", "accZ"], 3)
    renamed = "ax=accX,ay=accY,az=accZ"
    assert renamed in str(refused.value)
    names = [each.partition("=")[0] for each in renamed.split(",")]
    assert used_channels(sampling, names, 3) == ((0, 1, 2), ())
