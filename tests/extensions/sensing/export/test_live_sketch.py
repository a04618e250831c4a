"""A sketch that classifies what its sensor senses: no warning, and the integer model's classes."""

from __future__ import annotations

import dataclasses
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from arduino_ide import build_sketch, export_for_uno, needs_arduino_core
from chains import replace as with_numbers
from extensions.sensing.logger_builds import listening
from extensions.sound.audio_factory import audio_of, hearing, random_audio_model
from model_factory import random_window_model, window_features_of
from refusals import refused_by

from protonn_edge.chips.boards import load_board
from protonn_edge.chips.emulator import EmulatedUno
from protonn_edge.data.naming import answer_name
from protonn_edge.extensions.sensing.described import sensor_kind
from protonn_edge.extensions.sensing.played import PlayedSensor
from protonn_edge.extensions.sensing.sampling import Sampling
from protonn_edge.extensions.sensing.sensor_kinds import MICROPHONE
from protonn_edge.extensions.sensing.stream_classes import reporter_of
from protonn_edge.extensions.sensing.windowing import Windowing, windowing_of
from protonn_edge.extensions.sound.onset import onsets_of
from protonn_edge.extensions.teaching.board import with_taught
from protonn_edge.extensions.teaching.examples import Taught
from protonn_edge.model.integer_chain import coordinates
from protonn_edge.model.model import Model
from protonn_edge.model.quantization import quantize
from protonn_edge.policy.confidence.voting import UNDECIDED, shares_of
from protonn_edge.system.errors import CheckFailed

UNO = load_board("uno")


def moving(model: Model, samples: int) -> np.ndarray:
    """Return raw samples over all of what the model tells apart."""
    stage = model.features
    assert stage is not None
    low, step, channels = stage.points.scale.zero, stage.points.scale.step, stage.points.shape[1]
    rng = np.random.default_rng(samples)
    slow = np.sin(np.arange(samples)[:, None] / rng.uniform(4, 60, channels))
    spread = 100 * slow + rng.normal(0, 25, (samples, channels))
    return np.rint(low + step * np.clip(128 + spread, 0, 255)).astype(np.int16)


def windowing(model: Model, sensors: list[str], rate: float, **more: object) -> Windowing:
    sampling = Sampling.of([sensor_kind(name) for name in sensors], rate, UNO)
    return windowing_of(quantize(model), (), sampling, **more)  # type: ignore[arg-type]


def printed_lines(url: str, count: int) -> list[str]:
    text = b""
    with listening(url) as line:
        while text.count(b"\n") <= count:
            data = line.read(20.0)
            assert data, "the board fell silent"
            text += data
    return text.decode().split("\r\n")[:count]


def expected_lines(windows: Windowing, raw: np.ndarray, count: int) -> list[str]:
    """Return what the sketch prints of windows of raw samples that are played again and again."""
    reference, lines = windows.model, []
    reporter = reporter_of(windows)
    for first in range(0, count * windows.hop, windows.hop):
        at = np.arange(first, first + windows.window) % len(raw)
        Q = reference.raw_inputs.quantize(raw[at][:, windows.used].reshape(1, -1))
        (label,), scores = reference.answers(Q)
        lines.append(f"{reference.classes[label]} {scores[0, label]}")
        (shares,) = shares_of(reference.policy, np.array([label]), scores)
        if reporter.report(int(label), shares, first + windows.window):
            lines.append(f"=> {answer_name(reference.classes, reporter.reported)}")
    assert reporter.reported != UNDECIDED
    return lines[:count]


@needs_arduino_core
@pytest.mark.parametrize(
    ("sensors", "rate", "more"),
    [
        (["mpu6050"], 100.0, {"hop": 9, "votes": 3, "refractory_s": 0.3}),
        (["a0", "a1"], 50.0, {}),
        (["adxl345"], 400.0, {"hop": 37}),
    ],
)
def test_a_sketch_tells_the_classes_of_what_is_played(
    arduino_core: Path, tmp_path: Path, sensors: list[str], rate: float, more: dict[str, object]
) -> None:
    kind = sensor_kind(sensors[0])
    channels = len(kind.channels) if kind.pin is None else len(sensors)
    model = random_window_model(window_features_of("mean,deviation,crossings", 24, channels))
    windows = windowing(model, sensors, rate, **more)
    export_for_uno(model, "arduino", tmp_path / "motion", windowing=windows)
    elf = build_sketch(tmp_path / "motion", "Live", arduino_core, tmp_path / "out")
    raw = moving(model, 170)
    raw = np.clip(raw, kind.low, kind.high)
    with EmulatedUno(elf, sensors=[PlayedSensor(kind, raw, rate)]) as uno:
        assert printed_lines(uno.url, 16) == expected_lines(windows, raw, 16)
        assert uno.stats().faults == ()


@needs_arduino_core
def test_a_sketch_tells_each_word_once_and_of_lost_samples(
    arduino_core: Path, tmp_path: Path
) -> None:
    model = replace(
        random_audio_model(hearing(audio_of(4, 8, 128))), raw_exponents=np.zeros(1, np.int64)
    )
    windows = windowing(model, ["microphone"], 8000.0)
    export_for_uno(model, "arduino", tmp_path / "words", windowing=windows)
    sketch = tmp_path / "words" / "examples" / "Live" / "Live.ino"
    sketch.write_text(
        sketch.read_text().replace("begin_timer();\n}", "begin_timer();\n    lost = 7;\n}")
    )
    elf = build_sketch(tmp_path / "words", "Live", arduino_core, tmp_path / "out")
    t = np.arange(1500)
    quiet = np.full(2500, 512)
    word = 512 + np.rint(300 * np.sin(t / 3)).astype(int)
    played = np.concatenate([quiet, word]).astype(np.int16)
    with EmulatedUno(elf, sensors=[PlayedSensor(MICROPHONE, played[:, None], 8000.0)]) as uno:
        lines = printed_lines(uno.url, 9)
        assert uno.stats().faults == ()
    heard = np.tile((played >> 2).astype(np.uint8), 4)
    Q = np.array([heard[at : at + 1024] for at in onsets_of(heard, 1024, 4)])
    scores, labels = windows.model.scores(Q), windows.model.predict(Q)
    expected = []
    for label, row in zip(labels.tolist(), scores.tolist(), strict=True):
        name = windows.model.classes[label]
        expected += [f"{name} {row[label]}", f"=> {name}"]
    assert [line for line in lines if line != "lost samples: 7"] == expected[:8]
    assert len(lines) == 9


@needs_arduino_core
def test_a_sketch_learns_the_window_that_begins_after_a_press(
    arduino_core: Path, tmp_path: Path
) -> None:
    floats = with_numbers(
        random_window_model(window_features_of("mean,deviation,crossings", 24, 6)), teachable=5
    )
    windows = windowing(floats, ["mpu6050"], 100.0, hop=9)
    export_for_uno(floats, "arduino", tmp_path / "motion", windowing=windows)
    sketch = tmp_path / "motion" / "examples" / "LiveButtons" / "LiveButtons.ino"
    pressed = "\n#define digitalRead(pin) ((pin) == 3 && millis() - 1000 < 200 ? LOW : HIGH)\n"
    sketch.write_text(
        sketch.read_text().replace("#include <motion.h>\n", f"#include <motion.h>{pressed}")
    )
    elf = build_sketch(tmp_path / "motion", "LiveButtons", arduino_core, tmp_path / "out")
    raw = np.clip(moving(floats, 170), -32768, 32767)
    with EmulatedUno(elf, sensors=[PlayedSensor(sensor_kind("mpu6050"), raw, 100.0)]) as uno:
        lines = [line for line in printed_lines(uno.url, 40) if not line.startswith("=>")]
        assert uno.stats().faults == ()
    taught = lines.index("learned; examples of this class: 1")
    assert lines.count("learned; examples of this class: 1") == 1
    first = 9 * (taught - 1)
    assert 0.8 < first / 100 < 1.3  # it begins when the button was pressed, some time after setup
    at = np.arange(first, first + 24) % len(raw)
    Q = windows.model.raw_inputs.quantize(raw[at][:, windows.used].reshape(1, -1))
    point = coordinates(windows.model, Q).astype(np.int8)
    model = with_taught(windows.model, Taught(point, np.array([1], np.uint8)))
    after = [*lines[:taught], *lines[taught + 1 :]]
    known = [line for line in expected_lines(windows, raw, 99) if not line.startswith("=>")]
    assert after[:taught] == known[:taught]
    then = expected_lines(dataclasses.replace(windows, model=model), raw, 99)
    assert (
        after[taught:] == [line for line in then if not line.startswith("=>")][taught : len(after)]
    )


SPI = """
title = "LIS3DH"
bus = "spi"
read_bits = 0xC0
id_register = 0x0F
ids = [0x33]
data_register = 0x28
data_bytes = 6
byte_order = "little"
channels = ["x", "y", "z"]
units = "1/1000 g"
places = [0, 2, 4]
sleeps = [0x20, 0xF0, 0x00]
"""


def test_another_chip_is_refused_before_a_header_that_it_lacks(tmp_path: Path) -> None:
    """On other chips, "util/atomic.h: No such file" hid the sentence that leads on."""
    model = random_window_model(window_features_of("mean", 24, 6))
    export_for_uno(model, "arduino", tmp_path / "a", windowing=windowing(model, ["mpu6050"], 100.0))
    sketch = (tmp_path / "a" / "examples" / "Live" / "Live.ino").read_text()
    refusal = sketch.split("#include")[0].split("#error")[1]
    assert "on a chip that is not an AVR, read the sensor yourself, as" in refusal


@pytest.mark.parametrize(
    ("sensor", "channels", "room", "sketches"),
    [
        ("mpu6050", 6, 5, ["Live", "LiveButtons"]),
        ("mpu6050", 6, 0, ["Live"]),
        ("spi.toml", 3, 5, ["Live"]),
    ],
)
def test_sketches_have_what_their_board_can_do(
    sensor: str, channels: int, room: int, sketches: list[str], tmp_path: Path
) -> None:
    """A board with an EEPROM for examples recalls them; buttons are where their pins are free."""
    (tmp_path / "spi.toml").write_text(SPI)
    model = random_window_model(window_features_of("mean", 24, channels))
    made = with_numbers(model, teachable=room) if room else model
    name = str(tmp_path / sensor) if sensor.endswith(".toml") else sensor
    windows = windowing(made, [name], 100.0)
    export_for_uno(made, "arduino", tmp_path / "motion", windowing=windows)
    found = sorted(path.name for path in (tmp_path / "motion" / "examples").glob("Live*"))
    assert found == sketches
    sketch = (tmp_path / "motion" / "examples" / "Live" / "Live.ino").read_text()
    assert ("    pnn_recall();" in sketch) == (room > 0)
    assert ("LiveButtons" in (tmp_path / "motion" / "README.md").read_text()) == (len(found) > 1)


def test_a_ring_that_does_not_fit_is_refused(tmp_path: Path) -> None:
    model = random_window_model(window_features_of("mean,max", 256, 6))
    with refused_by("codegen.export.exporting", kind=CheckFailed):
        export_for_uno(
            model,
            "arduino",
            tmp_path / "motion",
            windowing=windowing(model, ["mpu6050"], 100.0, hop=64),
        )
