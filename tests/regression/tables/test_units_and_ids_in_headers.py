"""Units in the names of columns are those of the windows and of the model."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from command_line import run, succeed
from flower_tables import Write
from refusals import refuses

from protonn_edge.data.reading import load_dataset

HEADER = ("Time (s)", "ax (m/s^2)", "ay (m/s^2)", "az (m/s^2)", "label")


def recording(write: Write, header: tuple[str, ...] = HEADER, step: float = 0.02) -> Path:
    rows = [[f"{n * step:.3f}", n % 9, n % 7, -n % 5, "ab"[n // 100]] for n in range(200)]
    return write(rows, header)


def names(path: Path) -> tuple[str, ...]:
    return load_dataset(path).feature_names


def test_a_time_with_a_unit_is_no_channel_and_units_are_stored(
    write: Write, tmp_path: Path
) -> None:
    done = succeed("windows", recording(write), "-o", tmp_path / "w.npz", "--window", 20)
    assert "left out: column 'Time (s)', a time (" in done.stderr
    with np.load(tmp_path / "w.npz") as arrays:
        assert arrays["channel_names"].tolist() == ["ax", "ay", "az"]
        assert arrays["units"].tolist() == ["m/s^2"] * 3
        assert arrays["sample_rate"] == 50


def test_points_in_other_units_are_refused_although_names_agree(
    write: Write, tmp_path: Path
) -> None:
    options = "--window", 20, "-o"
    succeed("windows", recording(write), *options, tmp_path / "w.npz")
    train = ("train", tmp_path / "w.npz", "-o", tmp_path / "m.npz", "--classifier", "linear")
    succeed(*train, "--features", "mean")
    in_g = ("Time (s)", "ax (g)", "ay (g)", "az (g)", "label")
    succeed("windows", recording(write, in_g), *options, tmp_path / "g.npz")
    refuses(run("predict", tmp_path / "m.npz", tmp_path / "g.npz"), "data.reading")


@pytest.mark.parametrize("command", ["predict", "verify"])
def test_windows_at_another_rate_are_refused(write: Write, tmp_path: Path, command: str) -> None:
    model, window = tmp_path / "m.npz", ("--window", 20, "-o")
    succeed("windows", recording(write), *window, tmp_path / "w.npz")
    train = "train", tmp_path / "w.npz", "-o", model, "--classifier", "linear"
    succeed(*train, "--features", "mean")
    succeed("windows", recording(write, step=0.0205), *window, tmp_path / "alike.npz")
    succeed("predict", model, tmp_path / "alike.npz")
    succeed("windows", recording(write, step=0.005), *window, tmp_path / "fast.npz")
    refuses(run(command, model, tmp_path / "fast.npz"), "data.reading")
