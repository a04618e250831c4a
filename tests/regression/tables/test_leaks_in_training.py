"""`train` believed a column that gives the label away without a word; only `data` warned of it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from command_line import succeed
from flower_tables import Write


def test_a_column_that_gives_the_label_away_is_named(write: Write, tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    table = [
        [f"{rng.random():.3f}", f"{10 * y + rng.random():.3f}", "ab"[y]]
        for y in rng.integers(0, 2, 100)
    ]
    arguments = "train", write(table, ("x", "copy", "label")), "-o", tmp_path / "m.npz"
    done = succeed(*arguments, "--classifier", "linear")
    assert "warning: column 'copy' alone determines the label; if" in done.stderr
    assert done.stderr.count("determines") == 1
