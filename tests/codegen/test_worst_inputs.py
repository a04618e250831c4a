"""The search for inputs that take long finds long ones, and the same ones everywhere."""

from __future__ import annotations

import hashlib

import numpy as np
import pytest
from chains import replace
from linear_factory import random_linear_model
from model_factory import (
    random_model,
    tiny_gradients_model,
    tiny_pooling_model,
    tiny_windows_model,
)
from worst_inputs import compared, prototype_costs, prototype_cycles, worst_inputs

from protonn_edge.codegen.planner import make_plan
from protonn_edge.features.pooling.making import average_pooling
from protonn_edge.model.input_quantizer import InputQuantizer
from protonn_edge.model.integer_chain import IntegerChain, named_stages, own_inputs
from protonn_edge.model.quantization import quantize


def deskewing_model() -> IntegerChain:
    return replace(
        quantize(random_model(features=25, projections=4, prototypes=12)),
        inputs=InputQuantizer(np.zeros(25), np.ones(25), 63),
        features=average_pooling((12, 12), (10, 10), (5, 5), deskew=True),
    )


def large_model() -> IntegerChain:
    return quantize(random_model(features=60, projections=8, prototypes=40))


@pytest.mark.parametrize(
    ("make", "effort", "known", "cycles"),
    [
        (large_model, 0.1, "53eee9a3e484874f", 4_549),
        (deskewing_model, 0.02, "3bbd4a40b5ef8d6a", 1_126),
        (tiny_windows_model, 0.02, "812daa20e1c605da", 206),
        (tiny_gradients_model, 0.02, "6554e8c1479b1f7f", 206),
        (tiny_pooling_model, 0.02, "64b0db9f6319a12c", 102),
    ],
)
def test_a_search_finds_the_same_inputs_on_every_machine(make, effort, known, cycles) -> None:
    """A change of the search is seen here; it should find inputs that take as long, or longer."""
    model = make()
    plan = make_plan(model)
    found = worst_inputs(model, plan, 32, effort=effort)
    projected = named_stages(model)["projection"].run(own_inputs(model, found))
    assert prototype_cycles(model, projected, prototype_costs(plan)).max() >= cycles
    assert hashlib.sha256(found.tobytes()).hexdigest()[:16] == known


def test_inputs_that_take_longest_come_first() -> None:
    model = large_model()
    plan = make_plan(model)
    found = worst_inputs(model, plan, 32, seed=1, effort=0.02)
    cycles = prototype_cycles(
        model, named_stages(model)["projection"].run(found), prototype_costs(plan)
    )
    assert (np.diff(cycles) <= 0).all()
    assert (found >= 1).all()
    assert (found <= model.inputs.maximum).all()


def test_prototypes_take_the_cycles_of_the_coordinates_that_are_compared() -> None:
    model = large_model()
    costs = np.array([10, 17, 29, 30, 31, 32, 33, 34, 40])
    points = np.random.default_rng(0).integers(-128, 128, (20, 8))
    reached = compared(named_stages(model)["prototypes"], points)
    expected = [sum(int(costs[each.sum() - 1]) for each in point) for point in reached]
    assert prototype_cycles(model, points, costs).tolist() == expected


def test_models_of_other_kinds_get_inputs_that_are_never_0() -> None:
    model = quantize(random_linear_model())
    found = worst_inputs(model, make_plan(model), 5)
    assert found.shape == (5, 12)
    assert 1 <= found.min() < found.max() <= model.inputs.maximum
