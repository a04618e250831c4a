"""A network that never answered a class, and inputs that were all clamped, were not reported."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from command_line import succeed
from sklearn.tree import DecisionTreeClassifier
from skops import io


def test_convert_warns_of_a_class_without_answers_and_counts_clamped_inputs(
    tmp_path: Path,
) -> None:
    X = np.random.default_rng(0).uniform(0, 1, (60, 2)).round(3)
    y = np.where(X[:, 0] > 0.6, "fault", "ok")
    io.dump(DecisionTreeClassifier(max_depth=2).fit(X, y), tmp_path / "tree.skops")
    for name, scale in (("same", 1), ("other", 1e-3)):
        rows = [f"{a * scale},{b},{label}" for (a, b), label in zip(X.tolist(), y, strict=True)]
        data = tmp_path / f"{name}.csv"
        data.write_text("\n".join(["a,b,label", *rows]) + "\n")
        output = tmp_path / f"{name}.npz"
        done = succeed("convert", tmp_path / "tree.skops", "--data", data, "-o", output)
        unlike = name == "other"
        assert ("warning: the model never answers 'fault'" in done.stderr) == unlike
        assert ("inputs clamped: 60 of 120 values (50.00 %)" in done.stdout) == unlike
        assert ("inputs clamped" in done.stdout) == unlike
    done = succeed("predict", tmp_path / "same.npz", tmp_path / "same.csv")
    assert "values (" in done.stderr
    assert "%), on purpose: they are beyond all thresholds of the trees" in done.stderr
