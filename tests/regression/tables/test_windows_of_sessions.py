"""A recording with times and sessions is cut into windows that cross no seam."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from command_line import run_json, succeed
from flower_tables import Write

CHANNELS = ("ax", "ay", "az")
NOISE = np.random.default_rng(0).normal(0, 100, 400).round(3)


def recording(
    write: Write, *, session: str = "session", lost: slice = slice(0), when: str = "{ms}"
) -> Path:
    """Write two sessions of each of two labels, 100 samples each; ax is noise."""
    rows = []
    for n in range(400):
        taken = ("first", "second")[n // 100 % 2]
        moment = when.format(ms=20 * n, second=n // 50, rest=20000 * (n % 50))
        rows.append([moment, NOISE[n], n % 7, 100 - n % 5, taken, ("rest", "walk")[n // 200]])
    del rows[lost]
    return write(rows, ["timestamp", *CHANNELS, session, "label"])


def cut(path: Path, *options: object) -> dict[str, np.ndarray]:
    """Return the arrays of the windows file."""
    output = path.with_name("windows.npz")
    succeed("windows", path, "-o", output, *options)
    with np.load(output, allow_pickle=False) as arrays:
        return dict(arrays)


def test_channels_in_another_order_are_matched_by_name(write: Write) -> None:
    path = recording(write)
    windows, model = path.with_name("w.npz"), path.with_name("m.npz")
    succeed("windows", path, "-o", windows, "--window", 10)
    options = ("--features", "mean,deviation", "--epochs", 5, "--prototypes", 4, "--holdout", 0)
    succeed("train", windows, "-o", model, *options)
    with np.load(windows, allow_pickle=False) as arrays:
        swapped = dict(arrays)
    swapped["X_train"] = swapped["X_train"][:, :, ::-1]
    swapped["channel_names"] = swapped["channel_names"][::-1]
    other = path.with_name("other.npz")
    np.savez(other, **swapped)
    stages = [run_json("inspect", model, "--data", each)["stages"] for each in (windows, other)]
    assert stages[0] == stages[1]
