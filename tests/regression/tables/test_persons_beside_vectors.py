"""``subject_train.txt`` beside ``X_train.txt`` was read and not used: persons were divided."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from command_line import run_json


def test_whole_persons_are_held_out_and_found_again(tmp_path: Path) -> None:
    folder, model = tmp_path / "vectors", tmp_path / "m.npz"
    folder.mkdir()
    X, n = np.random.default_rng(0).normal(0, 1, (120, 4)), np.arange(120)
    np.savetxt(folder / "X_train.txt", X, fmt="%.4f")
    np.savetxt(folder / "y_train.txt", n % 2, fmt="%d")
    np.savetxt(folder / "subject_train.txt", n // 24, fmt="%d")
    run_json("train", folder, "--classifier", "linear", "-o", model)
    rows = run_json("predict", model, folder)["rows"]
    assert len({row // 24 for row in rows}) == 1
    assert len(rows) == 24
