"""Times and ids are no features, however their names are written; units in names are units."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from command_line import run, succeed
from flower_tables import Write
from refusals import refuses

from protonn_edge.datasets import load_dataset
from protonn_edge.datasets.recorded import read_recording

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
    refuses(run("predict", tmp_path / "m.npz", tmp_path / "g.npz"), "datasets.reading")


@pytest.mark.parametrize("command", ["predict", "verify"])
def test_windows_at_another_rate_are_refused(write: Write, tmp_path: Path, command: str) -> None:
    model, window = tmp_path / "m.npz", ("--window", 20, "-o")
    succeed("windows", recording(write), *window, tmp_path / "w.npz")
    train = "train", tmp_path / "w.npz", "-o", model, "--classifier", "linear"
    succeed(*train, "--features", "mean")
    succeed("windows", recording(write, step=0.0205), *window, tmp_path / "alike.npz")
    succeed("predict", model, tmp_path / "alike.npz")
    succeed("windows", recording(write, step=0.005), *window, tmp_path / "fast.npz")
    refuses(run(command, model, tmp_path / "fast.npz"), "datasets.reading")


@pytest.mark.parametrize(
    ("time", "step", "rate"),
    [("t [ms]", 20, 50), ("Time (µs)", 2000, 500), ("Time (min)", 0.1, None)],
)
def test_the_unit_of_a_time_gives_the_rate(
    write: Write, time: str, step: float, rate: float | None
) -> None:
    found = read_recording(recording(write, (time, *HEADER[1:]), step))
    assert found.channels == ("ax", "ay", "az")
    assert found.rate == rate


@pytest.mark.parametrize("unit", ["(raw)", "(1)", ""])
def test_names_stay_without_units_of_all_channels(write: Write, unit: str) -> None:
    header = (HEADER[0], *(f"{name} {unit}".strip() for name in ("x", "y")), "z (g)", "label")
    found = read_recording(recording(write, header))
    assert found.channels == header[1:4]
    assert found.dataset.instrument is None


def test_a_temperature_is_a_time_only_if_it_rises_evenly_and_then_with_a_warning(
    write: Write,
) -> None:
    header = ("t (C)", "x", "label")
    rows = [[20 + n * 7 % 11 / 10, n % 7, "ab"[n % 2]] for n in range(40)]
    assert names(write(rows, header)) == header[:2]
    path = write([[20 + n / 10, *row[1:]] for n, row in enumerate(rows)], header)
    assert names(path) == ("x",)
    (notice,) = (each for each in load_dataset(path).notices if each.kind == "left_out")
    assert notice.warning
    assert load_dataset(path, keep="t (C)").feature_names == header[:2]


@pytest.mark.parametrize(
    "name", ["machine_id", "Maschine", "device", "sensor_id", "Unit number", "MachineID", "user nr"]
)
def test_numbers_of_machines_and_persons_are_no_features(write: Write, name: str) -> None:
    path = write(
        [[5 * n % 12, n * 7 % 11 / 10, n % 7, "ab"[n % 2]] for n in range(40)],
        (name, "x", "y", "c"),
    )
    assert names(path) == ("x", "y")
    left_out = [notice.text for notice in load_dataset(path).notices if notice.kind == "left_out"]
    assert left_out == [f"left out: column {name!r}, a session, person or device"]


@pytest.mark.parametrize("name", ["sensor", "unit", "machine load", "device", "sensor_no"])
def test_measurements_that_are_called_like_ids_stay(write: Write, name: str) -> None:
    path = write([[n * 7 % 11 + 0.5, n % 7, "ab"[n % 2]] for n in range(40)], (name, "y", "c"))
    assert names(path) == (name, "y")


def test_a_device_in_the_last_column_is_the_label(write: Write) -> None:
    path = write([[n * 7 % 11 / 10, n % 7, n % 3] for n in range(40)], ("volts", "amps", "device"))
    assert load_dataset(path).classes == ("0", "1", "2")
