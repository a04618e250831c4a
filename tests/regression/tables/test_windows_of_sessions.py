"""A recording with times and sessions is cut into windows that cross no seam."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from command_line import run_json, succeed
from flower_tables import Write

from protonn_edge.chain.file import load_model

CHANNELS = ("ax", "ay", "az")
NOISE = np.random.default_rng(0).normal(0, 100, 400).round(3)


def numbers_of(samples: np.ndarray) -> np.ndarray:
    """Return the numbers of the samples with some values of ax."""
    return np.abs(samples[..., None] - NOISE).argmin(axis=-1)


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


def test_no_window_crosses_a_session(write: Write) -> None:
    arrays = cut(recording(write), "--window", 30, "--stride", 10)
    begins, ends = numbers_of(arrays["X_train"][:, [0, -1], 0]).T
    assert set(begins // 100) == {0, 1, 2, 3}
    assert (begins // 100 == ends // 100).all()
    assert arrays["groups"].tolist() == [("first", "second")[n // 100 % 2] for n in begins]


@pytest.mark.parametrize("when", ["{ms}", "2024-01-01 10:00:{second:02d}.{rest:06d}"])
def test_no_window_crosses_a_gap_in_time(write: Write, when: str) -> None:
    path = recording(write, lost=slice(40, 50), when=when)
    arrays = cut(path, "--window", 20, "--stride", 5)
    samples = numbers_of(arrays["X_train"][:, :, 0])
    assert (np.diff(samples, axis=1) == 1).all()
    assert 50 in samples[:, 0]


def test_channels_keep_their_names(write: Write) -> None:
    path = recording(write)
    windows, model = path.with_name("w.npz"), path.with_name("m.npz")
    succeed("windows", path, "-o", windows, "--window", 10, "--test", 0.3)
    options = ("--features", "mean,deviation", "--epochs", 1, "--groups", "groups")
    succeed("train", windows, "-o", model, "--prototypes", 2, *options)
    declared = run_json("inspect", model)
    assert declared["channel_names"] == list(CHANNELS)
    assert load_model(model).feature_names[:4] == ("ax[0]", "ay[0]", "az[0]", "ax[1]")
    succeed("export", model, "--c", path.with_name("exported"))
    readme = (path.with_name("exported") / "README.md").read_text("utf-8")
    assert "| channel 0 | ax |" in readme


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


def test_a_column_may_be_the_groups(write: Write) -> None:
    path = recording(write, session="who")
    done = run_json("train", path, "-o", path.with_name("m.npz"), "--groups", "who", "--epochs", 1)
    assert done["data"]["features"] == 3
