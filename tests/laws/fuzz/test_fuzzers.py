"""The first cases of every area of the fuzzers; `make fuzz` runs as many as time allows."""

from __future__ import annotations

from pathlib import Path

import pytest
from laws.fuzz.areas import Area, find_areas


@pytest.mark.parametrize("every", [2, pytest.param(1, marks=pytest.mark.nightly)])
@pytest.mark.parametrize("area", find_areas(), ids=lambda area: area.name)
def test_first_cases_find_nothing(area: Area, every: int, tmp_path: Path) -> None:
    for seed in range(0, area.brief_cases, every):
        assert area.finding(seed, tmp_path) is None, f"seed {seed}"
