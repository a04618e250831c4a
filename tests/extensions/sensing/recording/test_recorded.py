"""Recordings of sound as WAV files."""

from __future__ import annotations

import wave
from pathlib import Path

import numpy as np
import pytest
from refusals import refused_by

from protonn_edge.data.options import TableOptions
from protonn_edge.extensions.sensing.recordings.recorded import read_recording
from protonn_edge.system.errors import InputError


def write_wave(path: Path, values: np.ndarray, *, width: int = 2, rate: int = 8000) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with wave.open(str(path), "wb") as file:
        file.setnchannels(values.shape[1])
        file.setsampwidth(width)
        file.setframerate(rate)
        file.writeframes(values.astype("<i2" if width == 2 else np.uint8).tobytes())


# --- sound ---------------------------------------------------------------------------------------


def test_sound_is_in_the_counts_of_an_analog_input(tmp_path: Path) -> None:
    loud = np.array([[0, 9], [32767, 9], [-32768, 9]])
    write_wave(tmp_path / "hum" / "1.wav", loud)
    write_wave(tmp_path / "beep" / "1.wav", np.array([[128], [255], [0]]), width=1)
    recording = read_recording(tmp_path)
    assert recording.samples[:, 0].tolist() == [512, 1020, 0, 512, 1023, 0]
    assert (recording.channels, recording.rate) == (("microphone",), 8000)


def test_files_of_other_rates_are_refused(tmp_path: Path) -> None:
    write_wave(tmp_path / "hum.wav", np.zeros((4, 1)))
    write_wave(tmp_path / "beep.wav", np.zeros((4, 1)), rate=16000)
    with refused_by("extensions.sensing.recordings.timing"):
        read_recording(tmp_path)


def test_faster_wav_files_are_sampled_as_by_an_analog_input(tmp_path: Path) -> None:
    for name, rate, hertz in (("hum", 44_100, 300), ("hiss", 16_000, 7_500), ("beep", 8_000, 500)):
        tone = 20_000 * np.sin(2 * np.pi * hertz * np.arange(rate) / rate)
        write_wave(tmp_path / f"{name}.wav", tone[:, None], rate=rate)
    recording = read_recording(tmp_path, TableOptions(sample_rate=8000))
    assert recording.rate == 8000
    beep, hiss, hum = recording.samples.reshape(3, 8000)
    # there is no filter, so 7,500 Hz sound like 500 Hz
    for sound, hertz in ((hum, 300), (hiss, 500), (beep, 500)):
        spectrum = np.abs(np.fft.rfft(sound - 512))
        assert spectrum.argmax() == hertz
        assert spectrum[hertz] / 4000 == pytest.approx(20_000 / 64, rel=0.01)
    # slower files stay as they are
    with pytest.raises(InputError, match="use --rate 8000 for all"):
        read_recording(tmp_path, TableOptions(sample_rate=16_000))


def test_a_recording_may_be_shorter_than_the_time_of_a_sample(tmp_path: Path) -> None:
    write_wave(tmp_path / "hum.wav", np.zeros((4, 1)))
    with refused_by("extensions.sensing.recordings.recorded"):
        read_recording(tmp_path, TableOptions(sample_rate=0.001))


def test_one_wav_file_has_one_class(tmp_path: Path) -> None:
    write_wave(tmp_path / "hum.1.wav", np.arange(8)[:, None])
    assert read_recording(tmp_path / "hum.1.wav").dataset.classes == ("hum",)


# --- tables --------------------------------------------------------------------------------------


# --- tables --------------------------------------------------------------------------------------


def test_sessions_that_differ_in_blanks_alone_are_one(tmp_path: Path) -> None:
    path, wave_of = tmp_path / "steps.csv", np.sin(np.arange(60) / 3)
    names = ["anna", "anna ", "anna", "anna ", "ben", "ben"]
    rows = [
        f"{t / 50:.2f},{x:.3f},{'walk' if t < 30 else 'run'},{names[t // 10]}"
        for t, x in enumerate(wave_of)
    ]
    path.write_text("\n".join(["time,x,label,session", *rows]) + "\n")
    recording = read_recording(path, TableOptions(label="label", session="session"))
    assert np.flatnonzero(recording.begins).tolist() == [40]


def test_a_number_far_from_all_others_is_noticed_in_a_recording(tmp_path: Path) -> None:
    path, wave_of = tmp_path / "speeds.csv", np.sin(np.arange(400) / 3)
    speeds = [f"{5 + x / 3:.3f}" for x in wave_of]
    speeds[77] = "1000000.5"
    rows = [f"{t / 50:.2f},{x:.3f},{speeds[t]}" for t, x in enumerate(wave_of)]
    path.write_text("\n".join(["time,x,speed", *rows]) + "\n")
    recording = read_recording(path, TableOptions(label="speed"), "value")
    assert "far_label" in [each.kind for each in recording.dataset.notices if each.warning]
