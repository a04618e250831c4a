"""No prediction takes more cycles than its plan's bound, or fewer than its least."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from avr_tools import needs_emulated_avr
from chains import numbers_of
from fuzz.bounds import check_case
from model_factory import tiny_integer_model
from plans import plan_with
from random_shapes import first_stage_of, random_case

from protonn_edge.avr.cores import CORES
from protonn_edge.kernels.matvec.kernels import KERNELS
from protonn_edge.policy.rejection.rule import IntegerRejection

SEEDS = {8: "average_pooling", 9: "gradients", 11: "none", 21: "windows", 27: "deskew"}


@needs_emulated_avr
@pytest.mark.parametrize("seed", SEEDS)
def test_cycles_of_random_models_stay_between_the_limits(seed: int, tmp_path: Path) -> None:
    case = check_case(seed, tmp_path)
    assert first_stage_of(case.model) == SEEDS[seed]
    assert 0 < case.plan.least_cycles <= case.cycles.min() <= case.cycles.max()


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


def test_an_estimate_has_no_least_cycles() -> None:
    model = tiny_integer_model()
    exact, estimate = (plan_with(model, "columns", core=CORES[name]) for name in ("avr5", "avr25"))
    assert exact.to_json()["cycles"]["least"] == exact.least_cycles > 0
    assert estimate.estimated
    assert estimate.least_cycles == 0
