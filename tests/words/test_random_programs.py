"""Random programs on emulated cores; `python -m words 1000` in tests/ runs more of them."""

from __future__ import annotations

import pytest

from words.chips import CHIPS, HOW
from words.random_programs import SETTINGS, differing


@pytest.mark.parametrize("seed", range(len(SETTINGS)))
def test_random_programs_compute_the_reference(seed: int) -> None:
    if CHIPS[SETTINGS[seed][0]].missing:
        pytest.skip(HOW)
    assert differing(seed, SETTINGS[seed]) == 0
