"""Claims about points: no counted one changes its class within its box."""

from __future__ import annotations

import dataclasses
from itertools import product

import numpy as np
import pytest
from laws.conformance.instances import programs_of

from protonn_edge.extensions.proof.boxes import standing
from protonn_edge.extensions.proof.certificate.points import point_claims
from protonn_edge.model.integer_chain import IntegerChain

PROGRAMS = [
    ("linear", 0), ("linear", 1), ("dense", 6), ("forest", 3), ("prototypes", 2),
    ("projection", 2), ("convolution", 1), ("pooling", 1), ("int8_layer", 1),
    ("average_pooling", 0),
]  # fmt: skip
_MOVED = 5  # inputs in all ways, the others to where they change a class most often


def corners(model: IntegerChain, point: np.ndarray, steps: int) -> np.ndarray:
    """Return points in a box: all ways to move some inputs, others at random ends."""
    rng = np.random.default_rng(0)
    ways = np.array([*product((-steps, 0, steps), repeat=_MOVED)])
    moves = rng.choice([-steps, steps], (len(ways), model.n_features))
    moves[:, rng.permutation(model.n_features)[:_MOVED]] = ways
    return np.clip(point + moves, 0, model.quantizer.maximum).astype(np.uint8)


@pytest.mark.parametrize(("kind", "number"), PROGRAMS, ids=str)
def test_a_point_that_stands_keeps_its_class(kind: str, number: int) -> None:
    instance = programs_of(kind)[number].instance
    model, points = instance.model, instance.points[:4]
    classes = model.predict(points)
    before = np.ones(len(points), bool)
    for steps in (0, 1, 2):
        stands = standing(model, points, steps)
        assert stands is not None
        assert not (stands & ~before).any()
        before = stands
        assert steps or stands.any()
        for point, label, stays in zip(points, classes, stands, strict=True):
            moved = corners(model, point.astype(np.int64), steps)
            assert not stays or (model.predict(moved) == label).all()


def test_every_point_in_a_small_box_is_tried() -> None:
    """A linear model's claim is exact: other points change their class."""
    instance = programs_of("linear")[8].instance
    last = instance.model.own_stages[-1]
    few = dataclasses.replace(last, weights=np.where(np.arange(12) < 5, last.weights, 0))
    model = dataclasses.replace(instance.model, own_stages=(few,))
    points = instance.points[:20]
    stands = standing(model, points, 2)
    assert stands is not None
    assert 0 < stands.sum() < len(points)
    moves = np.zeros((5**5, 12), np.int64)
    moves[:, :5] = [*product(range(-2, 3), repeat=5)]
    for point, label, stays in zip(points, model.predict(points), stands, strict=True):
        moved = np.clip(point + moves, 0, model.quantizer.maximum).astype(np.uint8)
        assert (model.predict(moved) == label).all() == stays


def test_claims_count_points_and_clamped_values() -> None:
    model = programs_of("linear")[8].instance.model
    X = model.quantizer.restore(programs_of("linear")[8].instance.points[:20])
    X[0, :3] = model.quantizer.end[:3] + 2 * model.quantizer.step[:3]
    domain, one, two = point_claims(model, X, model.quantize(X))
    assert (domain.value, domain.points) == (3, 20)
    assert one.value is not None
    assert two.value is not None
    assert 20 >= one.value >= two.value


def test_no_claim_is_made_for_a_stage_without_bounds() -> None:
    instance = programs_of("bonsai_tree")[0].instance
    assert standing(instance.model, instance.points, 1) is None
