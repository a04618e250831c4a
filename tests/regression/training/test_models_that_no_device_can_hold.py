"""Training wrote a model that it then refused, because its prototypes are too far apart."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from command_line import run


def test_a_refused_model_is_not_written(tmp_path: Path) -> None:
    X = np.random.default_rng(0).normal(size=(30, 2))
    np.savez(tmp_path / "data.npz", X=X, y=np.array(list("abc" * 10)))
    model = tmp_path / "model.npz"
    done = run("train", tmp_path / "data.npz", "--epochs", 2, "--gamma", "10", "-o", model)
    assert done.exit_code == 2
    assert "RBF widths, but the integer model covers only 31" in done.stderr
    assert not model.exists()
