"""No prediction takes more or fewer cycles than its linked program can."""

from __future__ import annotations

from pathlib import Path

import pytest
from avr_tools import needs_emulated_avr
from fuzz.bounds import check_case
from random_shapes import first_stage_of

SEEDS = {8: "average_pooling", 9: "gradients", 11: "none", 21: "windows", 27: "deskew"}


@needs_emulated_avr
@pytest.mark.parametrize("seed", SEEDS)
def test_cycles_of_random_models_stay_between_the_limits(seed: int, tmp_path: Path) -> None:
    case = check_case(seed, tmp_path)
    assert first_stage_of(case.model) == SEEDS[seed]
