"""Before training it is known what a model takes, and the linker confirms it."""

from __future__ import annotations

import dataclasses

import pytest
from avr_tools import needs_avr_gcc
from model_factory import random_model

from protonn_edge.chips.avr.program import read_share
from protonn_edge.chips.boards import load_board
from protonn_edge.codegen.projects.project import BuildOptions, trial_build
from protonn_edge.learn.search.limits import BOARD, FIRMWARE_FLASH_BYTES, TuningLimits, fit_of
from protonn_edge.model.quantization import quantize

UNO = load_board("uno")


def fit(limits, **sizes):
    model = quantize(random_model(**sizes))
    return fit_of(model, UNO, limits)


@pytest.mark.parametrize("kernel", ["columns", "unrolled"])
@needs_avr_gcc
def test_the_linked_classifier_takes_what_was_planned_or_a_little_less(kernel):
    model = random_model(features=100, projections=9, prototypes=50, classes=10)
    with trial_build(model, UNO, options=BuildOptions(kernel=kernel)) as trial:
        (generated,) = trial.elf.parent.rglob("pnn_model*.o")
        share = read_share(trial.elf, generated)
        assert 0 <= trial.plan.flash_bytes - FIRMWARE_FLASH_BYTES - share.flash_bytes < 700
        assert share.sram_bytes == trial.plan.predicting_bytes
        assert share.flash_bytes < trial.usage.flash_bytes - 1_500  # the rest is the firmware's


def test_limits_narrow_the_choice_of_a_plan():
    free = fit(TuningLimits(), features=200, projections=8)
    assert (free.figures.kernel, free.excess) == ("unrolled", {})
    small = fit(TuningLimits(flash_bytes=4_000), features=200, projections=8)
    assert small.figures.kernel == "columns"
    assert small.figures.flash_bytes <= 4_000
    assert small.excess == {}
    assert small.figures.cycles > free.figures.cycles


@pytest.mark.parametrize(
    ("limits", "name"),
    [
        (TuningLimits(flash_bytes=2_000), "--max-flash"),
        (TuningLimits(sram_bytes=40), "--max-sram"),
        (TuningLimits(latency_ms=0.1), "--max-latency-ms"),
        (TuningLimits(energy_mj=0.01), "--max-energy-mj"),
    ],
)
def test_what_is_exceeded_is_named(limits, name):
    found = fit(limits, features=200, projections=8)
    assert list(found.excess) == [name]
    assert found.worst == found.excess[name] > 1
    assert f"{name} is " in limits.describe(name, found.figures, UNO)


@needs_avr_gcc
def test_limited_time_is_that_of_linked_code_and_scaled_for_models_like_it():
    limits, model = TuningLimits(latency_ms=50), random_model(features=60, projections=8)
    found = fit_of(quantize(model), UNO, limits)
    with trial_build(model, UNO, options=BuildOptions(plan=found.plan)) as trial:
        assert found.figures.cycles == pytest.approx(trial.possible.most, rel=0.02)
    other = fit_of(quantize(random_model(features=60, projections=9)), UNO, limits, found)
    assert other.figures.cycles == other.plan.cycles * found.scale != other.plan.cycles


def test_the_board_is_a_limit_too():
    tiny = dataclasses.replace(UNO, flash_bytes=4_000)
    model = quantize(random_model(features=200, projections=8))
    found = fit_of(model, tiny, TuningLimits())
    assert list(found.excess) == [BOARD]


@pytest.mark.parametrize("sparsity", [1.0, 0.25])
def test_a_sketch_takes_what_the_trained_model_takes(make_objective, sparsity):
    objective = make_objective(limits=TuningLimits(flash_bytes=5_000))
    settings = {
        **objective.space.starts[1],
        "n_projections": 8,
        "sparsity_projection": sparsity,
    }
    drawn = objective.sketch(settings)
    _, trained = objective.test_fold(1, settings)
    assert drawn.figures.kernel == trained.figures.kernel
    assert abs(drawn.figures.flash_bytes / trained.figures.flash_bytes - 1) < 0.05
    assert abs(drawn.figures.cycles / trained.figures.cycles - 1) < 0.2
