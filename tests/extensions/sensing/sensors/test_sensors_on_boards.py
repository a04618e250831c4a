"""Each board records each kind of sensor sample by sample, and classifies its windows as NumPy."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from avr_tools import needs_emulated_avr
from chips.assembly.sources import assert_rules_hold, preprocessed
from extensions.sensing.logger_builds import (
    answers_of,
    assert_computed,
    assert_logged,
    compile_live,
    noise,
)
from model_factory import random_window_model, window_features_of

from protonn_edge.chips.avr.program import read_program
from protonn_edge.chips.boards import load_board
from protonn_edge.codegen.families.avr.code import AVRCode
from protonn_edge.data.points.instruments import Instrument
from protonn_edge.extensions.sensing.described import sensor_kind
from protonn_edge.extensions.sensing.response import response_of
from protonn_edge.extensions.sensing.sampling import Sampling
from protonn_edge.extensions.sensing.sensor_projects import logger_of
from protonn_edge.extensions.sensing.windowing import windowing_of
from protonn_edge.kinds.linear.train import LinearClassifier
from protonn_edge.model.quantization import quantize

LARGER = ("mega2560", "leonardo", "atmega1284p")
CHIPS = ("adxl345", "adxl345-spi", "lsm6ds3", "bmi160", "bme280", "hx711", "max30102")
WINDOW, WINDOWS = 8, 24

pytestmark = needs_emulated_avr


@pytest.mark.parametrize(
    ("board", "names", "rate"),
    [
        ("uno", ("mpu6050",), 100.0),
        ("uno", ("adxl345",), 800.0),
        ("uno", ("microphone",), 8000.0),
        ("uno", ("a1", "a2", "a3"), 50.0),
        *((board, ("a0", "a1", "a4", "a5"), 100.0) for board in LARGER),
        *((board, ("lsm6ds3",), 100.0) for board in LARGER),
    ],
    ids=str,
)
def test_what_is_logged_is_what_is_played(
    tmp_path: Path, board: str, names: tuple[str, ...], rate: float
) -> None:
    rows = 5_001 if rate > 1_000 else 501 if rate > 500 else 61
    about, _ = assert_logged(tmp_path, rate, *names, rows=rows, board=board)
    assert (about.rate, tuple(kind.name for kind in about.kinds)) == (rate, names)


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
@pytest.mark.parametrize("board", ["uno", *LARGER])
def test_a_chip_on_spi_is_logged(tmp_path: Path, board: str, text: str) -> None:
    path = tmp_path / "own.toml"
    path.write_text(text)
    assert_logged(tmp_path, 100.0, str(path), board=board)


@pytest.mark.parametrize(("more", "order"), [("", "big"), ("ids = [5]\n", "little")])
def test_a_chip_of_ones_own_is_found_at_its_second_address(
    tmp_path: Path, more: str, order: str
) -> None:
    text = (
        'title = "Own"\nbus = "i2c"\ndata_register = 0xFC\ndata_bytes = 4\n'
        f'byte_order = "{order}"\nchannels = ["x"]\nunits = "g"\nplaces = [1]\n'
        f"word = {{ bytes = 3, bits = 20, shift = 4 }}\n{more}"
    )
    logged, held = tmp_path / "own.toml", tmp_path / "held.toml"
    logged.write_text(f"{text}addresses = [0x30, 0x31]\n")
    held.write_text(f"{text}addresses = [0x31]\n")
    about, _ = assert_logged(tmp_path, 100.0, str(logged), held=str(held))
    assert (about.found, about.sensors) == (1, ("own",))


@pytest.mark.parametrize("name", CHIPS)
def test_a_chip_is_recorded_trained_on_and_classified(tmp_path: Path, name: str) -> None:
    kind, rng = sensor_kind(name), np.random.default_rng(0)
    rate = min(100.0, kind.rates[1])
    about, _ = assert_logged(tmp_path, rate, name)
    (sent,) = about.kinds
    assert (sent.name, sent.channel_units) == (name, kind.channel_units)
    labels = np.arange(WINDOWS) % 2
    middle = (kind.low + kind.high) // 2 + 5_000 * np.repeat(labels, WINDOW)
    around = rng.integers(-800, 800, (len(middle), len(kind.channels)))
    played = (middle[:, None] + around).astype(np.int16)
    shape = WINDOW, len(kind.channels)
    classifier = LinearClassifier(features="mean", window_shape=shape, random_state=0)
    model = classifier.fit(played.reshape(WINDOWS, -1), labels).model_
    windows = windowing_of(
        quantize(model),
        model.feature_names,
        Sampling.of([kind], rate, load_board("uno")),
        instrument=Instrument(kind.name, kind.channel_units),
    )
    answers = answers_of(compile_live(tmp_path, windows), windows, played, WINDOWS)[:WINDOWS]
    assert [answer.first for answer in answers] == list(range(0, len(middle), WINDOW))
    assert_computed(windows, answers, played)
    assert [answer.label for answer in answers] == labels.tolist()


@pytest.mark.parametrize("board", LARGER)
def test_windows_are_classified_within_the_bound(tmp_path: Path, board: str) -> None:
    on, kind = load_board(board), sensor_kind("adxl345")
    model = random_window_model(window_features_of("mean,max", 20, 3))
    windows = windowing_of(quantize(model), (), Sampling.of([kind], 200.0, on))
    elf = compile_live(tmp_path, windows, board)
    assert 0 < response_of(AVRCode(read_program(elf)), windows).cycles < 20 * on.clock_hz / 200
    rows = noise(70, 3, 0, 255)
    assert_computed(windows, answers_of(elf, windows, rows, 8, board), rows)


def test_assembly_in_loggers_keeps_its_rules(tmp_path: Path) -> None:
    logger = logger_of([sensor_kind("adxl345")], 100.0, load_board("uno"))
    (tmp_path / "main.c").write_text(logger.firmware()["src/main.c"])
    assert assert_rules_hold(preprocessed(tmp_path / "main.c")) > 0
