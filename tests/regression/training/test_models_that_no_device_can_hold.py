"""Training wrote a model that it then refused, because its prototypes are too far apart."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from command_line import run


def test_a_refused_model_is_not_written(tmp_path: Path) -> None:
    X = np.full((6, 2), -(2**63), np.int64)
    X[0, 0] = 0
    np.savez(tmp_path / "data.npz", X=X, y=np.array(list("abcabc")))
    model, sizes = tmp_path / "model.npz", ("--projection-dim", 2, "--prototypes", 4)
    done = run("train", tmp_path / "data.npz", "--epochs", 2, *sizes, "-o", model)
    assert done.exit_code == 2
    assert "RBF widths, but the integer model covers only 31" in done.stderr
    assert not model.exists()
