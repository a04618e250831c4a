"""A silent channel of a WAV file was read instead of the one that has sound."""

from __future__ import annotations

import wave
from pathlib import Path

import numpy as np

from protonn_edge.extensions.sensing.recordings.recorded import Recording, read_recording


def texts(recording: Recording, kind: str) -> list[str]:
    return [str(each) for each in recording.dataset.notices if each.kind == kind]


def sound(path: Path, *channels: np.ndarray) -> None:
    with wave.open(str(path), "wb") as file:
        file.setparams((len(channels), 2, 8000, 0, "NONE", ""))
        file.writeframes(np.stack(channels, axis=1).astype("<i2").tobytes())


LOUD = np.random.default_rng(0).integers(-20_000, 20_000, 400)
SILENT = np.zeros(400)


def test_the_channel_that_has_sound_is_read(tmp_path: Path) -> None:
    sound(tmp_path / "left.wav", LOUD, SILENT)
    sound(tmp_path / "right.wav", SILENT, LOUD)
    left = read_recording(tmp_path / "left.wav")
    right = read_recording(tmp_path / "right.wav")
    assert np.array_equal(left.samples, right.samples)
    assert np.ptp(left.samples) > 500
    assert texts(left, "wave_channels") == ["only the first of a WAV file's 2 channels is read"]
    assert texts(right, "wave_channels") == [
        "warning: channel 2 of a WAV file is read, because others are silent"
    ]


def test_a_file_of_silence_is_read_from_its_first_channel(tmp_path: Path) -> None:
    sound(tmp_path / "rest.wav", SILENT, SILENT)
    recording = read_recording(tmp_path / "rest.wav")
    assert set(recording.samples.ravel().tolist()) == {512}
    assert texts(recording, "wave_channels") == [
        "only the first of a WAV file's 2 channels is read"
    ]
