"""From a recording, or raw windows, to a model of windows that builds and verifies."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from avr_tools import needs_emulated_avr
from command_line import run

from protonn_edge.model import load_model

FEATURES = "mean,deviation,min,max,crossings,bands:3"


@pytest.fixture(scope="module")
def recording(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Give a recording of two channels, 600 raw integers each, in six runs of two labels."""
    rng = np.random.default_rng(0)
    t = np.arange(600)
    fast = t // 100 % 2
    waves = np.sin(t * np.where(fast, 1.5, 0.2)) * 300
    samples = np.stack([500 + waves, 200 - waves / 2], axis=1) + rng.normal(0, 10, (600, 2))
    path = tmp_path_factory.mktemp("recording") / "recording.csv"
    lines = [
        f"{('slow', 'fast')[label]},{x},{y}"
        for label, (x, y) in zip(fast, np.rint(samples).astype(int), strict=True)
    ]
    path.write_text("\n".join(["label,x,y", *lines]) + "\n")
    return path


@pytest.fixture(scope="module")
def windows(recording: Path) -> Path:
    path = recording.with_name("windows.npz")
    done = run("windows", recording, "-o", path, "--window", 20, "--stride", 5, "--test", 0.4)
    assert done.exit_code == 0, done.output
    return path


@pytest.fixture(scope="module")
def model(windows: Path) -> Path:
    path = windows.with_name("model.npz")
    options = ["--features", FEATURES, "--prototypes", 4, "--epochs", 30, "--sample-rate", 50]
    done = run("train", windows, "-o", path, *options)
    assert done.exit_code == 0, done.output
    return path


def test_windows_are_cut_from_runs(recording: Path, tmp_path: Path) -> None:
    path = tmp_path / "windows.npz"
    done = run("windows", recording, "-o", path, "--window", 30, "--json")
    assert json.loads(done.stdout)["n_train"] == 18
    with np.load(path, allow_pickle=False) as arrays:
        assert set(arrays) == {"X_train", "y_train", "class_names", "channel_names"}
        assert arrays["X_train"].shape == (18, 30, 2)
        assert arrays["class_names"][arrays["y_train"]][:4].tolist() == ["slow"] * 3 + ["fast"]


def test_a_data_sets_own_shape_is_the_windows(model: Path) -> None:
    trained = load_model(model)
    assert trained.feature_stage is not None
    assert (trained.feature_stage.window, trained.feature_stage.channels) == (20, 2)
    assert trained.record["settings"]["window_shape"] == [20, 2]
    assert trained.record["settings"]["features"] == FEATURES


def test_inspect_shows_window_features(model: Path, windows: Path) -> None:
    done = run("inspect", model, "--data", windows)
    assert done.exit_code == 0, done.output
    assert "40: 20 of 2 channels at 50 Hz" in done.output
    assert "16: mean,deviation,min,max,crossings:1,bands:3" in done.output
    declared = json.loads(run("inspect", model, "--json").stdout)["pipeline"]
    assert declared["window"] == 20


@needs_emulated_avr
def test_every_execution_agrees_on_windows(model: Path, windows: Path, tmp_path: Path) -> None:
    done = run("verify", model, windows, "--json")
    assert done.exit_code == 0, done.output
    assert [each["mismatches"] for each in json.loads(done.stdout)["executions"]] == [0, 0]
    built = run("build", model, "-o", tmp_path, "--data", windows, "--json")
    assert built.exit_code == 0, built.output
    stages = [stage["name"] for stage in json.loads(built.stdout)["plan"]["stages"]]
    assert stages[0] == "window_features"


def test_tuning_searches_models_of_windows(windows: Path, tmp_path: Path) -> None:
    options = ["--trials", 2, "--folds", 2, "--jobs", 1, "--features", FEATURES]
    done = run("tune", windows, "-o", tmp_path / "model.npz", *options)
    assert done.exit_code == 0, done.output
    tuned = load_model(tmp_path / "model.npz")
    assert tuned.feature_stage is not None
    assert tuned.feature_stage.window == 20


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (["--features", "mean,mode"], "no feature 'mode'"),
        (["--features", "bands:5"], "at most 4 bands"),
        (["--features", "mean", "--window", "7x3"], "windows of 7x3 have 21 samples"),
        (["--features", "mean", "--window", "7y3"], "is not a number of samples and channels"),
        (["--window", "20x2"], "no features of windows are"),
        (["--features", "mean", "--projection-dim", 9], "the data has 2 features"),
        (["--features", "mean", "--sample-rate", 0], "--sample-rate"),
    ],
)
def test_wrong_window_features_are_one_sentence(
    windows: Path, tmp_path: Path, options: list[object], sentence: str
) -> None:
    done = run("train", windows, "-o", tmp_path / "model.npz", "--prototypes", 4, *options)
    assert done.exit_code == 2
    assert sentence in " ".join(done.output.split())


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (["--window", 101], "no run of equal labels has the 101 samples"),
        (["--window", 1], "--window"),
        (["--window", 20, "--test", 1], "--test"),
    ],
)
def test_a_recording_without_windows_is_one_sentence(
    recording: Path, tmp_path: Path, options: list[object], sentence: str
) -> None:
    done = run("windows", recording, "-o", tmp_path / "windows.npz", *options)
    assert done.exit_code == 2
    assert sentence in " ".join(done.output.split())


def test_a_data_set_of_another_name_is_refused(recording: Path) -> None:
    done = run("windows", recording, "-o", recording.with_suffix(".txt"), "--window", 20)
    assert done.exit_code == 2
    assert "must end in .npz" in done.output
