"""A class that is called like the answer of rejection: two answers had one name."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from command_line import refusal, run, succeed


def test_it_is_refused_with_rejection(tmp_path: Path) -> None:
    rng, data = np.random.default_rng(0), tmp_path / "data.csv"
    rows = [f"{x + k:.2f},{'known' if k else 'unknown'}" for x, k in rng.integers(0, 2, (80, 2))]
    data.write_text("\n".join(["x,label", *rows]) + "\n")
    rejecting = ("--rejection", "5%", "-o", tmp_path / "r.npz")
    assert "a class is called 'unknown'" in refusal(run("train", data, *rejecting))
    linear = ("--classifier", "linear", "-o", tmp_path / "m.npz")
    succeed("train", data, *linear)
    again = ("--calibrate", tmp_path / "m.npz", *rejecting)
    assert "a class is called 'unknown'" in refusal(run("train", data, *again))
