"""Inputs that are searched for take long."""

from __future__ import annotations

import numpy as np
from chains import replace
from model_factory import random_model
from worst_inputs import compared, moved_cycles, prototype_costs, prototype_cycles, worst_inputs

from protonn_edge.codegen.planner import make_plan
from protonn_edge.features.deskew.integers import row_shifts
from protonn_edge.features.pooling.making import average_pooling
from protonn_edge.model.input_quantizer import InputQuantizer
from protonn_edge.model.integer_chain import named_stages
from protonn_edge.model.quantization import quantize


def test_images_to_search_are_deskewed_and_take_longer_for_it() -> None:
    pooling = average_pooling((12, 12), (10, 10), (5, 5), deskew=True)
    model = replace(
        quantize(random_model(features=25, projections=4, prototypes=12)),
        inputs=InputQuantizer(np.zeros(25), np.ones(25), 63),
        features=pooling,
    )
    plan = make_plan(model)
    images = worst_inputs(model, plan, 4, effort=0.3)
    assert images.shape == (4, 144)
    shifts = row_shifts(images.reshape(-1, 12, 12))
    assert moved_cycles(pooling.stages[0].image, shifts)[0] > 0


def test_worst_inputs_take_long_and_none_is_0() -> None:
    model = quantize(random_model(features=60, projections=8, prototypes=40))
    plan, costs = make_plan(model), prototype_costs(make_plan(model))
    rng = np.random.default_rng(0)
    ordinary = rng.integers(1, model.inputs.maximum + 1, (500, 60)).astype(np.uint8)
    found = worst_inputs(model, plan, 3)
    assert found.shape == (3, 60)
    assert found.min() > 0
    cycles = prototype_cycles(model, named_stages(model)["projection"].run(found), costs)
    assert (
        cycles[0]
        > prototype_cycles(model, named_stages(model)["projection"].run(ordinary), costs).max()
    )
    assert (np.diff(cycles) <= 0).all()


def test_prototypes_take_the_cycles_of_the_coordinates_that_are_compared() -> None:
    model = quantize(random_model(features=60, projections=8, prototypes=40))
    costs = np.array([10, 17, 29, 30, 31, 32, 33, 34, 40])
    points = np.random.default_rng(0).integers(-128, 128, (20, 8))
    reached = compared(named_stages(model)["prototypes"], points)
    expected = [sum(int(costs[each.sum() - 1]) for each in point) for point in reached]
    assert prototype_cycles(model, points, costs).tolist() == expected
