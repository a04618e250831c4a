"""`predict --hop` counts false alarms and missed events in a recording with labels."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from command_line import assert_one_sentence, run, run_json, succeed

from protonn_edge import load_model
from protonn_edge.extensions.sensing.live import LiveFigures, live_figures
from protonn_edge.extensions.sensing.recordings.recorded import read_recording

RATE, WINDOW = 50, 20
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


def samples_of(seconds: int, *, moving: bool, seed: int) -> list[int]:
    noise = np.random.default_rng(seed).normal(0, 200 if moving else 5, seconds * RATE)
    return [int(each) for each in np.rint(500 + np.clip(noise, -500, 500))]


def recording(path: Path, parts: list[tuple[int, str, bool]], names: str = "a0") -> Path:
    lines = [f"time_ms,{names},label"]
    for seed, (seconds, label, moving) in enumerate(parts):
        for value in samples_of(seconds, moving=moving, seed=seed):
            columns = ",".join([str(value)] * len(names.split(",")))
            lines.append(f"{20 * len(lines)},{columns},{label}")
    path.write_text("\n".join(lines) + "\n")
    return path


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
    found = run_json("predict", model, data, "--hop", 10, "--votes", 3)
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
    printed = succeed("predict", model, data, "--hop", 10, "--votes", 3).stdout
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


@pytest.mark.parametrize(
    ("parts", "names", "complaint"),
    [
        (PARTS, "b0", "lacks the column 'a0'"),
        ([*PARTS, (4, "fall", True)], "a0", "that the model does not have: 'fall'; correct"),
    ],
)
def test_unlike_recordings_are_refused(
    model: Path, tmp_path: Path, parts: list[tuple[int, str, bool]], names: str, complaint: str
) -> None:
    data = recording(tmp_path / "day.csv", parts, names)
    assert_one_sentence(run("predict", model, data, "--hop", 10), complaint)


def test_models_of_points_and_options_of_windows_are_refused(model: Path, tmp_path: Path) -> None:
    data, plain = recording(tmp_path / "day.csv", PARTS), tmp_path / "plain.npz"
    succeed("train", data, "-o", plain, "--epochs", 1)
    assert_one_sentence(
        run("predict", plain, data, "--hop", 1), "needs a model that was trained on windows"
    )
    assert "--hop" in run("predict", model, data, "--votes", 3).stderr
