"""Boards with larger chips sample their sensors as an Uno does."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from avr_tools import needs_emulated_avr
from extensions.sensing.logger_builds import (
    assert_played,
    compile_logger,
    listening,
    noise,
    samples_of,
)
from model_factory import random_window_model, window_features_of

from protonn_edge.chips.avr.program import read_program
from protonn_edge.chips.boards import load_board
from protonn_edge.chips.emulator import EmulatedBoard
from protonn_edge.chips.toolchain.platformio import build_firmware
from protonn_edge.codegen.families.avr.code import AVRCode
from protonn_edge.codegen.planner import Limits, make_plan
from protonn_edge.extensions.sensing.described import sensor_kind
from protonn_edge.extensions.sensing.listener import AnswerStream
from protonn_edge.extensions.sensing.played import PlayedSensor
from protonn_edge.extensions.sensing.response import response_of
from protonn_edge.extensions.sensing.sampling import Sampling
from protonn_edge.extensions.sensing.sensor_projects import live_files
from protonn_edge.extensions.sensing.windowing import windowing_of
from protonn_edge.model.quantization import quantize
from protonn_edge.system.files import write_atomically

LARGER = ("mega2560", "leonardo", "atmega1284p")

pytestmark = needs_emulated_avr


@pytest.mark.parametrize("name", LARGER)
@pytest.mark.parametrize("sensors", [("a0", "a1", "a4", "a5"), ("lsm6ds3",)], ids=str)
def test_what_is_logged_is_what_is_played(
    tmp_path: Path, name: str, sensors: tuple[str, ...]
) -> None:
    kinds = [sensor_kind(each) for each in sensors]
    rows = noise(40, 6, kinds[0].low, kinds[0].high)
    elf = compile_logger(tmp_path, 100.0, *sensors, board=name)
    played = PlayedSensor(kinds[0], rows, 100.0)
    with EmulatedBoard(elf, board=load_board(name), sensors=[played]) as board:
        stream, found = samples_of(board.url, 60)
        assert board.stats().faults == ()
    pins = [kind.pin for kind in kinds]
    assert_played(found, rows if pins == [None] else rows[:, pins])
    assert (stream.torn, stream.lost, stream.lost_on_board) == (0, 0, 0)


SPI = """
title = "LIS3DH on SPI"
bus = "spi"
read_bits = 0xC0
id_register = 0x0F
ids = [0x33]
start = [[0x20, 0x57, "CTRL_REG1: all axes"], [0x23, 0x88, "CTRL_REG4", 5]]
data_register = 0x28
data_bytes = 6
byte_order = "little"
channels = ["ax", "ay", "az"]
units = "1/1000 g"
places = [0, 2, 4]
word = { shift = 4 }
sleeps = [0x20, 0xF0, 0x00]
"""


CONVERTER = """
title = "Converter of two channels"
bus = "spi"
pulses = 2
data_bytes = 6
byte_order = "big"
channels = ["left", "right"]
units = "256 counts of load"
places = [0, 3]
word = { bytes = 3, bits = 24, shift = 12 }
"""


@pytest.mark.parametrize("text", [SPI, CONVERTER], ids=["registers", "converter"])
@pytest.mark.parametrize("name", ["uno", *LARGER])
def test_a_chip_on_spi_is_logged(tmp_path: Path, name: str, text: str) -> None:
    path = tmp_path / "own.toml"
    path.write_text(text)
    kind = sensor_kind(str(path))
    rows = noise(40, len(kind.channels), -2048, 2047)
    elf = compile_logger(tmp_path, 100.0, str(path), board=name)
    played = PlayedSensor(kind, rows, 100.0)
    with EmulatedBoard(elf, board=load_board(name), sensors=[played]) as board:
        stream, found = samples_of(board.url, 60)
        assert board.stats().faults == ()
    assert_played(found, rows)
    assert (stream.torn, stream.lost, stream.lost_on_board) == (0, 0, 0)


@pytest.mark.parametrize("name", LARGER)
def test_windows_are_classified_within_the_bound(tmp_path: Path, name: str) -> None:
    on, kind = load_board(name), sensor_kind("adxl345")
    model = random_window_model(window_features_of("mean,max", 20, 3))
    windows = windowing_of(quantize(model), (), Sampling.of([kind], 200.0, on))
    for file, text in live_files(windows, make_plan(windows.model, Limits.of(on))).items():
        write_atomically(tmp_path / file, text.replace("-Wall -Wextra", "-Wall -Wextra -Werror"))
    elf = build_firmware(tmp_path, on.environment)
    assert 0 < response_of(AVRCode(read_program(elf)), windows).cycles < 20 * on.clock_hz / 200
    rows, answers, heard = noise(70, 3, 0, 255), [], AnswerStream()
    played = PlayedSensor(kind, rows, 200.0)
    with EmulatedBoard(elf, board=on, sensors=[played]) as board:
        with listening(board.url) as line:
            while len(answers) < 8:
                answers += heard.feed(line.read(20.0))
        assert board.stats().faults == ()
    at = np.array([answer.first + np.arange(20) for answer in answers]) % len(rows)
    Q = windows.model.raw_inputs.quantize(rows[at].reshape(len(answers), -1))
    assert np.array_equal([answer.scores for answer in answers], windows.model.scores(Q))
