"""What an emulated sensor plays is read from CSV and WAV files, or refused with a sentence."""

from __future__ import annotations

import wave
from pathlib import Path

import numpy as np
import pytest
from refusals import refused_by

from protonn_edge.chips.emulator.replayed import packed_sensors
from protonn_edge.extensions.sensing.described import sensor_kind
from protonn_edge.extensions.sensing.played import PlayedSensor, read_sensor

TABLE = "label,session,time,ax,ay,az\nrest,s,0,1,-2,3\nrest,s,0.01,4,5,-32768\n"


def read(folder: Path, name: str, content: str, more: str = "") -> PlayedSensor:
    path = folder / "sensor.csv"
    path.write_text(content)
    return read_sensor(f"{name}={path}{more}")


def test_columns_that_are_no_channels_are_not_played(tmp_path: Path) -> None:
    sensor = read(tmp_path, "adxl345", TABLE, ",rate=100")
    assert sensor.values.tolist() == [[1, -2, 3], [4, 5, -32768]]
    assert sensor.rate == 100


@pytest.mark.parametrize("title", ["time", "timestamp", "ms", "Millis", "unix_time_ms", "User ID"])
def test_a_clock_or_person_is_not_played(tmp_path: Path, title: str) -> None:
    sensor = read(tmp_path, "A3", f"{title},light,label\n40000,5,dark\n40020,6,dark\n", ",rate=50")
    assert sensor.values.tolist() == [[5], [6]]


def test_a_comment_says_the_rate_and_the_option_another(tmp_path: Path) -> None:
    text = "# made up, rate: 12.5 Hz\nlight\n5\n6\n"
    assert read(tmp_path, "A3", text).rate == 12.5
    assert read(tmp_path, "A3", text, ",rate=20").rate == 20


@pytest.mark.parametrize(("width", "loudest"), [(1, [0, 512, 1020]), (2, [0, 512, 1023])])
def test_a_wav_file_fills_the_range_of_an_analog_input(
    tmp_path: Path, width: int, loudest: list[int]
) -> None:
    kind, full = (np.uint8, [0, 128, 255]) if width == 1 else (np.int16, [-32768, 0, 32767])
    path = tmp_path / "word.wav"
    with wave.open(str(path), "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(width)
        file.setframerate(8000)
        file.writeframes(np.array(full, kind).tobytes())
    sensor = read_sensor(f"microphone={path}")
    assert sensor.values[:, 0].tolist() == loudest
    assert sensor.rate == 8000


@pytest.mark.parametrize(
    ("name", "content", "more"),
    [
        ("a6", "x\n1\n", ",rate=1"),
        ("dht22", "x\n1\n", ",rate=1"),
        ("a0", "x\n1\n", ""),
        ("a0", "x\n1\n", ",rate=fast"),
        ("a0", "x\n1\n", ",rate=0"),
        ("a0", "x\n1024\n", ",rate=1"),
        ("a0", "x\n0.5\n", ",rate=1"),
        ("a0", "x\n99999\n", ",rate=1"),
        ("a0", "x,y\n1\n", ",rate=1"),
        ("a0", "x\n", ",rate=1"),
        ("a5", "x,y\n1,2\n", ",rate=1"),
        ("mpu6050", "x,y\n1,2\n", ",rate=1"),
    ],
)
def test_what_a_sensor_cannot_play_is_refused(
    tmp_path: Path, name: str, content: str, more: str
) -> None:
    with refused_by("extensions.sensing.described", "extensions.sensing.played"):
        read(tmp_path, name, content, more)


def test_a_file_that_is_no_wav_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "word.wav"
    path.write_text("RIFF")
    with refused_by("extensions.sensing.recordings.waves"):
        read_sensor(f"microphone={path}")


def test_two_sensors_do_not_share_an_input() -> None:
    two = PlayedSensor(sensor_kind("a0"), np.zeros((1, 2), np.int16), 1.0)
    other = PlayedSensor(sensor_kind("a1"), np.zeros((1, 1), np.int16), 1.0)
    motion = PlayedSensor(sensor_kind("mpu6050"), np.zeros((1, 6), np.int16), 1.0)
    packed_sensors([two, motion], range(6))
    for pair in ([two, other], [motion, motion]):
        with refused_by("chips.emulator.replayed"):
            packed_sensors(pair, range(6))
