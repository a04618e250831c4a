"""Recordings as people have them: folders of takes, WAV files, tables with times and sessions."""

from __future__ import annotations

import wave
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from refusals import refused_by

from protonn_edge.datasets.options import TableOptions
from protonn_edge.datasets.recorded import Recording, read_recording
from protonn_edge.errors import InputError

MARK = "# protonn-edge recording 1; sensor: adxl345; rate: 50 Hz; units: 1/256 g\n"

Write = Callable[..., Path]


@pytest.fixture
def take(tmp_path: Path) -> Write:
    """Write a take of samples from `begin` on, every 10 ms."""

    def write(name: str, begin: int = 0, rows: int = 20, channels: str = "ax,ay") -> Path:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        count = len(channels.split(","))
        lines = [",".join([str(10 * n), *[str(begin + n * 7 % 13)] * count]) for n in range(rows)]
        path.write_text("\n".join([f"timestamp,{channels}", *lines]) + "\n")
        return tmp_path

    return write


def write_wave(path: Path, values: np.ndarray, *, width: int = 2, rate: int = 8000) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with wave.open(str(path), "wb") as file:
        file.setnchannels(values.shape[1])
        file.setsampwidth(width)
        file.setframerate(rate)
        file.writeframes(values.astype("<i2" if width == 2 else np.uint8).tobytes())


def labels_of(recording: Recording) -> list[str]:
    return [recording.dataset.classes[index] for index in recording.dataset.y_train]


# --- folders -------------------------------------------------------------------------------------


def test_a_file_is_a_take_of_the_class_that_it_is_called_after(take: Write) -> None:
    for number in (1, 2, 10):
        folder = take(f"circle.{number}.csv", 100 * number)
        take(f"wave.{number}.csv.2f9a.csv", 100 * number + 50)
    recording = read_recording(folder)
    assert labels_of(recording)[::20] == ["circle"] * 3 + ["wave"] * 3
    assert recording.samples[::20, 0].tolist() == [100, 200, 1000, 150, 250, 1050]  # 2 before 10
    assert np.flatnonzero(recording.seams).tolist() == list(range(20, 120, 20))
    assert recording.channels == ("ax", "ay")
    assert recording.rate == 100
    assert recording.groups is not None
    assert len(set(recording.groups)) == 6


def test_a_folder_is_a_class(take: Write) -> None:
    for name in ("rest/1.csv", "rest/2.csv", "run/1.csv", "run/2.csv", ".cache/1.csv"):
        folder = take(name)
    recording = read_recording(folder)
    assert labels_of(recording)[::20] == ["rest", "rest", "run", "run"]


def test_a_folder_of_a_class_may_have_a_folder_for_each_take(take: Write) -> None:
    for name in ("rest/monday/data.csv", "rest/friday/data.csv", "run/monday/data.csv"):
        folder = take(name)
    recording = read_recording(folder)
    assert labels_of(recording)[::20] == ["rest", "rest", "run"]


def test_folders_for_testing_are_apart(take: Write) -> None:
    for name in ("a.1", "a.2", "b.1", "b.2"):
        folder = take(f"training/{name}.csv")
    take("testing/a.3.csv", 500)
    recording = read_recording(folder)
    assert set(recording.samples[recording.tested, 0]) == set(range(500, 513))


def test_a_single_take_a_class_makes_no_groups(take: Write) -> None:
    take("rest.csv")
    assert read_recording(take("run.csv")).groups is None


def test_a_label_in_a_file_comes_before_its_name(take: Write, tmp_path: Path) -> None:
    folder = take("rest.csv")
    rows = [f"{10 * n},{('rest', 'run')[n // 3]},1,2\n" for n in range(6)]
    (tmp_path / "mixed.csv").write_text("timestamp,label,ax,ay\n" + "".join(rows))
    assert set(labels_of(read_recording(folder))) == {"rest", "run"}


def test_files_without_a_header_are_samples(tmp_path: Path) -> None:
    (tmp_path / "rest.csv").write_text("7\n8\n" * 5)
    (tmp_path / "run.csv").write_text("2.5\n3.5\n" * 5)
    recording = read_recording(tmp_path)
    assert recording.samples.shape == (20, 1)
    assert recording.channels == ()


@pytest.mark.parametrize(
    "names",
    [
        [("a.csv", "ax,ay"), ("b.csv", "ax,az")],
        [("a.csv", "ax,ay"), ("b/1.csv", "ax,ay")],
        [("notes.md", "ax,ay")],
    ],
)
def test_folders_that_cannot_be_meant_are_one_sentence(
    take: Write, names: list[tuple[str, str]]
) -> None:
    for name, channels in names:
        folder = take(name, channels=channels)
    with refused_by("datasets.points", "datasets.takes"):
        read_recording(folder)


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
    with refused_by("datasets.timing"):
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
    with pytest.raises(InputError, match="a --rate no higher than the lowest of their rates"):
        read_recording(tmp_path, TableOptions(sample_rate=16_000))


def test_a_recording_may_be_shorter_than_the_time_of_a_sample(tmp_path: Path) -> None:
    write_wave(tmp_path / "hum.wav", np.zeros((4, 1)))
    with refused_by("datasets.recorded"):
        read_recording(tmp_path, TableOptions(sample_rate=0.001))


def test_one_wav_file_has_one_class(tmp_path: Path) -> None:
    write_wave(tmp_path / "hum.1.wav", np.arange(8)[:, None])
    assert read_recording(tmp_path / "hum.1.wav").dataset.classes == ("hum",)


# --- tables --------------------------------------------------------------------------------------


@pytest.mark.parametrize("lost", [1, 2])
def test_a_lost_sample_of_a_steady_clock_leaves_a_seam(tmp_path: Path, lost: int) -> None:
    kept = [n for n in range(40) if not 20 <= n < 20 + lost]
    rows = "".join(f"{'ab'[n // 30]},anna,{n / 50:.6f},{n * 7 % 13},{n * 5 % 11}\n" for n in kept)
    path = tmp_path / "recording.csv"
    path.write_text(MARK + "label,session,time,ax,ay\n" + rows)
    recording = read_recording(path)
    assert np.flatnonzero(recording.seams).tolist() == [20]
    assert recording.rate == 50


def test_a_clock_that_jitters_leaves_none(tmp_path: Path) -> None:
    times = np.cumsum(np.tile([7, 10, 14, 9, 13], 12))
    path = tmp_path / "log.csv"
    rows = [f"{time},{n * 7 % 13},{'ab'[n // 40]}" for n, time in enumerate(times)]
    path.write_text("\n".join(["ms,ax,label", *rows]) + "\n")
    recording = read_recording(path)
    assert not recording.seams.any()
    assert recording.rate == pytest.approx(1000 / 10.6, rel=0.01)


@pytest.mark.parametrize(
    ("name", "step", "rate"),
    [("time", 0.02, 50), ("timestamp", 20, 50), ("t", 2500, 400), ("us", 20, 50_000)],
)
def test_the_rate_is_that_of_the_times(tmp_path: Path, name: str, step: float, rate: float) -> None:
    path = tmp_path / "log.csv"
    rows = [f"{step * n:g},{n % 7},{'ab'[n // 20]}" for n in range(40)]
    path.write_text("\n".join([f"{name},ax,label", *rows]) + "\n")
    recording = read_recording(path)
    assert recording.rate == rate
    assert recording.channels == ("ax",)


def people(tmp_path: Path) -> Path:
    path = tmp_path / "people.csv"
    rows = [
        f"{'ab'[n // 40]},s{n // 10 % 2},p{n // 20 % 2},note,{n * 7 % 13},{-n * 5 % 11}"
        for n in range(80)
    ]
    path.write_text("\n".join(["label,session,person,remark,ax,ay", *rows]) + "\n")
    return path


def test_persons_are_the_groups_and_sessions_leave_seams_too(tmp_path: Path) -> None:
    options = TableOptions(label="label", drop=("remark",))
    recording = read_recording(people(tmp_path), options)
    assert recording.groups is not None
    assert set(recording.groups) == {"p0", "p1"}
    assert np.flatnonzero(recording.seams).tolist() == list(range(10, 80, 10))


def test_channels_are_chosen_by_name_and_order(tmp_path: Path) -> None:
    recording = read_recording(people(tmp_path), TableOptions(channels=("ay", "ax")))
    assert recording.channels == ("ay", "ax")
    assert recording.samples[3].tolist() == [7, 8]


def test_a_channel_that_is_the_label_is_refused(tmp_path: Path) -> None:
    options = TableOptions(label="ax", channels=("ax",))
    with refused_by("datasets.named"):
        read_recording(people(tmp_path), options)


@pytest.mark.parametrize("name", ["t_ms", "time_us", "timestamp_s", "Time", "t (s)"])
def test_columns_named_like_times_are_no_channels(tmp_path: Path, name: str) -> None:
    lines = [f"{name},ax,label", *(f"{20 * n},{n % 3},walk" for n in range(40))]
    (tmp_path / "walk.csv").write_text("\n".join(lines) + "\n")
    assert read_recording(tmp_path / "walk.csv").channels == ("ax",)
