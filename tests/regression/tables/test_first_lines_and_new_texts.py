"""Texts that training did not have are named."""

from __future__ import annotations

from pathlib import Path

from command_line import succeed


def test_texts_that_training_did_not_have_are_named_and_counted(tmp_path: Path) -> None:
    path, model = tmp_path / "t.csv", tmp_path / "m.npz"
    rows = [f"{n % 5},{('red', 'blue')[n % 2]},{'ab'[n % 2]}" for n in range(20)]
    path.write_text("\n".join(["x,colour,label", *rows]) + "\n")
    succeed("train", path, "-o", model, "--one-hot", "colour", "--classifier", "linear")
    assert "not in the training data" not in succeed("predict", model, path).stderr
    path.write_text(path.read_text().replace("red", "green"))
    done = succeed("predict", model, path)
    assert "column 'colour' has 10 cells with values that were not in the training" in done.stderr
    assert "('green'); in these rows, all features of the column are 0" in done.stderr
