"""Points moved between groups: where they go, what stays, and what is refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from protonn_edge.kinds.protonn.train.classifier import ProtoNNClassifier
from protonn_edge.learn.group_shift import GroupShift
from protonn_edge.learn.points import Points, distinct_points


def points_of_people(
    n_people: int, seed: int = 0, spread: float = 1.5
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return two classes that differ in one feature, where people differ widely in the others."""
    generator = np.random.default_rng(seed)
    y, people = np.tile([0, 1], 20 * n_people), np.repeat(np.arange(n_people), 40)
    X = generator.normal(0, 0.3, (len(y), 4))
    X[:, 0] += y
    X[:, 1:] += generator.normal(0, spread, (n_people, 2, 3))[people, y]
    return X.astype(np.float32), y, people


def shifted(
    points: Points, strength: float, seed: int = 0, rows: Any = None, **options: Any
) -> np.ndarray:
    """Return some of the points, by default all, as a step shifts them."""
    shift = GroupShift(points, strength, **options)
    rows = np.arange(len(points)) if rows is None else rows
    return shift(points.X[rows], rows, np.random.default_rng(seed))


def fitted(X: Any, y: Any, **options: Any) -> ProtoNNClassifier:
    weights, groups = options.pop("sample_weight", None), options.pop("groups", None)
    settings = {"n_projections": 3, "n_prototypes": 6, "epochs": 20, "random_state": 0} | options
    return ProtoNNClassifier(**settings).fit(X, y, weights, groups=groups)


@given(strength=st.floats(0.1, 3.0), seed=st.integers(0, 2**32 - 1))
def test_points_move_along_the_line_to_another_group_of_their_class(
    strength: float, seed: int
) -> None:
    X, y, people = points_of_people(2)
    shift = shifted(Points(X, y, group=people), strength, seed) - X
    for label in (0, 1):
        means = [X[(y == label) & (people == person)].mean(axis=0) for person in (0, 1)]
        way = means[1] - means[0]
        for person, sign in ((0, 1.0), (1, -1.0)):
            moved = shift[(y == label) & (people == person)]
            shares = moved @ way / (way @ way) * sign
            np.testing.assert_allclose(moved, shares[:, None] * way * sign, atol=1e-5)
            assert shares.min() >= -1e-6
            assert shares.max() <= strength + 1e-5


def test_every_group_with_the_class_is_moved_to() -> None:
    X, y, people = points_of_people(3)
    rows = np.repeat(np.flatnonzero(people == 0), 20)
    changes = shifted(Points(X, y, group=people), 1.0, rows=rows) - X[rows]
    lengths = np.linalg.norm(changes, axis=1)
    directions = changes[lengths > 0.01] / lengths[lengths > 0.01, None]
    assert len(np.unique(directions.round(2), axis=0)) == 4  # of two classes, to two others each


def test_a_class_of_a_single_group_stays_where_it_is() -> None:
    X, y, people = points_of_people(3)
    moved = shifted(Points(X, y, group=np.where(y == 1, 0, people)), 2.0)
    assert np.array_equal(moved[y == 1], X[y == 1])
    assert not np.array_equal(moved[y == 0], X[y == 0])


def test_a_feature_that_never_changes_does_not_begin_to() -> None:
    X, y, people = points_of_people(3)
    X[:, 2] = 0.1
    moved = shifted(Points(X, y, group=people), 2.0)
    assert np.array_equal(moved[:, 2], X[:, 2])


def test_groups_have_no_effect_without_a_shift() -> None:
    X, y, people = points_of_people(3)
    plain, still, moved = (
        fitted(X, y).model_,
        fitted(X, y, groups=people, group_shift=0.0).model_,
        fitted(X, y, groups=people).model_,
    )
    assert np.array_equal(plain.head.projection, still.head.projection)
    assert not np.array_equal(plain.head.projection, moved.head.projection)


def test_exposure_points_are_of_one_group_and_do_not_hinder(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    X, y, people = points_of_people(3)
    seen: list[Points] = []
    begin = GroupShift.__init__

    def seeing(shift: GroupShift, points: Points, *others: Any, **options: Any) -> None:
        seen.append(points)
        begin(shift, points, *others, **options)

    monkeypatch.setattr(GroupShift, "__init__", seeing)
    assert fitted(X, y, groups=people, strangers=0.5).model_.n_classes == 2
    (points,) = seen
    assert points.group is not None
    assert set(points.y) == {0, 1, 2}
    assert len(set(points.group[points.y == 2])) == 1


def test_equal_points_of_several_groups_count_in_the_mean_of_each() -> None:
    people = np.repeat([0, 1, 2], 10)
    X = np.zeros((60, 1), np.float32)
    X[:30:10, 0] = [1.0, 2.0, 3.0]  # one point in ten of each person is not at rest
    X[30:, 0] = np.arange(30)
    y = np.repeat([0, 1], 30)
    groups = np.tile(people, 2)
    shift = GroupShift(distinct_points(Points(X, y, group=groups)), 1.0)
    np.testing.assert_allclose(shift._means[:3, 0], [0.1, 0.2, 0.3], rtol=1e-6)
