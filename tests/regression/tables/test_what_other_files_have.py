"""Takes of sound ran together; text in place of a model's numbers was a traceback."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from command_line import refusal, run, succeed

NOISE = np.random.default_rng(0).normal(0, 9, (60, 2)).round(2).tolist()


@pytest.fixture
def model(tmp_path: Path) -> Path:
    rows = [f"{x},{y},{'ab'[place % 2]}" for place, (x, y) in enumerate(NOISE)]
    (tmp_path / "t.csv").write_text("\n".join(["x,y,label", *rows]) + "\n")
    succeed("train", tmp_path / "t.csv", "-o", tmp_path / "m.npz", "--classifier", "linear")
    return tmp_path / "m.npz"


@pytest.mark.parametrize("cells", [("foo", "bar", "baz"), ("1", "bar", "3")])
def test_text_where_a_model_needs_numbers_is_refused(model: Path, cells: tuple[str, ...]) -> None:
    other = model.with_name("other.csv")
    other.write_text("x,y\n" + "".join(f"1.5,{cell}\n" for cell in cells))
    sentence = refusal(run("predict", model, other))
    assert "column 'y'" in sentence
    assert "finite number" in sentence
