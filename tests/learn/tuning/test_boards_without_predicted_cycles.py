"""A search for a chip whose cycles no plan predicts: memory counts, and no time is promised."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from command_line import run_json
from extension_parts import needs

SEARCH = ["--board", "pico", "--classifier", "linear", "--trials", "1", "--folds", "2"]


@pytest.fixture
def data(tmp_path: Path) -> Path:
    rng = np.random.default_rng(0)
    y = np.arange(120) % 3
    np.savez(tmp_path / "data.npz", X=(rng.normal(size=(120, 4)) + y[:, None]).astype("f4"), y=y)
    return tmp_path / "data.npz"


@needs("pico")
def test_a_model_is_chosen_without_a_time(data: Path, tmp_path: Path) -> None:
    found = run_json("tune", data, "-o", tmp_path / "model.npz", *SEARCH)
    assert found["planned"]["kernel"] == "words"
    assert found["planned"]["cycles"] is None
    assert found["cross_validated"]["ms"] is None
    assert 0 < found["planned"]["flash_bytes"] < 10_000
