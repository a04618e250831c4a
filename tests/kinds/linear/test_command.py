"""What the command line says of a training by scikit-learn."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from command_line import succeed

from protonn_edge.data.points.splits import load_digits_dataset


def test_a_training_that_has_not_converged_says_so(tmp_path: Path) -> None:
    digits, data = load_digits_dataset(), tmp_path / "digits.npz"
    np.savez(data, X_train=digits.X_train[::9], y_train=digits.y_train[::9])
    options = ("--classifier", "linear", "--max-iterations", "1", "--verbose")
    done = succeed("train", data, "-o", tmp_path / "model.npz", *options)
    assert "epoch 1 of 1, objective" in done.output
    assert "training did not converge within the limit of 1 passes" in done.output
