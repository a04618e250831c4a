"""Windows spanned gaps, blank lines and two takes; rates were halved; a silent channel was read."""

from __future__ import annotations

import wave
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from command_line import refusal, run, run_json, succeed

from protonn_edge.datasets.options import TableOptions
from protonn_edge.datasets.recorded import Recording, read_recording

NOISE = [f"{x},{y}" for x, y in np.random.default_rng(0).normal(0, 9, (120, 2)).round(2)]


def write(path: Path, header: str, rows: Sequence[str]) -> Path:
    path.write_text("\n".join([header, *rows]) + "\n", "utf-8")
    return path


def seams(recording: Recording) -> list[int]:
    return np.flatnonzero(recording.seams).tolist()


def texts(recording: Recording, kind: str) -> list[str]:
    return [str(each) for each in recording.dataset.notices if each.kind == kind]


# --- breaks between takes -------------------------------------------------------------------------


@pytest.mark.parametrize("between", ["", ",", " , ", "aX,aY"])
def test_a_blank_line_or_another_header_divides_takes(tmp_path: Path, between: str) -> None:
    for name in ("flex", "punch"):
        rows = [*NOISE[:40], between, *NOISE[40:80], between, *NOISE[80:], between]
        write(tmp_path / f"{name}.csv", "aX,aY", rows)
    recording = read_recording(tmp_path)
    assert seams(recording) == [40, 80, 120, 160, 200]
    done = run_json("windows", tmp_path, "-o", tmp_path / "w.npz", "--window", 30)
    assert done["n_train"] == 6


def test_no_window_spans_a_gap_in_time(tmp_path: Path) -> None:
    rows = [
        f"{20 * row + (row >= 50) * 1000 + (row >= 85) * 40},{NOISE[row]},{'ab'[row // 60]}"
        for row in range(120)
    ]
    path = write(tmp_path / "log.csv", "time,x,y,label", rows)
    assert seams(read_recording(path)) == [50, 85]
    words = ("windows", path, "-o", tmp_path / "w.npz", "--window", 20, "--stride", 5)
    assert "2 gaps in time; no window spans a gap" in succeed(*words).stderr
    values = np.array([row.split(",") for row in NOISE], np.float32)
    runs = ((0, 50), (50, 60), (60, 85), (85, 120))
    whole = [values[i : i + 20] for a, b in runs for i in range(a, b - 19, 5)]
    with np.load(tmp_path / "w.npz") as written:
        assert np.array_equal(written["X_train"], np.stack(whole))


@pytest.mark.parametrize("header", ["Date,Time", "Time,Date"])
@pytest.mark.parametrize("day", ["2024-05-01", "01.05.2024", "5/1/24"])
def test_a_day_and_a_time_in_two_columns_are_one_time(
    tmp_path: Path, header: str, day: str
) -> None:
    rows = []
    for row in range(60):
        seconds = 0.02 * row + 30 * (row >= 40)
        moment = f"10:00:{seconds:06.3f}"
        columns = (day, moment) if header == "Date,Time" else (moment, day)
        rows.append(",".join([*columns, NOISE[row], "ab"[row // 30]]))
    recording = read_recording(write(tmp_path / "log.csv", f"{header},x,y,label", rows))
    assert recording.channels == ("x", "y")
    assert recording.rate == 50
    assert seams(recording) == [40]


def test_a_time_of_day_goes_on_after_midnight(tmp_path: Path) -> None:
    rows = []
    for row in range(60):
        seconds = (86_399.5 + 0.02 * row) % 86_400
        moment = f"{int(seconds // 3600):02}:{int(seconds // 60 % 60):02}:{seconds % 60:06.3f}"
        rows.append(f"{moment},{NOISE[row]},{'ab'[row // 30]}")
    recording = read_recording(write(tmp_path / "log.csv", "Uhrzeit,x,y,label", rows))
    assert not recording.seams.any()
    assert recording.rate == 50


@pytest.mark.parametrize("day", ["2024-05-{:02}", "{:02}.05.2024"])
def test_days_go_on_after_midnight(tmp_path: Path, day: str) -> None:
    rows = []
    for row in range(60):
        seconds = 86_399.5 + 0.02 * row
        of_day = seconds % 86_400
        moment = f"{int(of_day // 3600):02}:{int(of_day // 60 % 60):02}:{of_day % 60:06.3f}"
        date = day.format(1 + int(seconds // 86_400))
        rows.append(f"{date},{moment},{NOISE[row]},{'ab'[row // 30]}")
    recording = read_recording(write(tmp_path / "log.csv", "Date,Time,x,y,label", rows))
    assert not recording.seams.any()
    assert recording.rate == 50


# --- rates ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "form"),
    [
        ("time (s)", "{seconds:.0f}"),
        ("when", "2024-05-01 12:00:{seconds:02.0f}"),
        ("t", "12:00:{seconds:02.0f}"),
    ],
)
@pytest.mark.parametrize("phase", [0.0, 0.37])
def test_whole_seconds_tell_the_rate(tmp_path: Path, name: str, form: str, phase: float) -> None:
    for label in ("rest", "walk"):
        rows = [
            f"{form.format(seconds=np.floor(phase + row / 40))},{NOISE[row]}" for row in range(120)
        ]
        write(tmp_path / f"{label}.csv", f"{name},x,y", rows)
    recording = read_recording(tmp_path)
    assert recording.rate == 40


def test_days_of_a_spreadsheet_tell_the_rate(tmp_path: Path) -> None:
    rows = [
        f"{45_000 + row / 50 / 86_400:.10f},{NOISE[row]},{'ab'[row // 60]}" for row in range(120)
    ]
    recording = read_recording(write(tmp_path / "log.csv", "time,x,y,label", rows))
    assert recording.rate == pytest.approx(50, rel=0.01)
    assert "computed from times in days" in texts(recording, "rate")[0]


@pytest.mark.parametrize(("name", "step"), [("t", 1), ("time (min)", 0.25), ("zeit", 1e-9)])
def test_a_rate_that_does_not_follow_is_asked_for(tmp_path: Path, name: str, step: float) -> None:
    rows = [f"{step * row:.10g},{NOISE[row]},{'ab'[row // 60]}" for row in range(120)]
    path = write(tmp_path / "log.csv", f"{name},x,y,label", rows)
    words = ("windows", path, "-o", tmp_path / "w.npz", "--window", 20)
    asked = "warning: the sampling rate does not follow from the times; give it with --rate"
    assert asked in succeed(*words).stderr
    with np.load(tmp_path / "w.npz") as written:
        assert "sample_rate" not in written
    assert asked not in succeed(*words, "--rate", 25).stderr
    with np.load(tmp_path / "w.npz") as written:
        assert float(written["sample_rate"]) == 25


def test_an_implausible_rate_is_asked_for(tmp_path: Path) -> None:
    rows = [f"{row},{NOISE[row]},{'ab'[row // 60]}" for row in range(120)]
    recording = read_recording(write(tmp_path / "log.csv", "t (ns),x,y,label", rows))
    assert recording.rate is None
    assert "give it with --rate" in texts(recording, "rate")[0]


# --- channels -------------------------------------------------------------------------------------


def test_channels_are_renamed_and_keep_their_unit(tmp_path: Path) -> None:
    rows = [f"{20 * row},{NOISE[row]},{'ab'[row // 60]}" for row in range(120)]
    header = "t (ms),Acceleration x (m/s^2),Acceleration y (m/s^2),label"
    path = write(tmp_path / "log.csv", header, rows)
    plain = read_recording(path)
    options = TableOptions(channels=("ax=Acceleration x", "ay = Acceleration y (m/s^2)"))
    renamed = read_recording(path, options)
    assert (plain.channels, renamed.channels) == (
        ("Acceleration x", "Acceleration y"),
        ("ax", "ay"),
    )
    assert renamed.dataset.instrument == plain.dataset.instrument is not None
    assert np.array_equal(renamed.samples, plain.samples)


def test_a_channel_may_be_named_by_its_number(tmp_path: Path) -> None:
    rows = [f"{20 * row},{NOISE[row]},{'ab'[row // 60]}" for row in range(120)]
    path = write(tmp_path / "log.csv", "time,x,y,label", rows)
    recording = read_recording(path, TableOptions(channels=("up=3",)))
    assert recording.channels == ("up",)
    assert recording.samples[0, 0] == np.float32(NOISE[0].split(",")[1])


# --- sound ----------------------------------------------------------------------------------------


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


def test_an_offset_is_silence_too(tmp_path: Path) -> None:
    sound(tmp_path / "right.wav", SILENT + 300, LOUD)
    assert np.ptp(read_recording(tmp_path / "right.wav").samples) > 500


def test_a_file_of_silence_is_read_from_its_first_channel(tmp_path: Path) -> None:
    sound(tmp_path / "rest.wav", SILENT, SILENT)
    recording = read_recording(tmp_path / "rest.wav")
    assert set(recording.samples.ravel().tolist()) == {512}
    assert texts(recording, "wave_channels") == [
        "only the first of a WAV file's 2 channels is read"
    ]


def test_windows_have_the_sound_of_the_right_channel(tmp_path: Path) -> None:
    for name in ("hum", "beep"):
        sound(tmp_path / f"{name}.wav", SILENT, LOUD)
    done = succeed("windows", tmp_path, "-o", tmp_path / "w.npz", "--window", 100)
    assert done.stderr.count("because others are silent") == 1
    with np.load(tmp_path / "w.npz") as written:
        assert np.ptp(written["X_train"]) > 500
    wrong = run("windows", tmp_path / "hum.wav", "-o", tmp_path / "w.npz", "--window", 500)
    assert "the longest run of equal labels" in refusal(wrong)
