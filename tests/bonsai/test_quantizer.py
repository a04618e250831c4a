"""From float trees to integers: how near, and what is refused."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from bonsai_factory import (
    random_bonsai_chain,
    random_bonsai_model,
    random_kernel_chain,
    random_kernel_model,
)
from chains import numbers_of, replace
from hypothesis import given, settings
from hypothesis import strategies as st
from model_factory import random_points
from refusals import refused_by

from protonn_edge.chain.integer_chain import named_stages
from protonn_edge.chain.model import Model
from protonn_edge.kinds.bonsai.integers import Sums, TreeTable
from protonn_edge.quantization import quantize

Make = Callable[..., Model]
both = pytest.mark.parametrize("make", [random_bonsai_model, random_kernel_model])


@both
@given(
    seed=st.integers(0, 10_000),
    features=st.integers(2, 100),
    classes=st.integers(2, 9),
    depth=st.integers(0, 3),
)
@settings(max_examples=15, deadline=None)
def test_integer_scores_are_near_those_of_the_float_model(
    make: Make, seed: int, features: int, classes: int, depth: int
) -> None:
    """Where both go the same way: near a branch they need not."""
    model = make(seed, features=features, classes=classes, depth=depth)
    integers = quantize(model)
    X = random_points(seed, 300, features)
    scores = integers.scores(integers.quantize(X)) * integers.score_scale
    expected = model.scores(X)
    spread = np.sqrt(np.mean(np.square(expected - expected.mean(axis=0))))
    assert np.median(np.abs(scores - expected)) < 0.1 * spread


@both
@given(seed=st.integers(0, 10_000), classes=st.integers(2, 5), depth=st.integers(0, 4))
@settings(max_examples=15, deadline=None)
def test_every_input_is_within_the_proven_range(
    make: Make, seed: int, classes: int, depth: int
) -> None:
    integers = quantize(make(seed, classes=classes, depth=depth))
    rng = np.random.default_rng(seed)
    ends = rng.integers(0, 2, (300, 12)).astype(np.uint8) * np.uint8(integers.inputs.maximum)
    scores = integers.scores(ends)
    low, high = integers.own_stages[-1].output.ends
    assert -(1 << 15) <= low <= scores.min()
    assert scores.max() <= high < 1 << 15


def test_one_large_weight_does_not_make_the_others_coarse() -> None:
    model = random_kernel_model(1, features=40)
    weights = model.head.weights.copy()
    weights[:, 0] = 30
    inputs, X = model.inputs, random_points(1, 300, 40)
    deviation = inputs.deviation.copy()
    deviation[0] /= 1e4
    X[:, 0] = inputs.mean[0]
    model = replace(model, weights=weights, inputs=replace(inputs, deviation=deviation))
    integers, expected = quantize(model), model.scores(X)
    scores = integers.scores(integers.quantize(X)) * integers.score_scale
    assert np.median(np.abs(scores - expected)) < 0.1 * expected.std()


@both
@pytest.mark.parametrize("name", ["weights", "gates"])
def test_what_has_no_integers_is_refused(make: Make, name: str) -> None:
    model = make()
    with refused_by("kinds.bonsai.quantize"):
        quantize(replace(model, **{name: np.zeros_like(getattr(model.head, name))}))


def test_a_projection_without_weights_is_refused() -> None:
    model = random_bonsai_model()
    with refused_by("kinds.bonsai.quantize"):
        quantize(replace(model, projection=np.zeros_like(model.head.projection)))


@pytest.mark.parametrize(
    "changes",
    [
        {"weight_shift": 9},
        {"weight_shift": 0},
        {"weights": Sums(np.full((9, 40), 127, np.int8), np.zeros(9, int))},
        {"branches": Sums(np.zeros((2, 40), np.int8), np.zeros(2, int))},
        {"gates": Sums(np.zeros((6, 40), np.int8), np.zeros(6, int))},
        {"table": np.zeros(255, np.int8)},
    ],
)
def test_what_could_overflow_is_refused(changes: dict[str, object]) -> None:
    stage = named_stages(random_kernel_chain(0))["bonsai_tree"]
    with refused_by("chain.integer_stage"):
        replace(stage, **changes)


def test_rows_are_stored_in_the_fewer_bytes() -> None:
    assert not named_stages(random_bonsai_chain(0))["bonsai_tree"].flash.sparse
    stage = named_stages(random_kernel_chain(0, density=0.1))["bonsai_tree"]
    assert stage.flash.sparse
    dense = TreeTable(stage, sparse=False)
    assert len(stage.flash.content) < len(dense.content)


def test_the_hash_depends_on_every_number() -> None:
    chain = random_bonsai_chain(0)
    names = ("projection", "offset", "weights", "weight_bias", "gates", "gate_bias", "branches")
    others = []
    for name in (*names, "branch_bias", "table"):
        array = numbers_of(chain)[name].copy()
        array[-1] += 256 if name == "offset" else 1 if array.flat[-1] < 0 else -1
        others.append(replace(chain, **{name: array}))
    assert len({each.model_sha256 for each in (chain, *others)}) == len(others) + 1
