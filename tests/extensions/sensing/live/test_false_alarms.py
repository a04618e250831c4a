"""`predict --hop` counts false alarms and missed events in a recording with labels and gaps."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from command_line import assert_one_sentence, run, run_json, succeed

from protonn_edge import load_model
from protonn_edge.extensions.sensing.live import LiveFigures, live_figures
from protonn_edge.extensions.sensing.recordings.recorded import read_recording

RATE, WINDOW = 50, 20
HOP = ("--hop", 10, "--votes", 3)
# Seconds, the label, and whether there is movement.
PARTS = [
    (20, "rest", False),
    (4, "shake", True),
    (20, "rest", False),
    (3, "rest", True),  # a false alarm
    (20, "rest", False),
    (4, "shake", False),  # missed
    (20, "rest", False),
    (4, "shake", True),
    (5, "rest", False),
]
ONE = [(10, "rest", False), (10, "shake", True), (10, "rest", False)]


def samples_of(seconds: float, *, moving: bool, seed: int) -> list[int]:
    noise = np.random.default_rng(seed).normal(0, 200 if moving else 5, round(seconds * RATE))
    return [int(each) for each in np.rint(500 + np.clip(noise, -500, 500))]


def recording(
    path: Path, parts: Sequence[tuple[float, str, bool]], names: str = "a0", step_ms: int = 20
) -> Path:
    lines = [f"time_ms,{names},label"]
    for seed, (seconds, label, moving) in enumerate(parts):
        for value in samples_of(seconds, moving=moving, seed=seed):
            columns = ",".join([str(value)] * len(names.split(",")))
            lines.append(f"{step_ms * len(lines)},{columns},{label}")
    path.write_text("\n".join(lines) + "\n")
    return path


def changed(path: Path, change: Callable[[list[str]], list[str]]) -> Path:
    """Change the lines of a recording, the first of which is its header."""
    path.write_text("\n".join(change(path.read_text().splitlines())) + "\n")
    return path


def counts(model: Path, data: Path) -> tuple[int, int, int]:
    """Return how many events there are, how many are missed, and how many alarms are false."""
    found = run_json("predict", model, data, "--hop", 5, "--votes", 3)
    return found["events"], len(found["missed"]), len(found["false_alarms"])


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("live")
    train = recording(folder / "train.csv", [(30, "rest", False), (30, "shake", True)])
    windows, path = folder / "windows.npz", folder / "model.npz"
    succeed("windows", train, "-o", windows, "--window", WINDOW, "--stride", 5)
    succeed("train", windows, "-o", path, "--features", "deviation", "--epochs", 10)
    return path


def test_false_alarms_and_missed_events_are_counted(model: Path, tmp_path: Path) -> None:
    data = recording(tmp_path / "day.csv", PARTS)
    found = run_json("predict", model, data, *HOP)
    assert (found["events"], len(found["missed"]), len(found["false_alarms"])) == (3, 1, 1)
    assert found["missed"] == [[67.0, "shake"]]
    ((at, name),) = found["false_alarms"]
    assert (44 < at < 47 + WINDOW / RATE, name) == (True, "shake")
    assert found["hours"] == pytest.approx(100 / 3600)
    rate, low, high = found["false_alarms_per_hour"]
    assert rate == pytest.approx(36)
    assert low == pytest.approx(36 * 0.0253178, rel=1e-4)  # Poisson's exact interval for 1
    assert high == pytest.approx(36 * 5.571643, rel=1e-4)
    assert [name for _, name in found["reports"]] == ["rest", *["shake", "rest"] * 3]
    first = found["reports"][1][0]
    assert 20 < first < 20 + (WINDOW + 3 * 10) / RATE
    printed = succeed("predict", model, data, *HOP).stdout
    assert "3 runs of labels other than 'rest'" in printed
    assert "1 in 1.7 min, 36.0 per hour (95 % confidence: 0.9 to 200.6)" in printed
    assert "shake at 67.0 s" in printed
    assert f"shake at {at:.1f} s" in printed


def test_one_event_is_not_several() -> None:
    figures = LiveFigures(1.0, "rest", 1, (), (), ())
    assert ("events", "1 run of labels other than 'rest'") in figures.facts()


def test_no_window_spans_a_gap_in_time(model: Path, tmp_path: Path) -> None:
    data = recording(tmp_path / "day.csv", [(2, "rest", False), (1, "shake", True)])
    lines = data.read_text().splitlines()
    data.write_text("\n".join([*lines[:120], *lines[200:]]) + "\n")  # 10 samples of rest, then 21
    found = live_figures(load_model(model), read_recording(data), hop=5)
    assert isinstance(found, LiveFigures)
    assert all(at <= 100 / RATE for at, name in found.reports if name == "rest")


def test_a_gap_in_time_does_not_divide_an_event(model: Path, tmp_path: Path) -> None:
    path = recording(tmp_path / "day.csv", ONE)
    changed(path, lambda lines: lines[:700] + lines[703:])  # three samples are lost
    assert counts(model, path) == (1, 0, 0)


def test_a_report_behind_a_gap_is_not_of_an_event_before_it(model: Path, tmp_path: Path) -> None:
    parts = [(10, "rest", False), (2, "shake", False), (0.6, "rest", True)]
    path = recording(tmp_path / "day.csv", parts)
    changed(path, lambda lines: lines[:601] + [f"1{line}" for line in lines[601:]])
    assert counts(model, path) == (1, 1, 1)


def test_each_take_finds_its_own_event(model: Path, tmp_path: Path) -> None:
    for take, label in enumerate(("rest", "rest", "shake", "shake", "shake")):
        part = (18 if label == "rest" else 4, label, label == "shake")
        path = recording(tmp_path / f"{label}.{take}.csv", [(0, "rest", False)] * take + [part])
        changed(path, lambda lines: [line.rpartition(",")[0] for line in lines])
    assert counts(model, tmp_path) == (3, 0, 0)


@pytest.mark.parametrize(
    ("parts", "more", "complaint"),
    [
        (ONE, {"names": "b0"}, "lacks the column 'a0'"),
        ([*ONE, (0.02, "jump", True)], {}, "labels that the model does not have: 'jump'; correct"),
        (ONE, {"step_ms": 40}, "(1 channel at 25 Hz, labels 'rest', 'shake') does not match the m"),
        ([(0.18, "rest", False)], {}, "9 samples, but a window of the model has 20; give a longer"),
    ],
)
def test_unlike_recordings_are_refused(
    model: Path,
    tmp_path: Path,
    parts: list[tuple[float, str, bool]],
    more: dict[str, Any],
    complaint: str,
) -> None:
    data = recording(tmp_path / "day.csv", parts, **more)
    assert_one_sentence(run("predict", model, data, "--hop", 10), complaint)


def test_a_rate_may_be_a_little_different(model: Path, tmp_path: Path) -> None:
    assert counts(model, recording(tmp_path / "day.csv", ONE, step_ms=21))[0] == 1


def test_models_of_points_and_options_of_windows_are_refused(model: Path, tmp_path: Path) -> None:
    data, plain = recording(tmp_path / "day.csv", PARTS), tmp_path / "plain.npz"
    succeed("train", data, "-o", plain, "--epochs", 1)
    assert_one_sentence(
        run("predict", plain, data, "--hop", 1), "needs a model that was trained on windows"
    )
    assert "--hop" in run("predict", model, data, "--votes", 3).stderr
    assert "1<=x<=65535" in run("predict", model, data, "--hop", 2**63).stderr
