"""Sets of labels of windows and images: trained, and the same on the emulated board."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from avr_tools import needs_emulated_avr
from command_line import run_json

SEEN = np.random.default_rng(0).random((260, 3)) < 0.4  # which of three things a point shows


def windows() -> np.ndarray:
    """Return windows (n, 32, 3), each channel of which swings if it is seen."""
    rng = np.random.default_rng(1)
    swings = np.sin(np.arange(32) / 2 + rng.uniform(0, 6, (len(SEEN), 1)))
    noise = rng.normal(0, 0.2, (len(SEEN), 32, 3))
    return (noise + 2 * swings[:, :, None] * SEEN[:, None, :]).astype(np.float32)


def images() -> np.ndarray:
    """Return images (n, 64) with up to three bright parts."""
    shown = np.random.default_rng(1).uniform(0, 1, (len(SEEN), 8, 8))
    shown[SEEN[:, 0], :4] += 1
    shown[SEEN[:, 1], :, 4:] += 1
    shown[SEEN[:, 2], 2:6, 2:6] += 1
    return shown.reshape(len(SEEN), -1).astype(np.float32)


CASES = {
    "window features": (windows(), ("--features", "deviation,max")),
    "layers of a window": (windows(), ("--features", "conv:4x5/2,6x3,average")),
    "cells of a picture": (images(), ("--features", "pool:4x4", "--image-shape", "8x8")),
    "layers": (images(), ("--features", "conv:4x3,max2", "--image-shape", "8x8")),
}


@needs_emulated_avr
@pytest.mark.parametrize("case", CASES)
def test_labels_of_features_are_right_on_the_device(case: str, tmp_path: Path) -> None:
    X, options = CASES[case]
    data, model = tmp_path / "data.npz", tmp_path / "model.npz"
    rate = {"sample_rate": 50.0} if X.ndim == 3 else {}
    np.savez(data, X=X, y=SEEN.astype(np.uint8), **rate)
    small = ("--prototypes", 12, "--epochs", 40, "--set", "network_epochs=12")
    small = small if "conv" in options[1] else small[:4]
    told = run_json("train", data, *options, *small, "-o", model)
    some = SEEN.any(axis=1).mean()
    assert told["test"]["precision_at"]["1"] > 0.9 * some
    assert run_json("verify", model, data)["mismatches"] == 0
