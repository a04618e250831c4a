"""A recording's counts are in the units of its own channels, and in no unknown unit."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from command_line import refusal, run, succeed

HEAD = "# protonn-edge recording 1; sensor: mpu6050; rate: 100 Hz; "
UNITS = "units: ax ay az 1/8192 g; gx gy gz 1/65.5 deg/s"


def recording(path: Path, head: str, per_unit: float, digits: int = 0) -> Path:
    """Write samples of six channels of two classes, in units of 1 / per_unit."""
    rng, rows = np.random.default_rng(0), []
    for label, size in (("rest", 0.05), ("wave", 2.0)):
        for sample in rng.normal((0, 0, 1, 0, 0, 0), size, (200, 6)):
            cells = ",".join(f"{round(each * per_unit, digits):.{digits}f}" for each in sample)
            rows.append(f"{label},{len(rows) / 100:.2f},{cells}")
    header = "label,time,ax,ay,az,gx,gy,gz"
    path.write_text("\n".join([*filter(None, [head]), header, *rows]) + "\n")
    return path


def windows_of(source: Path, *read: str) -> dict[str, np.ndarray]:
    words = [f"--{each}" for each in read]
    target = source.with_suffix(".npz")
    succeed("windows", source, "-o", target, "--window", 20, *words)
    return dict(np.load(target))


def test_counts_are_not_taken_for_decimals_of_an_unknown_unit(tmp_path: Path):
    """All were clamped, and the only word was their number."""
    plain = recording(tmp_path / "phone.csv", "", 9.81, digits=3)
    windows_of(plain, "channels=ax,ay,az")
    model = tmp_path / "model.npz"
    succeed("train", plain.with_suffix(".npz"), "-o", model, "--classifier", "linear")
    board = recording(tmp_path / "board.csv", HEAD + UNITS, 8192)
    windows_of(board, "channels=ax,ay,az")
    said = refusal(run("predict", model, board.with_suffix(".npz")))
    assert "has counts of mpu6050 (1/8192 g), but the model was trained on decimal numbers" in said
    assert "--unit g" in said
    told = succeed("predict", model, board.with_suffix(".npz"), "--unit", "m/s^2")
    assert "are converted to m/s^2" in told.output


def test_few_points_that_are_nearly_all_out_of_range_are_warned_of(tmp_path: Path):
    plain = recording(tmp_path / "phone.csv", HEAD + "units: g", 1, digits=3)
    windows_of(plain, "channels=ax,ay,az")
    model = tmp_path / "model.npz"
    succeed("train", plain.with_suffix(".npz"), "-o", model, "--classifier", "linear")
    board = recording(tmp_path / "board.csv", "", 8192)
    found = windows_of(board, "channels=ax,ay,az")
    X = found["X_train"].reshape(20, -1)[15:18]
    X[0, 0] = 0
    named = {name: found[name] for name in ("feature_names",) if name in found}
    np.savez(tmp_path / "few.npz", X=X, **named)
    said = succeed("predict", model, tmp_path / "few.npz").output
    assert "warning: most values of 60 of 60 features are outside the range" in said
