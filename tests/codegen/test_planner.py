"""The planner takes the fastest plan that fits, and its cycles are those that are counted."""

from __future__ import annotations

import numpy as np
import pytest
from chains import numbers_of, replace
from model_factory import random_inputs, random_model
from plans import plan_with
from refusals import refused_by

from protonn_edge.chips.boards import load_board
from protonn_edge.codegen.planner import Limits, make_plan, plans
from protonn_edge.kinds.protonn.prototypes.kernels import near_at_most
from protonn_edge.model.activity import Activity
from protonn_edge.model.integer_chain import named_stages
from protonn_edge.model.quantization import measure_activity, quantize

UNO = load_board("uno")


def test_fastest_plan_that_fits_is_taken() -> None:
    model = quantize(random_model(features=200, projections=10, prototypes=20))
    fastest = make_plan(model, Limits.of(UNO))
    assert (fastest.kernel, fastest.buffered) == ("unrolled", True)
    short_of_flash = make_plan(model, Limits(flash_bytes=fastest.flash_bytes - 1))
    assert (short_of_flash.kernel, short_of_flash.buffered) == ("columns", True)
    short_of_sram = make_plan(model, Limits(sram_bytes=400))
    assert not short_of_sram.buffered


def test_smallest_plan_is_tried_where_none_seems_to_fit() -> None:
    model = quantize(random_model(features=200))
    choices = plans(model, Limits(flash_bytes=100))
    assert len(choices) == 1
    every = [plan_with(model, kernel) for kernel in ("columns", "masked", "unrolled")]
    assert choices[0].flash_bytes == min(plan.flash_bytes for plan in every)


def test_masks_are_smaller_where_most_weights_are_0() -> None:
    model = quantize(random_model(features=200, projections=10))
    sparse = np.where(np.arange(200) % 5 == 0, numbers_of(model)["projection"], 0).astype(np.int8)
    model = replace(model, projection=sparse, bias=numbers_of(model)["bias"] * 0)
    sizes = {
        kernel: plan_with(model, kernel).flash_bytes for kernel in ("columns", "masked", "unrolled")
    }
    assert min(sizes, key=lambda kernel: sizes[kernel]) == "masked"


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


def test_a_file_cannot_state_that_more_prototypes_are_near_than_can_be() -> None:
    """Statistics may belong to other prototypes."""
    model = quantize(random_model(0, projections=3, prototypes=12))
    corners = np.where(np.indices((3, 12))[1] >> np.indices((3, 12))[0] & 1, 127, -128)
    apart = replace(model, prototypes=corners.astype(np.int8))
    inputs = np.ones(model.n_inputs)
    activity = Activity(inputs, {"prototypes": (np.ones(3), np.ones(12))})
    near = near_at_most(named_stages(apart)["prototypes"])
    assert near[-1] < 12
    most = np.append(1, near[:-1] / 12), np.full(12, near[-1] / 12)
    bounded = Activity(inputs, {"prototypes": most})
    plan, limit = (make_plan(apart, activity=each) for each in (activity, bounded))
    assert plan.mean_cycles == pytest.approx(limit.mean_cycles, rel=0.1)
