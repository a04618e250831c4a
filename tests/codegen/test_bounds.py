"""No prediction takes more or fewer cycles than its linked program can."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from avr_tools import needs_emulated_avr
from chains import numbers_of
from fuzz.bounds import check_case
from random_shapes import first_stage_of, random_case

from protonn_edge.kernels.matvec.kernels import KERNELS
from protonn_edge.policy.rejection.rule import IntegerRejection

SEEDS = {8: "average_pooling", 9: "gradients", 11: "none", 21: "windows", 27: "deskew"}


@needs_emulated_avr
@pytest.mark.parametrize("seed", SEEDS)
def test_cycles_of_random_models_stay_between_the_limits(seed: int, tmp_path: Path) -> None:
    case = check_case(seed, tmp_path)
    assert first_stage_of(case.model) == SEEDS[seed]


def test_random_models_have_every_first_stage_plan_and_width() -> None:
    cases = [random_case(np.random.default_rng(seed)) for seed in range(24)]
    assert {first_stage_of(model) for model, _ in cases} == set(SEEDS.values())
    assert {plan.kernel for _, plan in cases} == set(KERNELS)
    assert {plan.buffered for _, plan in cases} == {False, True}
    assert {
        (numbers_of(model)["accumulator_bits"], model.own_stages[-1].output_bits)
        for model, _ in cases
    } >= {
        (16, 16),
        (16, 32),
        (24, 16),
    }
    assert any(model.policy.find(IntegerRejection) for model, _ in cases)
