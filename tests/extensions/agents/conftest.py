"""A folder with a table that an agent may use."""

from __future__ import annotations

from pathlib import Path

import pytest
from sklearn.datasets import load_wine


@pytest.fixture(scope="session")
def table() -> str:
    wine = load_wine()
    rows = [
        ",".join([*(f"{each:g}" for each in row), wine.target_names[label]])
        for row, label in zip(wine.data, wine.target, strict=True)
    ]
    return "\n".join([",".join([*wine.feature_names, "class"]), *rows, ""])


@pytest.fixture
def folder(tmp_path: Path, table: str) -> Path:
    made = tmp_path / "allowed"
    made.mkdir()
    (made / "train.csv").write_text(table)
    return made
