"""Training that expects to be taught: what episodes teach, their gradient, and their effect."""

from __future__ import annotations

import numpy as np
from finite_differences import assert_slope
from hypothesis import given
from hypothesis import strategies as st

from protonn_edge.extensions.teaching.board import after_teaching
from protonn_edge.extensions.teaching.kinds.teachable.train.classifier import (
    TeachableProtoNNClassifier,
)
from protonn_edge.extensions.teaching.kinds.teachable.train.episodes import Episodes, TaughtExamples
from protonn_edge.learn.group_shift import GroupShift
from protonn_edge.learn.objective import (
    Parameters,
    cross_entropy,
    objective_gradient,
)
from protonn_edge.learn.points import Points
from protonn_edge.model.quantization import quantize


def test_the_gradient_goes_through_taught_examples() -> None:
    generator = np.random.default_rng(0)
    n, D, d, m, L = 9, 5, 3, 4, 3
    X, Y = generator.normal(size=(n, D)), np.eye(L)[generator.integers(L, size=n)]
    shapes = ((d, D), (d, m), (L, m), (1,))
    parameters = Parameters(*(generator.normal(size=shape) / 2 for shape in shapes))
    rows = np.array([1, 4, 6])
    met = (generator.random((n, len(rows))) < 0.7).astype(float)
    met[rows, [0, 1, 2]] = 0
    taught = TaughtExamples(rows, met, vote=0.5, sharpness=2.0)

    def value(changed: Parameters) -> float:
        return objective_gradient(changed, X, Y, cross_entropy, voters=taught)[0]

    gradient = objective_gradient(parameters, X, Y, cross_entropy, voters=taught)[1]
    untaught = objective_gradient(parameters, X, Y, cross_entropy)
    assert value(parameters) != untaught[0]
    for matrix, slope in zip(parameters, gradient, strict=True):
        assert_slope(lambda: value(parameters), matrix, slope)


@given(seed=st.integers(0, 2**32 - 1))
def test_a_point_meets_examples_of_its_person_but_not_itself(seed: int) -> None:
    generator = np.random.default_rng(seed)
    y, people = generator.integers(4, size=300), generator.integers(5, size=300)
    rows = generator.permutation(300)[:120]
    taught = Episodes(y, people, 3, 0.5).drawn(rows, 1.0, generator)  # class 3 is that of outliers
    assert len(set(taught.rows)) == len(taught.rows)
    examples = rows[taught.rows]
    assert (y[examples] < 3).all()
    expected = people[rows][:, None] == people[examples]
    expected[taught.rows, np.arange(len(examples))] = False
    np.testing.assert_array_equal(taught.met, expected)
    parts = np.bincount(4 * people[examples] + y[examples])
    assert parts.max(initial=0) <= 5


def test_in_episodes_a_class_of_a_person_moves_as_a_whole() -> None:
    generator = np.random.default_rng(0)
    X = generator.normal(size=(60, 4)).astype(np.float32)
    X[:, 3] = 1
    y, people = np.arange(60) % 2, np.arange(60) // 20
    shift = GroupShift(Points(X, y, group=people), 1.5, together=True)
    moved = shift(X, np.arange(60), np.random.default_rng(1)) - X
    for part in range(6):
        own = moved[2 * people + y == part]
        np.testing.assert_allclose(own, np.broadcast_to(own[0], own.shape), atol=1e-6)
    assert len(np.unique(moved[:, 0].round(4))) == 6
    assert not moved[:, 3].any()


def people_who_differ(count: int, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return points of three classes, which each person does in their own way."""
    generator = np.random.default_rng(seed)
    y, people = np.tile(np.arange(3), 20 * count), np.repeat(np.arange(count), 60)
    own = np.eye(3, 8) * 2 + generator.normal(0, 1, (count, 3, 8))
    return (own[people, y] + generator.normal(0, 0.3, (len(y), 8))).astype(np.float32), y, people


def test_groups_and_room_for_examples_make_episodes() -> None:
    X, y, people = people_who_differ(6, 0)
    settings = {"n_projections": 3, "n_prototypes": 6, "epochs": 10, "random_state": 0}
    ordinary = TeachableProtoNNClassifier(**settings).fit(X, y, groups=people).model_.head
    teachable = (
        TeachableProtoNNClassifier(**settings, teachable=9).fit(X, y, groups=people).model_.head
    )
    assert (teachable.projection != ordinary.projection).any()
    alone = [
        TeachableProtoNNClassifier(**settings, teachable=n).fit(X, y).model_.head for n in (0, 9)
    ]
    np.testing.assert_array_equal(alone[0].projection, alone[1].projection)


def test_with_new_classes_the_projection_separates_people_and_is_not_trained() -> None:
    X, y, people = people_who_differ(6, 0)
    settings = {"n_projections": 4, "n_prototypes": 9, "random_state": 0, "teachable": 9}
    new = {**settings, "new_classes": 1}
    once, often = (
        TeachableProtoNNClassifier(**new, epochs=epochs).fit(X, y, groups=people).model_.head
        for epochs in (1, 5)
    )
    np.testing.assert_array_equal(once.projection, often.projection)
    assert (once.prototypes != often.prototypes).any()
    alone = TeachableProtoNNClassifier(**new, epochs=1).fit(X, y).model_.head
    assert not np.allclose(alone.projection, once.projection)


def test_a_class_that_was_never_trained_is_learned_and_others_are_kept() -> None:
    X, y, people = people_who_differ(6, 0)
    old, rng = y < 2, np.random.default_rng(0)
    settings = {"n_projections": 6, "n_prototypes": 12, "epochs": 10, "random_state": 0}
    teachable = TeachableProtoNNClassifier(**settings, teachable=9, new_classes=1)
    teachable.fit(X[old], y[old], groups=people[old])
    model = quantize(teachable.model_)
    before = (model.predict(model.quantize(X[old])) == y[old]).mean()
    for person in range(6):
        own = people == person
        shown = rng.permutation(np.flatnonzero(own & ~old))[:3]
        taught = after_teaching(model, model.quantize(X[shown]), y[shown])
        right = taught.predict(model.quantize(X[own])) == y[own]
        assert right[~old[own]].mean() > 0.9
        assert right[old[own]].mean() > before - 0.1
