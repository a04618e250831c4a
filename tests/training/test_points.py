"""Equal points become one with a weight, so that weights and repetitions are the same thing."""

from __future__ import annotations

import numpy as np

from protonn_edge.training.points import TrainingSet, distinct_points
from protonn_edge.training.targets import Target


def test_weights_are_repetitions_in_any_order() -> None:
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(8, 3)).astype(np.float32), np.arange(8) % 2
    weights = np.array([1, 2, 0, 3, 1, 1, 4, 2])
    shuffled = rng.permutation(np.repeat(np.arange(8), weights))
    merged = distinct_points(X, y, weights.astype(float))
    repeated = distinct_points(X[shuffled], y[shuffled], None)
    assert merged[3] is repeated[3] is None
    for one, other in zip(merged[:3], repeated[:3], strict=True):
        assert np.array_equal(one, other)
    assert len(merged[0]) == 7
    assert merged[2].mean() == 1


def test_equal_points_of_different_classes_stay_apart() -> None:
    points = np.zeros((3, 2), np.float32)
    X, y, weights, _ = distinct_points(points, np.array([0, 1, 1]), None)
    assert len(X) == 2
    assert y.tolist() == [0, 1]
    np.testing.assert_allclose(weights, [2 / 3, 4 / 3])


def test_equal_points_of_different_groups_stay_apart() -> None:
    groups = np.array([5, 5, 2])
    X, _, weights, kept = distinct_points(
        np.zeros((3, 2), np.float32), np.zeros(3, np.int64), None, groups
    )
    assert len(X) == 2
    assert kept is not None
    assert kept.tolist() == [2, 5]
    np.testing.assert_allclose(weights, [2 / 3, 4 / 3])


def test_a_negative_zero_is_a_zero() -> None:
    X = np.array([[0.0], [-0.0]], dtype=np.float32)
    assert len(distinct_points(X, np.zeros(2, np.int64), None)[0]) == 1


def test_equal_weights_are_none() -> None:
    X = np.arange(4, dtype=np.float32)[:, None]
    assert distinct_points(X, np.zeros(4, np.int64), np.full(4, 5.0))[2] is None


def test_targets_of_classes_are_one_at_the_class() -> None:
    data = TrainingSet.of_targets(np.zeros((2, 1), np.float32), np.array([2, 0]), target=Target())
    assert data.Y.tolist() == [[0, 0, 1], [1, 0, 0]]
