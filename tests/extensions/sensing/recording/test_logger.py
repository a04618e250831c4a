"""A logger samples at a steady rate and sends each sample as it is, with its number."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from avr_tools import needs_emulated_avr
from extensions.sensing.logger_builds import (
    compile_logger,
    listening,
    noise,
    samples_of,
)
from refusals import refused_by

from protonn_edge.chips.boards import load_board
from protonn_edge.chips.emulator import EmulatedUno
from protonn_edge.extensions.sensing.described import sensor_kind
from protonn_edge.extensions.sensing.played import PlayedSensor
from protonn_edge.extensions.sensing.recorder import Recorder
from protonn_edge.extensions.sensing.sensor_projects import logger_of
from protonn_edge.system.errors import CheckFailed, InputError


@needs_emulated_avr
def test_each_sample_that_a_stuck_bus_costs_is_counted(tmp_path: Path) -> None:
    begin = "TWCR = BUS_GOES_ON | _BV(TWIE) | _BV(TWSTA);"
    stuck = f"if (ticks < 20 || ticks > 30) {{ {begin} }}"
    elf = compile_logger(tmp_path, 100.0, "adxl345", change=(begin, stuck))
    played = noise(100, 3)
    with EmulatedUno(elf, sensors=[PlayedSensor(sensor_kind("adxl345"), played, 100.0)]) as uno:
        stream, found = samples_of(uno.url, 60)
        assert uno.stats().faults == ()
    numbers = np.concatenate([piece.first + np.arange(len(piece.values)) for piece in found])
    assert set(range(60)) - set(numbers.tolist()) == set(range(20, 32))
    assert stream.lost == stream.lost_on_board == 12


@needs_emulated_avr
def test_a_sensor_that_does_not_answer_is_told(tmp_path: Path) -> None:
    with (
        EmulatedUno(compile_logger(tmp_path, 100.0, "mpu6050")) as uno,
        listening(uno.url) as line,
        refused_by("extensions.sensing.sensor_board", kind=CheckFailed),
    ):
        Recorder(line, uno.url).wait()


@pytest.mark.parametrize(
    ("names", "rate", "more"),
    [
        (["mpu6050", "a0"], 100, {}),
        (["a0", "A0"], 100, {}),
        (["mpu6050"], 2000, {}),
        (["microphone"], 10000, {}),
        (["a0", "a1"], 8000, {}),
        (["a0"], 0.1, {}),
        (["microphone"], 8000, {"baud": 115200}),
        (["a0"], 10, {"baud": 920000}),
    ],
)
def test_what_cannot_be_kept_is_refused(
    names: list[str], rate: float, more: dict[str, int]
) -> None:
    with refused_by("extensions.sensing.sampling"):
        logger_of([sensor_kind(name) for name in names], rate, load_board("uno"), **more)


def test_a_board_with_another_chip_is_refused() -> None:
    with pytest.raises(InputError) as caught:
        logger_of([sensor_kind("a0")], 10, replace(load_board("uno"), mcu="atmega88p"))
    assert "choose another board with --board (atmega1284p, leonardo," in str(caught.value)
    assert "'protonn-edge export'" in str(caught.value)


def test_a_line_that_is_too_slow_is_made_faster() -> None:
    uno = load_board("uno")
    assert logger_of([sensor_kind("microphone")], 8000, uno).baud == 250_000
    assert logger_of([sensor_kind("mpu6050")], 100, uno).baud == 115_200


def test_the_rate_is_that_of_the_timer() -> None:
    logger = logger_of([sensor_kind("a0")], 60, load_board("uno"))
    assert logger.sampling.actual_rate == 16_000_000 / (8 * 33_333)
