"""Options, silent takes, classes without test windows and rates of a timer passed unnoticed."""

from __future__ import annotations

import wave
from pathlib import Path

import numpy as np
import pytest
from command_line import refusal, run, run_json, succeed

from protonn_edge.chips.boards import load_board
from protonn_edge.extensions.sensing.described import sensor_kind
from protonn_edge.extensions.sensing.sampling import Sampling

CHIP = (
    'title = "H"\nbus = "i2c"\naddresses = [0x1E]\ndata_register = 3\ndata_bytes = 2\n'
    'byte_order = "big"\nchannels = ["x"]\nunits = "1/1090 gauss"\nplaces = [0]\n'
    'rates = [1, 30]\nstart = [[0, [[15, 0x70], [30, 0x74], [75, 0x78]], "rate"]]\n'
)


def windows_of(path: Path, rate: float = 50.0) -> Path:
    X = np.random.default_rng(0).normal(0, 9, (40, 20, 2)).round()
    y = np.array(["a", "b"] * 20)
    names = np.array(["ax", "ay"])
    np.savez(path, X_train=X, y_train=y, sample_rate=rate, channel_names=names)
    return path


def take(path: Path, loud: int) -> None:
    path.parent.mkdir(exist_ok=True, parents=True)
    with wave.open(str(path), "wb") as file:
        file.setparams((1, 1, 8000, 0, "NONE", ""))
        file.writeframes(bytes(128 + loud * (i > 500 and i % 4 < 2) for i in range(3000)))


def test_takes_without_a_clip_are_counted_and_named(tmp_path: Path) -> None:
    for name in ("clap", "whistle"):
        for number in range(3):
            take(tmp_path / "sounds" / name / f"{number}.wav", 60 if number else 0)
    cut = ("windows", tmp_path / "sounds", "-o", tmp_path / "w.npz", "--window", 1280)
    found = run_json(*cut, "--onset", 4)
    files = "'clap/0.wav', 'whistle/0.wav'"
    text = f"no window begins in 2 of 6 runs of equal labels (in {files}); check these recordings"
    assert found["n_train"] == 4
    assert any(text in notice["text"] and notice["warning"] for notice in found["notices"])
    for name in ("clap", "whistle"):
        take(tmp_path / "sounds" / name / "0.wav", 60)
    assert "no window begins" not in str(run_json(*cut, "--onset", 4)["notices"])


def test_a_rate_that_contradicts_the_windows_is_refused(tmp_path: Path) -> None:
    data = windows_of(tmp_path / "w.npz")
    train = ("train", data, "-o", tmp_path / "m.npz", "--features", "mean", "--epochs", 1)
    assert refusal(run(*train, "--sample-rate", "100")).startswith(
        "error: --sample-rate is 100, but the data was sampled at 50 Hz; omit --sample-rate"
    )
    assert not (tmp_path / "m.npz").exists()
    succeed(*train, "--sample-rate", "51")


def test_recordings_are_not_points(tmp_path: Path) -> None:
    model, day = tmp_path / "m.npz", tmp_path / "day.csv"
    data = windows_of(tmp_path / "w.npz")
    succeed("train", data, "-o", model, "--features", "mean", "--epochs", 1)
    rows = [f"{i % 7},{i % 5},a" for i in range(60)]
    day.write_text("\n".join(["ax (g),ay (g),label", *rows]) + "\n")
    remedy = "cut this recording into windows with 'protonn-edge windows'"
    assert remedy in refusal(run("predict", model, day))
    take(tmp_path / "clap.wav", 60)
    assert "cut the sound into windows" in refusal(run("predict", model, tmp_path / "clap.wav"))


@pytest.mark.parametrize(("rate", "value"), [(15, 0x70), (30, 0x74), (30.1, 0x78)])
def test_a_timer_that_is_a_little_faster_keeps_the_setting(
    tmp_path: Path, rate: float, value: int
) -> None:
    (tmp_path / "h.toml").write_text(CHIP.replace("30]\n", "75]\n"))
    kind = sensor_kind(str(tmp_path / "h.toml"))
    assert kind.registers is not None
    actual = Sampling((kind,), rate, load_board("uno")).actual_rate
    assert [each[1] for each in kind.registers.settings_for(actual)] == [value]


def test_the_rate_of_a_recording_at_the_highest_rate_is_accepted(tmp_path: Path) -> None:
    (tmp_path / "h.toml").write_text(CHIP)
    kind = sensor_kind(str(tmp_path / "h.toml"))
    actual = Sampling((kind,), 30, load_board("uno")).actual_rate
    assert actual > 30
    assert Sampling((kind,), actual, load_board("uno")).actual_rate == actual
