"""Equal points become one with a weight, so that weights and repetitions are the same thing."""

from __future__ import annotations

import numpy as np

from protonn_edge.learn.points import Points, Transform, distinct_points, fitted


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


def test_targets_of_classes_are_one_at_the_class() -> None:
    X = np.zeros((2, 1), np.float32)
    assert Points(X, np.array([2, 0])).Y.tolist() == [[0, 0, 1], [1, 0, 0]]
    of_no_class = Points(X, np.array([2, 0]), n_classes=2)
    assert of_no_class.Y.tolist() == [[0, 0], [1, 0]]
    assert of_no_class.has_strangers


class Added(Transform):
    """Adds a number to all points; whether it moves them is up to the test."""

    def __init__(self, number: float, moves: bool) -> None:
        self.number, self.moves = np.float32(number), moves  # type: ignore[misc]

    def fit(self, points: Points) -> Added:
        self.seen = float(points.X[0, 0])
        return self

    def apply(self, points: Points, _: np.random.Generator) -> Points:
        return points.through(lambda X: X + self.number)


def test_all_that_follows_a_movement_is_applied_in_steps() -> None:
    X, y = np.zeros((4, 1), np.float32), np.arange(4) % 2
    transforms = [Added(number, number == 10) for number in (1.0, 10.0, 100.0)]
    points = fitted(transforms, Points(X, y), seed=0)
    assert [each.seen for each in transforms] == [0, 1, 1]
    assert points.X.ravel().tolist() == [101] * 4
    steps = list(points.batches(3, np.random.default_rng(0)))
    assert [len(step) for step in steps] == [3, 1]
    assert all((step.X == 111).all() for step in steps)
    rows = np.concatenate([step.rows for step in steps])
    assert sorted(rows.tolist()) == [0, 1, 2, 3]
    assert np.concatenate([step.y for step in steps]).tolist() == y[rows].tolist()
