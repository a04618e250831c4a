"""The planner takes the fastest plan that fits, and its cycles are those that are counted."""

from __future__ import annotations

from chains import replace
from model_factory import random_inputs, random_model
from plans import plan_with
from refusals import refused_by

from protonn_edge.chips.boards import load_board
from protonn_edge.codegen.planner import Limits, make_plan, plans
from protonn_edge.model.quantization import measure_activity, quantize

UNO = load_board("uno")


def test_fastest_plan_that_fits_is_taken() -> None:
    model = quantize(random_model(features=200, projections=10, prototypes=20))
    fastest = make_plan(model, Limits.of(UNO))
    assert (fastest.kernel, fastest.buffered) == ("unrolled", True)
    short_of_flash = make_plan(model, Limits(flash_bytes=fastest.flash_bytes - 1))
    assert (short_of_flash.kernel, short_of_flash.buffered) == ("columns", True)


def test_smallest_plan_is_tried_where_none_seems_to_fit() -> None:
    model = quantize(random_model(features=200))
    choices = plans(model, Limits(flash_bytes=100))
    assert len(choices) == 1
    every = [plan_with(model, kernel) for kernel in ("columns", "unrolled")]
    assert choices[0].flash_bytes == min(plan.flash_bytes for plan in every)


def test_two_weights_a_byte_are_as_fast_and_half_as_large() -> None:
    """That is where columns are best: too many weights for instructions."""
    model = quantize(replace(random_model(features=128, projections=16), projection_bits=4))
    columns, packed = (plan_with(model, kernel) for kernel in ("columns", "packed"))
    assert columns.table_bytes - packed.table_bytes == 128 * 16 // 2
    assert packed.mean_cycles < columns.mean_cycles
    limits = Limits(flash_bytes=columns.flash_bytes)
    assert make_plan(model, limits).kernel == "packed"


def test_weights_that_need_more_bits_are_not_packed() -> None:
    model = quantize(random_model())
    with refused_by("codegen.planner"):
        make_plan(model, kernel="packed")


def test_without_points_the_mean_is_that_of_inputs_that_are_never_0() -> None:
    model = quantize(random_model())
    activity = measure_activity(model, random_inputs(0, 50, model))
    assert make_plan(model, activity=activity).mean_cycles < make_plan(model).mean_cycles
