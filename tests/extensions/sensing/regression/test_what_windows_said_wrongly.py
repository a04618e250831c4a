"""Rates of coarse clocks, test windows that were not written, windows larger than memory."""

from __future__ import annotations

import wave
from pathlib import Path

import numpy as np
import pytest
from command_line import run
from refusals import refuses

from protonn_edge.extensions.sensing.recordings.tested_takes import last_takes
from protonn_edge.extensions.sensing.recordings.time_units import seconds_of_a_unit


@pytest.mark.parametrize(("step", "unit"), [(20, 1e-3), (20_000, 1e-6), (20_000_000, 1e-9)])
def test_a_step_tells_its_unit(step: float, unit: float) -> None:
    assert seconds_of_a_unit("", step) == unit


def test_a_share_to_test_with_is_at_least_one_take() -> None:
    take_of, labels = np.repeat(np.arange(4), 5), np.repeat([0, 0, 1, 1], 5)
    assert np.unique(take_of[last_takes(take_of, labels, 0.2)]).tolist() == [1, 3]


def test_windows_larger_than_memory_are_refused(tmp_path: Path) -> None:
    for name in "ab":
        with wave.open(str(tmp_path / f"{name}.wav"), "wb") as sound:
            sound.setparams((1, 1, 8000, 0, "NONE", ""))
            sound.writeframes(bytes(range(256)) * 600)
    stated = ("-o", tmp_path / "w.npz", "--window", 60_000, "--stride", 1)
    refuses(run("windows", tmp_path, *stated), "data.recordings")


def test_a_sound_without_a_rate_is_refused(tmp_path: Path) -> None:
    with wave.open(str(tmp_path / "a.wav"), "wb") as sound:
        sound.setparams((1, 1, 8000, 0, "NONE", ""))
        sound.writeframes(bytes(2000))
    content = bytearray((tmp_path / "a.wav").read_bytes())
    content[24:28] = bytes(4)
    (tmp_path / "a.wav").write_bytes(content)
    done = run("windows", tmp_path / "a.wav", "-o", tmp_path / "w.npz", "--window", 20)
    refuses(done, "extensions.sensing.recordings.waves")
