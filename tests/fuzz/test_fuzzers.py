"""The first cases of every area of the fuzzers; `make fuzz` runs as many as time allows."""

from __future__ import annotations

from pathlib import Path

import pytest
from fuzz.areas import Area, find_areas


@pytest.mark.parametrize("area", find_areas(), ids=lambda area: area.name)
def test_first_cases_find_nothing(area: Area, tmp_path: Path) -> None:
    for seed in range(area.brief_cases):
        assert area.finding(seed, tmp_path) is None, f"seed {seed}"
