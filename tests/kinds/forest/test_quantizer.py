"""From float trees to integers: the same ways, scores as near as a byte, and what is refused."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from forest_factory import random_chain, random_forest_model
from hypothesis import given, settings
from hypothesis import strategies as st
from model_factory import random_images, random_points, random_pooling_model
from refusals import refused_by

from protonn_edge.features.pooling.making import average_pooling
from protonn_edge.kinds.forest.integers import IntegerForest
from protonn_edge.kinds.forest.quantize import (
    byte_inputs,
    device_bytes,
    quantized_table,
    with_whole_steps,
)
from protonn_edge.kinds.forest.table import LEAF, ForestTable, Trees, most_of_a_leaf
from protonn_edge.model.integer_chain import named_stages
from protonn_edge.model.quantization import quantize
from protonn_edge.model.statistics import InputStatistics


@given(
    seed=st.integers(0, 10_000),
    features=st.integers(1, 300),
    classes=st.integers(2, 30),
    trees=st.integers(1, 30),
)
@settings(max_examples=40, deadline=None)
def test_bytes_go_the_ways_of_the_points_that_they_stand_for(
    seed: int, features: int, classes: int, trees: int
) -> None:
    model = random_forest_model(seed, features=features, classes=classes, trees=trees)
    integers = quantize(model)
    Q = integers.quantize(random_points(seed, 200, features))
    stage = named_stages(integers)["forest"]
    normalized = model.normalizer.apply(integers.inputs.restore(Q))
    ends = model.head.trees.leaves_of(normalized, model.head.thresholds)
    same = stage.trees.leaves_of(Q, stage.thresholds) == ends
    assert same.mean() > 0.95  # a threshold may be nearer to another byte's middle
    rounded = ends.shape[1] * 0.5 + 0.5  # of a leaf of each tree, and of the bias
    scores, expected = integers.scores(Q), model.head.scores(normalized)
    whole = same.all(axis=1)
    error = np.abs(scores * integers.score_scale - expected)[whole]
    assert (error <= (rounded + 1e-6) * integers.score_scale).all()


def interleaved(order: np.ndarray) -> ForestTable:
    """Return the integers of trees of one test each, which add to the scores of an order."""
    values = np.random.default_rng(0).normal(size=(2 * len(order), 1))
    leaves = values * np.eye(3)[np.repeat(order, 2)]
    shape = Trees(np.ravel([[tree, LEAF, LEAF] for tree in range(len(order))]))
    return quantized_table(shape, np.arange(len(order), dtype=np.uint8), leaves, np.zeros(3))[0]


def test_trees_of_one_score_each_are_sorted_and_have_leaves_of_16_bits() -> None:
    table = interleaved(np.array([2, 0, 1, 2, 0, 2]))
    assert table.classes is not None
    assert table.classes.tolist() == [0, 0, 1, 2, 2, 2]
    assert table.trees.features[::3].tolist() == [1, 4, 2, 0, 3, 5]
    assert table.thresholds.tolist() == [1, 4, 2, 0, 3, 5]
    assert np.abs(table.leaves).max() > 8_000
    sums = np.maximum.reduceat(np.abs(table.leaves), np.arange(0, 12, 2)).sum(axis=0)
    assert 32_000 < sums.max() < 1 << 15
    assert len(table.content) == table.n_bytes


@pytest.mark.parametrize("features", [1, 200, 246, 247, 300, 60_000])
def test_values_leave_room_for_marks(features: int) -> None:
    chain = random_chain(0, features=features, trees=1, depth=3, classes=1, boosted=True)
    table = named_stages(chain)["forest"].table
    most = most_of_a_leaf(table.trees, table.leaves)
    whole = replace(table, leaves=np.resize([[most], [-most]], table.leaves.shape).astype(np.int16))
    marks = {line[0] for line in whole.nodes if len(line) == 2}
    assert min(marks) >= table.first_mark
    assert table.first_mark > max(line[0] for line in whole.nodes if len(line) > 2)


def test_wide_leaves_of_several_scores_are_refused() -> None:
    stage = named_stages(random_chain(0))["forest"]
    with refused_by("model.integer_stage"):
        replace(stage, leaves=(4 * stage.leaves).astype(np.int16), bias=0 * stage.bias)


def test_many_trees_have_coarser_values() -> None:
    shape, thresholds = Trees(np.array([0, LEAF, LEAF] * 1_000)), np.zeros(1_000, np.uint8)
    table, unit = quantized_table(shape, thresholds, np.ones((2_000, 2)), np.zeros(2))
    assert table.leaves.max() == 32
    assert unit == pytest.approx(1 / 32, rel=0.05)


@pytest.mark.parametrize(
    ("settings", "sizes"),
    [
        ({"features": 255, "depth": 3}, (1, 1)),
        ({"features": 300, "trees": 30, "depth": 3}, (2, 1)),
        ({"features": 20, "depth": 9, "trees": 3}, (1, 2)),
    ],
)
def test_nodes_have_the_bytes_that_they_need(
    settings: dict[str, int], sizes: tuple[int, int]
) -> None:
    table = named_stages(random_chain(1, **settings))["forest"].table
    assert (table.feature_bytes, table.skip_bytes) == sizes
    assert len(table.content) == table.n_bytes


@pytest.mark.parametrize(
    "changes",
    [
        {"bias": np.array([32700, 0])},
        {"bias": np.array([-32700, 0])},
        {"bias": np.array([40000, 0]), "leaves": None},
    ],
)
def test_what_could_overflow_is_refused(changes: dict[str, object]) -> None:
    fields = {
        "features": np.array([0, LEAF, LEAF]),
        "thresholds": np.array([7], np.uint8),
        "leaves": np.array([[100, 0], [-100, 0]], np.int8),
        "bias": np.array([0, 0]),
        "n_features": 1,
    }
    IntegerForest(**fields)
    with refused_by("model.integer_stage"):
        IntegerForest(**fields | {k: v for k, v in changes.items() if v is not None})


def test_what_no_counter_holds_is_refused() -> None:
    n = 12_000
    stage = IntegerForest(
        features=np.array([0, LEAF] * n + [LEAF]),
        thresholds=np.zeros(n, np.uint8),
        leaves=np.ones((n + 1, 2), np.int8),
        bias=np.zeros(2, np.int64),
        n_features=1,
    )
    with refused_by("kinds.forest.table"):
        stage.table.content  # noqa: B018


def test_many_points_become_the_bytes_that_each_becomes_alone() -> None:
    pooling = average_pooling((8, 8), (8, 8), (4, 4))
    statistics = random_pooling_model(pooling).inputs
    images = random_images(0, 600, pooling)
    together = device_bytes(statistics, pooling, images)
    assert len(np.unique(together)) > 50
    for k in (0, 255, 511, 512, 599):
        assert (device_bytes(statistics, pooling, images[k : k + 1])[0] == together[k]).all()


@pytest.mark.parametrize(
    ("lower", "upper", "unchanged"),
    [
        (0, 9, True),
        (-100, 100, True),
        (1000, 1200, True),
        (1000, 1255, True),
        (1000, 1256, False),
        (0.5, 9.5, False),
    ],
)
def test_integers_of_up_to_256_values_become_bytes_one_to_one(
    lower: float, upper: float, unchanged: bool
) -> None:
    ends = np.array([lower]), np.array([upper])
    statistics = InputStatistics(
        *ends, mean=ends[0], deviation=ends[1] - ends[0], background=ends[0]
    )
    X = np.arange(lower, upper + 1)[:, None]
    found = byte_inputs(with_whole_steps(statistics, X)[0])
    assert (found.step == 1).all() == unchanged
    if unchanged:
        assert (found.quantize(X) == X - lower).all()
