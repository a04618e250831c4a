"""Models of data with decimals, trained once."""

from __future__ import annotations

from pathlib import Path

import pytest
from decimal_data import DATA_SETS, trained


@pytest.fixture(scope="session", params=DATA_SETS)
def decimals(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> tuple[Path, Path]:
    """Return the file of a model, and of its test points."""
    return trained(request.param, tmp_path_factory.mktemp(request.param))
