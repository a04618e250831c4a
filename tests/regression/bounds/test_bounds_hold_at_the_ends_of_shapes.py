"""Models that took longer than their bound: many inputs, classes or prototypes.

An input that no weight uses takes a cycle more where it is 0. What the compiler made around the
loops over classes and near prototypes took longer, the more of them there were.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from avr_tools import needs_emulated_avr
from chains import numbers_of, replace
from fuzz.bounds import check_points
from plans import plan_with
from random_shapes import Shape, random_model_of, random_points

from protonn_edge.chain.integer_chain import named_stages, own_inputs
from protonn_edge.chain.policy import with_rules, without_rules
from protonn_edge.codegen import Plan
from protonn_edge.features.average_pooling.making import average_pooling
from protonn_edge.kernels.matvec.kernels import KernelName
from protonn_edge.policy.rejection.rule import IntegerRejection
from protonn_edge.quantization import IntegerChain

pytestmark = needs_emulated_avr


def crowded_model(shape: Shape, labels: int, seed: int = 0) -> tuple[IntegerChain, np.ndarray]:
    """Return a model all of whose prototypes are near the first of some points, (n, features)."""
    rng = np.random.default_rng(seed)
    model = without_rules(random_model_of(rng, shape))
    Q = random_points(rng, 6, model)[::-1]
    place = named_stages(model)["projection"].run(own_inputs(model, Q[:1]))
    Z = rng.integers(-labels, labels, numbers_of(model)["labels"].shape)
    return replace(
        model,
        prototypes=np.repeat(place.T, shape.m, axis=1).astype(np.int8),
        labels=Z.astype(np.int8),
    ), Q


def check(model: IntegerChain, kernel: KernelName, Q: np.ndarray, folder: Path) -> Plan:
    plan = plan_with(model, kernel)
    check_points("regression", model, plan, Q, folder)
    return plan


def test_inputs_without_weights_take_longer_where_they_are_0(tmp_path: Path) -> None:
    model, Q = crowded_model(Shape(d=1, m=1, classes=2, inputs=400), labels=20)
    model = replace(model, projection=np.zeros_like(numbers_of(model)["projection"]))
    assert not Q.all(axis=1).all()
    check(model, "unrolled", Q, tmp_path)


def test_many_classes_with_scores_of_four_bytes(tmp_path: Path) -> None:
    model, Q = crowded_model(Shape(d=1, m=40, classes=255, inputs=3), labels=127)
    assert model.own_stages[-1].output_bits == 32
    check(model, "masked", Q, tmp_path)


def test_nearest_of_many_prototypes(tmp_path: Path) -> None:
    before = average_pooling((16, 8), (16, 8), (15, 6), deskew=True)
    model, Q = crowded_model(Shape(d=2, m=512, classes=3, inputs=90, before=before), labels=100)
    _, high = model.own_stages[-1].output.ends
    rejection = IntegerRejection(score=min(100, high), rbf=60, margin=100)
    check(with_rules(model, rejection), "columns", Q, tmp_path)


def test_inputs_behind_masks_that_are_more_than_a_byte_counts(tmp_path: Path) -> None:
    """Their projection is called at two places, so the compiler no longer inlines it."""
    model, Q = crowded_model(Shape(d=6, m=1, classes=2, inputs=400), labels=20)
    signs = np.where(np.arange(400) % 2, 1, -1)
    small = replace(model.inputs, maximum=100)
    model = replace(model, projection=np.tile(signs, (6, 1)).astype(np.int8), inputs=small)
    plan = plan_with(model, "masked", buffered=False)
    check_points("regression", model, plan, Q.clip(1, 100), tmp_path)
