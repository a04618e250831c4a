"""Windows of recordings whose label is a number: the value of a window, and what follows."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from avr_tools import needs_emulated_avr
from command_line import assert_one_sentence, run, run_json, succeed

from protonn_edge.data.reading import load_dataset


def shaking(n: int, session: int) -> tuple[np.ndarray, np.ndarray]:
    """Return samples (n, 2) at 50 Hz of something that shakes, and its speed at each sample."""
    rng = np.random.default_rng(session)
    speed = np.interp(np.arange(n), np.linspace(0, n, 12), rng.uniform(0.5, 4.0, 12))
    angle = np.cumsum(2 * np.pi * speed / 50)
    samples = np.stack([30 * speed * np.sin(angle), 30 * speed * np.cos(angle)], axis=1)
    return np.rint(samples + rng.normal(0, 2, samples.shape)), speed


def write_recording(path: Path, sessions: int = 5, form: str = "{:.3f}") -> None:
    lines = ["speed,session,ax,ay"]
    for session in range(sessions):
        for (ax, ay), speed in zip(*shaking(900, session), strict=True):
            lines.append(f"{form.format(speed)},day{session},{ax:.0f},{ay:.0f}")
    path.write_text("\n".join(lines) + "\n")


def cut(path: Path, output: Path, *options: str) -> dict[str, np.ndarray]:
    succeed("windows", path, "-o", output, "--window", "50", *options)
    with np.load(output) as arrays:
        return dict(arrays)


READ = ("--label", "speed")


@pytest.fixture(scope="module")
def recording(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("shaken") / "recording.csv"
    write_recording(path)
    return path


def test_a_windows_value_is_the_mean_of_its_samples(recording: Path, tmp_path: Path) -> None:
    arrays = cut(recording, tmp_path / "windows.npz", *READ)
    speeds = [np.round(shaking(900, session)[1], 3).reshape(-1, 50) for session in range(5)]
    np.testing.assert_allclose(arrays["y_train"], np.concatenate(speeds).mean(axis=1))
    assert arrays["value_name"].tolist() == ["speed"]
    assert "class_names" not in arrays
    dataset = load_dataset(tmp_path / "windows.npz")
    assert dataset.classes == ("speed",)
    np.testing.assert_array_equal(dataset.y_train[:, 0], arrays["y_train"])


def test_the_end_of_a_session_is_for_testing(recording: Path, tmp_path: Path) -> None:
    arrays = cut(recording, tmp_path / "windows.npz", *READ, "--test", "0.5", "--stride", "10")
    last = np.round(shaking(900, 4)[1], 3)
    assert arrays["y_test"][-1] == pytest.approx(last[850:].mean())
    assert len(arrays["y_test"]) == 5 * 9
    assert arrays["y_train"][1] == pytest.approx(np.round(shaking(900, 0)[1], 3)[10:60].mean())


@needs_emulated_avr
def test_train_predicts_the_value_of_windows_on_the_device(recording: Path, tmp_path: Path) -> None:
    cut(recording, tmp_path / "windows.npz", *READ, "--test", "0.3")
    words = ("--features", "deviation,change", "--sample-rate", "50", "--prototypes", "8")
    told = run_json("train", tmp_path / "windows.npz", *words, "-o", tmp_path / "model.npz")
    assert told["test"]["r2"] > 0.95
    assert run_json("verify", tmp_path / "model.npz", tmp_path / "windows.npz")["mismatches"] == 0


def write_takes(folder: Path, sessions: int = 1) -> None:
    """Write takes that are called after their speed, 1 to 9."""
    folder.mkdir()
    rng = np.random.default_rng(0)
    for speed in range(1, 10):
        for take in range(sessions):
            samples = speed * np.sin(np.arange(120) * speed / 10) * 30 + rng.normal(0, 2, 120)
            text = "\n".join(["ax", *map("{:.0f}".format, samples)])
            (folder / f"{speed}.{take}.csv").write_text(text + "\n")


def test_takes_for_testing_are_spread_over_the_values(tmp_path: Path) -> None:
    write_takes(tmp_path / "takes")
    arrays = cut(tmp_path / "takes", tmp_path / "w.npz", "--target", "value", "--test", "0.3")
    assert sorted(set(arrays["y_test"].tolist())) == [2, 5, 8]
    assert sorted(set(arrays["y_train"].tolist())) == [1, 3, 4, 6, 7, 9]
    succeed("train", tmp_path / "w.npz", "--features", "deviation", "-o", tmp_path / "model.npz")


def test_few_numbers_are_classes_by_default(tmp_path: Path) -> None:
    write_takes(tmp_path / "takes")
    assert "class_names" in cut(tmp_path / "takes", tmp_path / "windows.npz")


def test_overlapping_windows_of_one_session_are_noticed(tmp_path: Path) -> None:
    write_recording(tmp_path / "recording.csv", sessions=1)
    path = tmp_path / "recording.csv"
    words = ("windows", path, "-o", tmp_path / "w.npz", "--window", "50", *READ, "--stride")
    kinds = [[each["kind"] for each in run_json(*words, n)["notices"]] for n in ("10", "50")]
    assert ["overlap" in each for each in kinds] == [True, False]


def test_whole_numbers_that_may_be_a_quantity_are_asked_about(tmp_path: Path) -> None:
    lines = ["rate,x"]
    for rate in range(30):
        lines += [f"{rate},{value:.0f}" for value in np.random.default_rng(rate).normal(0, 50, 60)]
    path = tmp_path / "recording.csv"
    path.write_text("\n".join(lines) + "\n")
    words = ("windows", path, "--label", "rate", "--window", "20", "-o", tmp_path / "w.npz")
    assert_one_sentence(run(*words), "--target value or --target class")
    assert run_json(*words, "--target", "value")["value"] == "rate"
    assert len(run_json(*words, "--target", "class")["classes"]) == 30


def test_a_background_is_refused_beside_numbers(recording: Path, tmp_path: Path) -> None:
    words = ("--window", "50", *READ, "--target", "value", "--background", "nothing")
    assert_one_sentence(run("windows", recording, "-o", tmp_path / "w.npz", *words), "--background")
