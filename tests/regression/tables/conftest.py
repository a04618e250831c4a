"""Fixtures of the tables' tests."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest
from flower_tables import Flowers, Write, shuffled_flowers


@pytest.fixture(scope="session")
def flowers() -> Flowers:
    """Give the iris flowers in random order."""
    return shuffled_flowers()


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Give a function that writes a table."""

    def write_table(
        rows: Sequence[Sequence[object]],
        header: Sequence[str] = (),
        *,
        name: str = "data.csv",
        delimiter: str = ",",
    ) -> Path:
        lines = [delimiter.join(map(str, row)) for row in ([header] if header else []) + [*rows]]
        path = tmp_path / name
        path.write_text("\n".join(lines) + "\n", encoding="utf-8")
        return path

    return write_table
