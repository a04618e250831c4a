"""Each bundled chip is recorded, trained on, and classified on the emulated board."""

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

from protonn_edge.chips.boards import load_board
from protonn_edge.chips.emulator import EmulatedUno
from protonn_edge.chips.toolchain.platformio import build_firmware
from protonn_edge.codegen.planner import make_plan
from protonn_edge.data.instruments import Instrument
from protonn_edge.extensions.sensing.described import sensor_kind
from protonn_edge.extensions.sensing.listener import AnswerStream
from protonn_edge.extensions.sensing.played import PlayedSensor
from protonn_edge.extensions.sensing.sampling import Sampling
from protonn_edge.extensions.sensing.sensor_projects import live_files
from protonn_edge.extensions.sensing.windowing import windowing_of
from protonn_edge.kinds.linear.train import LinearClassifier
from protonn_edge.model.quantization import quantize
from protonn_edge.system.files import write_atomically

RATE, WINDOW, WINDOWS = 100.0, 8, 24


@needs_emulated_avr
@pytest.mark.parametrize(
    "name", ["adxl345", "adxl345-spi", "lsm6ds3", "bmi160", "bme280", "hx711", "max30102"]
)
def test_a_chip_is_recorded_trained_on_and_classified(tmp_path: Path, name: str) -> None:
    kind, rng = sensor_kind(name), np.random.default_rng(0)
    rate = min(RATE, kind.rates[1])
    labels = np.arange(WINDOWS) % 2
    middle = (kind.low + kind.high) // 2 + 5_000 * np.repeat(labels, WINDOW)
    around = rng.integers(-800, 800, (len(middle), len(kind.channels)))
    played = PlayedSensor(kind, (middle[:, None] + around).astype(np.int16), rate)

    with EmulatedUno(compile_logger(tmp_path, rate, name), sensors=[played]) as board:
        stream, pieces = samples_of(board.url, len(middle))
        assert board.stats().faults == ()
    assert_played(pieces, played.values)
    assert (stream.torn, stream.lost, stream.lost_on_board) == (0, 0, 0)
    assert stream.description is not None
    (sent,) = stream.description.kinds
    assert (sent.name, sent.channel_units) == (name, kind.channel_units)

    X = np.concatenate([piece.values for piece in pieces])[: len(middle)].reshape(WINDOWS, -1)
    shape = WINDOW, len(kind.channels)
    classifier = LinearClassifier(features="mean", window_shape=shape, random_state=0)
    model = classifier.fit(X, labels).model_
    windows = windowing_of(
        quantize(model),
        model.feature_names,
        Sampling.of([kind], rate, load_board("uno")),
        instrument=Instrument(kind.name, kind.channel_units),
    )
    for file, text in live_files(windows, make_plan(windows.model)).items():
        write_atomically(tmp_path / file, text.replace("-Wall -Wextra", "-Wall -Wextra -Werror"))
    answers, heard = [], AnswerStream()
    with EmulatedUno(build_firmware(tmp_path), sensors=[played]) as board:
        with listening(board.url) as line:
            while len(answers) < WINDOWS:
                answers += heard.feed(line.read(20.0))
        assert board.stats().faults == ()
    assert heard.description is not None
    assert (heard.description.sensor, heard.description.channels) == (name, kind.channels)
    assert [answer.first for answer in answers[:WINDOWS]] == list(range(0, len(middle), WINDOW))
    scores = windows.model.scores(windows.model.raw_inputs.quantize(X))
    assert np.array_equal([answer.scores for answer in answers[:WINDOWS]], scores)
    assert [answer.label for answer in answers[:WINDOWS]] == labels.tolist()


@needs_emulated_avr
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
    played = PlayedSensor(sensor_kind(str(held)), noise(50, 1), RATE)
    with EmulatedUno(compile_logger(tmp_path, RATE, str(logged)), sensors=[played]) as board:
        stream, pieces = samples_of(board.url, 60)
        assert board.stats().faults == ()
    assert_played(pieces, played.values)
    assert stream.description is not None
    assert (stream.description.found, stream.description.sensors) == (1, ("own",))
