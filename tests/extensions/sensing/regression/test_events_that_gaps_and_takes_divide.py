"""Events, and a board's reports, where a recording has gaps, several takes, or another rate."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from command_line import assert_one_sentence, run, run_json, succeed

WINDOW, HOP = 20, 5


def rows(label: str, count: int, seed: int = 0) -> list[tuple[int, str]]:
    """Return so many samples: only those of 'shake' move."""
    deviation = 200 if label == "shake" else 5
    noise = np.random.default_rng(seed).normal(500, deviation, count)
    return [(int(value), label) for value in noise.clip(0, 1023)]


def write(path: Path, samples: Sequence[tuple[int, str]], step_ms: int = 20) -> Path:
    lines = [f"{n * step_ms},{value},{label}" for n, (value, label) in enumerate(samples)]
    path.write_text("\n".join(["time_ms,a0,label", *lines]) + "\n")
    return path


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("model")
    train = write(folder / "train.csv", rows("rest", 1500) + rows("shake", 1500))
    windows, path = folder / "windows.npz", folder / "model.npz"
    succeed("windows", train, "-o", windows, "--window", WINDOW, "--stride", 5)
    succeed("train", windows, "-o", path, "--features", "deviation", "--epochs", 10)
    return path


DAY = rows("rest", 500) + rows("shake", 500) + rows("rest", 500, seed=1)


def test_a_gap_in_time_does_not_divide_an_event(model: Path, tmp_path: Path) -> None:
    path = write(tmp_path / "day.csv", DAY)
    lines = path.read_text().splitlines()
    path.write_text("\n".join(lines[:700] + lines[703:]) + "\n")  # three samples are lost
    found = run_json("predict", model, path, "--hop", HOP, "--votes", 3)
    assert (found["events"], len(found["missed"]), len(found["false_alarms"])) == (1, 0, 0)


def test_a_report_behind_a_gap_is_not_of_an_event_before_it(model: Path, tmp_path: Path) -> None:
    samples = rows("rest", 500) + [(value, "shake") for value, _ in rows("rest", 100)]
    path = write(tmp_path / "day.csv", samples + [(v, "rest") for v, _ in rows("shake", 30)])
    lines = path.read_text().splitlines()
    path.write_text("\n".join(lines[:601] + [f"1{line}" for line in lines[601:]]) + "\n")
    found = run_json("predict", model, path, "--hop", HOP, "--votes", 3)
    assert (found["events"], len(found["missed"]), len(found["false_alarms"])) == (1, 1, 1)


def test_each_take_finds_its_own_event(model: Path, tmp_path: Path) -> None:
    for take, label in enumerate(("rest", "rest", "shake", "shake", "shake")):
        samples = rows(label, 900 if label == "rest" else 200, take)
        lines = [f"{20 * n},{value}" for n, (value, _) in enumerate(samples)]
        (tmp_path / f"{label}.{take}.csv").write_text("\n".join(["time_ms,a0", *lines]) + "\n")
    found = run_json("predict", model, tmp_path, "--hop", HOP, "--votes", 3)
    assert (found["events"], len(found["missed"]), len(found["false_alarms"])) == (3, 0, 0)


def test_a_recording_of_another_rate_is_refused(model: Path, tmp_path: Path) -> None:
    path = write(tmp_path / "slow.csv", DAY, step_ms=40)
    complaint = "(1 channel at 25 Hz, labels 'rest', 'shake') does not match the model (1 channel"
    assert_one_sentence(run("predict", model, path, "--hop", HOP), complaint)
    assert run_json("predict", model, write(path, DAY, step_ms=21), "--hop", HOP)["events"] == 1


def test_only_the_labels_that_a_model_does_not_know_are_named(model: Path, tmp_path: Path) -> None:
    path = tmp_path / "new.csv"
    write(path, DAY)
    path.write_text(path.read_text() + path.read_text().splitlines()[-1].replace("rest", "jump"))
    complaint = "the recording: labels that the model does not have: 'jump'; correct"
    assert_one_sentence(run("predict", model, path, "--hop", HOP), complaint)


def test_a_recording_shorter_than_a_window_has_no_figures(model: Path, tmp_path: Path) -> None:
    path = write(tmp_path / "short.csv", DAY[:9])
    complaint = "has 9 samples, but a window of the model has 20; give a longer recording"
    assert_one_sentence(run("predict", model, path, "--hop", HOP), complaint)


def test_a_hop_that_no_board_counts_is_refused(model: Path, tmp_path: Path) -> None:
    path = write(tmp_path / "day.csv", DAY)
    assert "1<=x<=65535" in run("predict", model, path, "--hop", 2**63).stderr
