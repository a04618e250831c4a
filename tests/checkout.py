"""The checkout that these tests belong to."""

from __future__ import annotations

from pathlib import Path

import pytest

CHECKOUT = Path(__file__).parents[1]


def skip_unless_checked_out(name: str) -> None:
    """Skip a test of what a checkout has, but not every copy of it: this file or folder."""
    if not (CHECKOUT / name).exists():
        pytest.skip(f"{name} is not there; to run: clone the repository")
