"""No point is near more prototypes than the bound says, which is that of all of them or less."""

from __future__ import annotations

import numpy as np
import pytest
from chains import numbers_of, replace
from model_factory import random_model, tiny_integer_model
from worst_inputs import moved_cycles, prototype_costs, prototype_cycles, worst_inputs

from protonn_edge.codegen.planner import make_plan
from protonn_edge.features.average_pooling.making import average_pooling
from protonn_edge.features.deskew.integers import row_shifts
from protonn_edge.kinds.protonn.prototypes.kernels import _worst_shell, near_at_most
from protonn_edge.model.input_quantizer import InputQuantizer
from protonn_edge.model.integer_chain import IntegerChain, named_stages
from protonn_edge.model.quantization import quantize


def with_prototypes(prototypes: np.ndarray) -> IntegerChain:
    d, m = prototypes.shape
    return replace(
        tiny_integer_model(),
        projection=np.ones((d, 6), np.int8),
        bias=np.zeros(d, np.int64),
        offset=np.zeros(d, np.int64),
        prototypes=prototypes.astype(np.int8),
        labels=np.ones((3, m), np.int8),
    )


@pytest.mark.parametrize("spread", [2, 10, 30, 60])
@pytest.mark.parametrize("d", [1, 4, 12])
def test_no_point_is_near_more_prototypes(d: int, spread: int) -> None:
    rng = np.random.default_rng(d * spread)
    model = with_prototypes(np.clip(np.rint(rng.normal(0, spread, (d, 80))), -128, 127))
    B = numbers_of(model)["prototypes"].T.astype(np.int64)
    pairs = B[rng.integers(0, 80, (2_000, 4))].mean(axis=1).astype(np.int64)
    points = np.concatenate([B, pairs, rng.integers(-128, 128, (500, d))])
    near = named_stages(model)["prototypes"].compared(points)[:, :, 1:].sum(axis=1)
    bounds = near_at_most(named_stages(model)["prototypes"])
    assert (near.max(axis=0) <= bounds).all()
    assert (np.diff(bounds) <= 0).all()
    assert bounds[0] <= 80


def test_two_clusters_far_apart_are_not_near_one_point() -> None:
    prototypes = np.repeat([[-100], [100]], 20, axis=0).reshape(1, 40)
    (bound,) = near_at_most(named_stages(with_prototypes(prototypes))["prototypes"]).tolist()
    assert 20 <= bound < 30


def test_hundreds_of_prototypes_are_far_from_being_near_all_at_once() -> None:
    """Of a cloud of which no point is near half, the bound is not more than two thirds."""
    rng = np.random.default_rng(0)
    model = with_prototypes(np.rint(rng.normal(0, 18, (16, 400))))
    bounds = near_at_most(named_stages(model)["prototypes"])
    points = np.rint(rng.normal(0, rng.choice([1, 4, 12], (600, 1)), (600, 16))).astype(np.int64)
    near = named_stages(model)["prototypes"].compared(points)[:, :, 1:].sum(axis=1)
    assert near[:, -1].max() < 200
    assert (near.max(axis=0) <= bounds).all()
    assert bounds[-1] < 267
    assert bounds[0] <= 400


def test_prototypes_in_one_place_are_all_near() -> None:
    model = with_prototypes(np.full((3, 50), 7))
    assert near_at_most(named_stages(model)["prototypes"]).tolist() == [50, 50, 50]


@pytest.mark.parametrize("seed", range(8))
def test_a_centre_is_given_up_only_if_it_is_no_better(seed: int) -> None:
    rng = np.random.default_rng(seed)
    points = rng.normal(0, 30, (40, 1 + seed))
    worst = _worst_shell(points, 2_000)
    assert worst.spare > 0
    assert _worst_shell(points, 2_000, 0.99 * worst.spare) == worst
    for least in (worst.spare, 1.2 * worst.spare):
        assert _worst_shell(points, 2_000, least).spare <= least


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
