"""From a recording, or raw windows, to a model of windows that builds and verifies."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from avr_tools import needs_emulated_avr
from command_line import run_json, succeed

from protonn_edge.data.files.arrays import source_of
from protonn_edge.data.points.division import digest_of
from protonn_edge.model.file import load_model, model_bytes

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
    succeed("windows", recording, "-o", path, "--window", 20, "--stride", 5, "--test", 0.4)
    return path


@pytest.fixture(scope="module")
def model(windows: Path) -> Path:
    path = windows.with_name("model.npz")
    options = ["--features", FEATURES, "--prototypes", 4, "--epochs", 30, "--sample-rate", "50"]
    succeed("train", windows, "-o", path, *options)
    return path


def test_a_data_sets_own_shape_is_the_windows(model: Path) -> None:
    trained = load_model(model)
    assert trained.features is not None
    assert trained.features.points.shape == (20, 2)
    assert trained.record["settings"]["window_shape"] == [20, 2]
    assert trained.record["settings"]["features"] == FEATURES


def test_windows_and_their_model_name_the_recording_and_each_window_its_place(
    recording: Path, windows: Path, model: Path
) -> None:
    source, digest = source_of(windows), digest_of(recording)
    settings = {"window": 20, "stride": 5, "trigger": None, "onset": None, "test": 0.4}
    assert (
        source == {"name": "recording.csv", "sha256": digest, "rows": 600, "rate": None} | settings
    )
    assert load_model(model).record["file"]["source"] == digest
    samples = np.loadtxt(recording, delimiter=",", skiprows=1, usecols=(1, 2))
    with np.load(windows) as arrays:
        for part, begins in (("X_train", "begins"), ("X_test", "test_begins")):
            cut = [samples[begin : begin + 20] for begin in arrays[begins]]
            np.testing.assert_array_equal(cut, arrays[part])
    assert source_of(recording) == source_of(model) == {}


def test_inspect_shows_window_features(model: Path, windows: Path) -> None:
    shown = " ".join(succeed("inspect", model, "--data", windows).output.split())
    assert "40: 20 samples of 2 channels at 50 Hz" in shown
    assert "kinds mean deviation min max crossings bands, bands 3, hysteresis 1" in shown
    assert run_json("inspect", model)["points"]["shape"] == [20, 2]


@needs_emulated_avr
def test_every_execution_agrees_on_windows(model: Path, windows: Path, tmp_path: Path) -> None:
    verified = run_json("verify", model, windows)["executions"]
    assert [each["mismatches"] for each in verified] == [0, 0]
    built = run_json("build", model, "-o", tmp_path, "--data", windows)
    assert built["plan"]["stages"][0]["name"] == "window_features"


def test_noise_waits_for_copies_to_be_mixed_into(recording: Path, tmp_path: Path) -> None:
    rows = (
        f"{x:.1f},{y:.1f}" for x, y in np.random.default_rng(1).normal(0, 50, (400, 2)).tolist()
    )
    (tmp_path / "hum.csv").write_text("\n".join(["x,y", *rows]) + "\n")
    cut = ["windows", recording, "--window", 20]
    found = run_json(*cut, "-o", tmp_path / "w.npz", "--noise", tmp_path / "hum.csv")
    assert found["n_noise"] == 20
    succeed(*cut, "-o", tmp_path / "plain.npz")
    with np.load(tmp_path / "w.npz") as noisy, np.load(tmp_path / "plain.npz") as plain:
        assert all(np.array_equal(noisy[name], plain[name]) for name in plain)

    def trained(name: str, *more: object) -> bytes:
        options = ("--features", "mean,deviation", "--prototypes", 4, "--epochs", 2)
        succeed("train", tmp_path / f"{name}.npz", "-o", tmp_path / "m.npz", *options, *more)
        model = load_model(tmp_path / "m.npz")
        noise = model.record["settings"]["background_noise"] or ""
        assert noise.startswith("array (20, 40) ") == (name == "w" and len(more) > 0)
        return model_bytes(replace(model, record={**model.record, "file": None}))

    copies = ("--copies", 2)
    mixed, alone, plain = trained("w", *copies), trained("plain", *copies), trained("plain")
    assert mixed == trained("w", *copies) != alone != plain == trained("w")


@pytest.mark.parametrize(("sessions", "told"), [("mt", True), ("m", False)])
def test_groups_are_told_with_the_option_for_them(
    tmp_path: Path, sessions: str, told: bool
) -> None:
    rows = (f"{sessions[i // 50 % len(sessions)]},{i % 7},{'ab'[i // 100]}" for i in range(200))
    (tmp_path / "r.csv").write_text("\n".join(["session,ax,label", *rows]) + "\n")
    done = succeed("windows", tmp_path / "r.csv", "-o", tmp_path / "w.npz", "--window", 50)
    assert ("), for 'train --groups groups'" in done.stdout) == told
