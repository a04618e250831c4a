"""Equal points become one with a weight, so that weights and repetitions are the same thing."""

from __future__ import annotations

import numpy as np

from protonn_edge.learn.labels import ClassLabels
from protonn_edge.learn.parameters import SharedParameters
from protonn_edge.learn.points import Points, distinct_points
from protonn_edge.learn.training_set import TrainingSet


def test_weights_are_repetitions_in_any_order() -> None:
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(8, 3)).astype(np.float32), np.arange(8) % 2
    weights = np.array([1, 2, 0, 3, 1, 1, 4, 2])
    shuffled = rng.permutation(np.repeat(np.arange(8), weights))
    merged = distinct_points(Points(X, y, weights.astype(float)))
    repeated = distinct_points(Points(X[shuffled], y[shuffled]))
    assert merged.group is repeated.group is None
    for name in ("X", "y", "weight"):
        assert np.array_equal(getattr(merged, name), getattr(repeated, name))
    assert len(merged) == 7
    assert merged.weight is not None
    assert merged.weight.mean() == 1


def test_equal_points_of_different_classes_stay_apart() -> None:
    points = distinct_points(Points(np.zeros((3, 2), np.float32), np.array([0, 1, 1])))
    assert len(points) == 2
    assert points.y.tolist() == [0, 1]
    np.testing.assert_allclose(points.weight, [2 / 3, 4 / 3])


def test_equal_points_of_different_groups_stay_apart() -> None:
    X, y = np.zeros((3, 2), np.float32), np.zeros(3, np.int64)
    points = distinct_points(Points(X, y, group=np.array([5, 5, 2])))
    assert len(points) == 2
    assert points.group is not None
    assert points.group.tolist() == [2, 5]
    np.testing.assert_allclose(points.weight, [2 / 3, 4 / 3])


def test_a_negative_zero_is_a_zero() -> None:
    X = np.array([[0.0], [-0.0]], dtype=np.float32)
    assert len(distinct_points(Points(X, np.zeros(2, np.int64)))) == 1


def test_equal_weights_are_none() -> None:
    X = np.arange(4, dtype=np.float32)[:, None]
    assert distinct_points(Points(X, np.zeros(4, np.int64), np.full(4, 5.0))).weight is None


def prepared(X: np.ndarray, y: np.ndarray) -> TrainingSet:
    return TrainingSet.of(SharedParameters(), Points(X, y), ClassLabels(), 2, seed=0)


def test_targets_of_classes_are_one_at_the_class() -> None:
    data = prepared(np.arange(4, dtype=np.float32)[:, None], np.array([0, 1, 1, 0]))
    assert data.targets().tolist() == [[1, 0], [1, 0], [0, 1], [0, 1]]
    assert data.targets(np.array([2, 0])).tolist() == [[0, 1], [1, 0]]
    assert not data.has_strangers


def test_points_of_no_class_have_no_target_and_come_last() -> None:
    settings = SharedParameters()
    settings.strangers = 0.5
    X, y = np.arange(8, dtype=np.float32).reshape(4, 2), np.array([0, 1, 0, 1])
    data = TrainingSet.of(settings, Points(X, y), ClassLabels(), 2, seed=0)
    assert data.has_strangers
    assert data.points.y.tolist() == [0, 0, 1, 1, 2, 2]
    assert not data.targets()[4:].any()
    assert len(data.measured) == len(data.given) == 4


def test_what_follows_a_movement_is_applied_in_steps_and_leaves_the_points_alone() -> None:
    rng = np.random.default_rng(0)
    images, y = rng.uniform(0, 9, (40, 16)).astype(np.float32), np.arange(40) % 2
    settings = SharedParameters(image_shape=(4, 4), features="pool:2x2")
    settings.augment = True
    data = TrainingSet.of(settings, Points(images, y), ClassLabels(), 2, seed=0)
    before = data.points.X.copy(), data.raw.copy()
    rows = np.array([3, 30, 7])
    step = data.moved(rows, np.random.default_rng(1))
    assert step.shape == (3, 4)
    assert not np.array_equal(step, data.points.X[rows])
    assert np.array_equal(before[0], data.points.X)
    assert np.array_equal(before[1], data.raw)


def test_without_a_movement_a_step_has_the_points_themselves() -> None:
    rng = np.random.default_rng(0)
    data = prepared(rng.normal(size=(40, 3)).astype(np.float32), np.arange(40) % 2)
    rows = np.array([5, 5, 1])
    assert np.array_equal(data.moved(rows, rng), data.points.X[rows])
