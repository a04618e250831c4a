"""A sensor that the firmware does not read is not played; windows of sound have own limits."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from command_line import refusal, run
from refusals import refused_by

from protonn_edge.extensions.sensing.described import sensor_kind
from protonn_edge.extensions.sensing.played import PlayedSensor, check_read


def played(name: str) -> PlayedSensor:
    kind = sensor_kind(name)
    return PlayedSensor(kind, np.zeros((1, len(kind.channels)), np.int16), 100.0)


@pytest.mark.parametrize(
    ("name", "reads"),
    [
        ("mpu6050", ["mpu6050"]),
        ("microphone", ["microphone"]),
        ("a0", ["microphone"]),
        ("microphone", ["a0"]),
        ("a1", ["a0", "a1"]),
        ("a1", ["analog"]),
    ],
)
def test_what_is_read_is_played(name: str, reads: list[str]) -> None:
    check_read([played(name)], reads)


@pytest.mark.parametrize(
    ("name", "reads"),
    [
        ("mpu6050", ["microphone"]),
        ("mpu6050", ["analog"]),
        ("adxl345", ["mpu6050"]),
        ("a1", ["microphone"]),
        ("a1", ["a0"]),
    ],
)
def test_what_is_not_read_is_refused(name: str, reads: list[str]) -> None:
    with refused_by("extensions.sensing.played"):
        check_read([played(name)], reads)


def test_the_limit_of_a_window_of_one_channel_is_that_of_sound(tmp_path: Path) -> None:
    path = tmp_path / "sound.csv"
    path.write_text("x,label\n" + "".join(f"{i % 7},{'ab'[i // 50]}\n" for i in range(100)))
    done = run("windows", path, "-o", tmp_path / "w.npz", "--window", 99_999)
    assert "--window: 99,999 samples, expected at most 65,000" in refusal(done)
    done = run("windows", path, "-o", tmp_path / "w.npz", "--window", 20)
    assert "20 samples of 1 channel: x" in done.stdout
