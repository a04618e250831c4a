"""Numbers of images, of windows and of sounds: features and networks come in front."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from avr_tools import needs_emulated_avr
from command_line import run_json
from extension_parts import additions

RNG = np.random.default_rng(0)


def gauges(n: int) -> tuple[np.ndarray, np.ndarray]:
    """Return pictures (n, 12, 12) of a pointer, and its angle in degrees."""
    degrees = RNG.uniform(-60, 60, n)
    y, x = np.mgrid[0:12, 0:12] - 5.5
    right, up = (f(np.deg2rad(degrees))[:, None, None] for f in (np.sin, np.cos))
    along, across = x * right - y * up, x * up + y * right
    pictures = 255 * np.exp(-(across**2)) * ((along > -1) & (along < 5.5))
    return np.rint(np.clip(pictures + RNG.normal(0, 8, pictures.shape), 0, 255)), degrees


def swings(n: int) -> tuple[np.ndarray, np.ndarray]:
    """Return windows (n, 64, 1) at 50 Hz, and the amplitude of their movement."""
    size = RNG.uniform(20, 200, n)
    angle = np.arange(64) / RNG.uniform(2, 4, (n, 1)) + RNG.uniform(0, 6, (n, 1))
    return np.rint(size[:, None] * np.sin(angle))[:, :, None], size


CASES = {
    "gradients": (gauges, None, ("--features", "gradients:3x3", "--image-shape", "12x12")),
    "layers": (
        gauges,
        None,
        ("--features", "conv:4x3,max2,6x3", "--image-shape", "12x12", "--network-epochs", "12"),
    ),
    "layers of a window": (
        swings,
        50.0,
        ("--features", "conv:4x5/2,6x3,average", "--network-epochs", "12"),
    ),
    **additions("numbers of features"),
}


@needs_emulated_avr
@pytest.mark.parametrize("case", CASES)
def test_a_number_of_features_is_right_on_the_device(case: str, tmp_path: Path) -> None:
    made, rate, options = CASES[case]
    X, y = made(260)
    facts = {} if rate is None else {"sample_rate": rate}
    parts = {"X_train": X[:200], "y_train": y[:200], "X_test": X[200:], "y_test": y[200:]}
    np.savez(tmp_path / "data.npz", **parts, **facts)
    model = tmp_path / "model.npz"
    small = ("--prototypes", "8", "--epochs", "40")
    told = run_json("train", tmp_path / "data.npz", *options, *small, "-o", model)
    assert told["test"]["r2"] > 0.9
    assert told["float"]["r2"] - told["test"]["r2"] < 0.01
    assert run_json("verify", model, tmp_path / "data.npz")["mismatches"] == 0
