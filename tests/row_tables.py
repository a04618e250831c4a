"""Tables of cases in text files beside tests: a section, and a case in each of its rows.

A section begins with ``## NAME: what its columns are``; a row is a name and its other columns,
between ``|``.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest


def rows(path: Path, section: str) -> list[list[str]]:
    """Return the rows of a section: their names, and their other columns."""
    lines = path.read_text("utf-8").split(f"## {section}: ")[1].split("\n\n")[0].splitlines()[1:]
    return [[part.strip() for part in line.split(" |")] for line in lines]


def cases(path: Path, section: str) -> list[Any]:
    """Return the columns of a section's rows as parameters of a test, named as the rows are."""
    return [pytest.param(*parts, id=name) for name, *parts in rows(path, section)]
