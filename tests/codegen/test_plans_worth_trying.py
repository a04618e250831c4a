"""What the planner leaves out is never the best: it is compared with all plans that there are."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from chains import replace
from dense_factory import random_dense_model
from extension_parts import additions
from forest_factory import random_forest_model
from model_factory import random_model, tiny_deskew_model, tiny_pooling_model
from plans import plan_with as plan_of_kernel
from refusals import refused_by

from protonn_edge.chips.cores import CORES
from protonn_edge.codegen.plan import PartialPlan, Plan
from protonn_edge.codegen.planner import (
    READABLE_BYTES,
    Limits,
    every_plan,
    make_plan,
    plan_of,
    plans,
)
from protonn_edge.model.integer_chain import IntegerChain
from protonn_edge.model.quantization import quantize

MODELS: dict[str, Callable[[], IntegerChain]] = {
    "protonn": lambda: quantize(random_model(features=200, projections=10, prototypes=20)),
    "dense": lambda: quantize(random_dense_model(hidden=(8, 5), features=40)),
    "forest": lambda: quantize(random_forest_model()),
    **additions("plans"),
    "pooling": tiny_pooling_model,
    "deskew": tiny_deskew_model,
}


def cycles_of(plan: Plan) -> float:
    return plan.cycles


@pytest.mark.parametrize("name", MODELS)
def test_the_fastest_of_all_plans_that_fit_is_the_first(name: str) -> None:
    model = MODELS[name]()
    every = list(every_plan(model))
    sizes = sorted({(plan.flash_bytes, plan.sram_bytes) for plan in every})
    for flash, sram in sizes[:: max(1, len(sizes) // 6)]:
        limits = Limits(flash, sram)
        tried = plans(model, limits)
        fitting = [plan for plan in every if limits.hold(plan)]
        assert cycles_of(tried[0]) == pytest.approx(min(map(cycles_of, fitting)), rel=1e-12)
        assert [cycles_of(plan) for plan in tried if limits.hold(plan)] == sorted(
            cycles_of(plan) for plan in tried if limits.hold(plan)
        )
        small = [plan for plan in every if plan.sram_bytes <= sram]
        assert min(plan.flash_bytes for plan in tried) == min(plan.flash_bytes for plan in small)


def test_the_smallest_plan_is_tried_where_none_has_room_for_its_variables() -> None:
    model = MODELS["protonn"]()
    (only,) = plans(model, Limits(sram_bytes=1))
    assert only.flash_bytes == min(plan.flash_bytes for plan in every_plan(model))


def test_limits_are_what_may_be_reached() -> None:
    plan = make_plan(MODELS["protonn"]())
    flash, sram = plan.flash_bytes, plan.sram_bytes
    assert Limits(flash, sram).hold(plan)
    assert not Limits(flash - 1, sram).hold(plan)
    assert not Limits(flash, sram - 1).hold(plan)
    assert (Limits().flash_bytes, Limits().sram_bytes) == (32_256, 2_048)


def test_tables_end_before_what_a_pointer_of_16_bits_reaches() -> None:
    """2 kB are left to other constants, which the linker puts before them."""
    plan = make_plan(MODELS["protonn"](), kernel="columns")
    most = READABLE_BYTES - 2_048
    assert READABLE_BYTES == 1 << 16
    cost = plan.costs[0]
    for tables, holds in ((most, True), (most + 1, False)):
        more = replace(cost, tables=cost.tables + tables - plan.table_bytes)
        grown = replace(plan, costs=(more, *plan.costs[1:]))
        assert grown.table_bytes == tables
        assert Limits(1 << 18, 1 << 13).hold(grown) == holds


def test_one_end_dominates_another_only_if_nothing_of_it_is_worse() -> None:
    def end(*takes: float) -> PartialPlan:
        made = PartialPlan()
        made.__dict__["takes"] = takes
        return made

    assert end(1, 2, 3).dominates(end(1, 2, 4))
    assert not end(1, 2, 3).dominates(end(1, 2, 3))
    assert not end(1, 2, 3).dominates(end(0, 9, 9))


def test_a_kernel_that_a_chip_does_not_have_is_one_sentence() -> None:
    model = MODELS["protonn"]()
    with refused_by("codegen.planner"):
        plan_of(model, {"projection": "x" * 99}, CORES["avr25"])


@pytest.mark.parametrize("name", MODELS)
def test_without_a_multiplier_the_firmware_holds_all_values(name: str) -> None:
    """The compiler's loops are too slow for the line."""
    every = list(every_plan(MODELS[name](), CORES["avr25"]))
    assert {(plan.buffered, plan.cycles) for plan in every} == {(True, None)}


def test_choices_that_are_left_out_are_the_first_ones() -> None:
    model = MODELS["protonn"]()
    plan = plan_of(model, {})
    assert plan.buffered
    assert plan.choices == plan_of(model, {"projection": plan.kernel}).choices


def test_two_weights_a_byte_are_as_fast_and_half_as_large() -> None:
    """That is where columns are best: too many weights for instructions."""
    model = quantize(replace(random_model(features=128, projections=16), projection_bits=4))
    columns, packed = (plan_of_kernel(model, kernel) for kernel in ("columns", "packed"))
    assert columns.table_bytes - packed.table_bytes == 128 * 16 // 2
    assert packed.cycles < columns.cycles
    limits = Limits(flash_bytes=columns.flash_bytes)
    assert make_plan(model, limits).kernel == "packed"


def test_weights_that_need_more_bits_are_not_packed() -> None:
    model = quantize(random_model())
    with refused_by("codegen.planner"):
        make_plan(model, kernel="packed")
