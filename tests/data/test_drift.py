"""Drift that would give labels away is found, and only that; its course is exchanged."""

from __future__ import annotations

from collections.abc import Callable
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine

from protonn_edge.data.points.dataset import Dataset
from protonn_edge.data.points.drift import (
    ENDS,
    WHOLE,
    blocks_of,
    drift_in,
    ends_of,
    on_another_day,
    stretches_of,
)
from protonn_edge.data.points.splits import holdout

Points = NDArray[np.float64]


def recorded(order: list[int], *, warms: float, apart: float = 0.0, seed: int = 0) -> Points:
    """Return two columns of noise, the second of which differs by class, and one that drifts."""
    rng, n = np.random.default_rng(seed), 60 * len(order)
    y = np.repeat(order, 60)
    course = warms * (1 - np.exp(-np.arange(n) / n))
    return np.stack(
        [rng.normal(size=n), rng.normal(size=n) + apart * y, course + rng.normal(size=n) * 0.03], 1
    )


@pytest.mark.parametrize(
    ("order", "part"), [([0, 1, 2], ENDS), ([1, 0], ENDS), ([0, 1, 0], ENDS), ([0, 1] * 3, WHOLE)]
)
def test_a_column_that_drifts_while_classes_follow_one_another_is_found(
    order: list[int], part: str
) -> None:
    found = drift_in(recorded(order, warms=5), np.repeat(order, 60))
    assert found is not None
    assert (found.part, found.columns.tolist()) == (part, [2])
    assert found.promised is not None
    assert found.promised[0] > found.promised[1] + 0.2


@pytest.mark.parametrize("order", [*permutations(range(3)), (3, 0, 2, 1), (1, 0)])
def test_blocks_of_unknown_order_are_in_that_of_their_drift(order: tuple[int, ...]) -> None:
    X, y = recorded([*order], warms=5), np.repeat(order, 60)
    rows = np.argsort(y, kind="stable")
    found, other = (drift_in(*each, ordered=False) for each in ((X, y), (X[rows], y[rows])))
    assert found is not None
    assert other is not None
    assert found.columns.tolist() == other.columns.tolist() == [2]
    names = np.array([2])
    moved = on_another_day(X[rows], y[rows], names, 0, ordered=False)
    of_class = [
        [each[y[rows] == label, 2].mean() for label in range(len(order))]
        for each in (moved, X[rows])
    ]
    assert np.ptp(of_class[0]) < 0.3 * np.ptp(of_class[1])


def test_no_blocks_of_unknown_order_drift_if_their_rows_do_not() -> None:
    for seed in range(20):
        for order in ([0, 1, 2], [0, 1], [*range(8)]):
            X = recorded(order, warms=0, apart=seed % 3, seed=seed)
            assert drift_in(X, np.repeat(order, 60), ordered=False) is None


def test_sets_of_labels_are_blocks_as_classes_are() -> None:
    y = np.repeat([[0, 1, 1], [1, 0, 1], [1, 1, 0]], 60, axis=0)
    found = drift_in(recorded([0, 1, 2], warms=5), y)
    assert found is not None
    assert (found.part, found.columns.tolist()) == (ENDS, [2])


def test_no_order_of_rows_that_do_not_drift_is_drift() -> None:
    for seed in range(20):
        for order in ([0, 1, 2], [2, 0], [0, 1, 2, 0, 1, 2], [*range(8)]):
            X = recorded(order, warms=0, apart=seed % 3, seed=seed)
            assert drift_in(X, np.repeat(order, 60)) is None


def test_rows_in_mixed_order_may_drift() -> None:
    X, rng = recorded([0, 1, 2], warms=5), np.random.default_rng(0)
    assert drift_in(X, rng.integers(3, size=len(X))) is None


@pytest.mark.parametrize("load", [load_iris, load_wine, load_breast_cancer, load_digits])
def test_exports_that_are_sorted_by_class_do_not_drift(load: Callable[[], object]) -> None:
    data: object = load()
    X, y = data.data, data.target  # type: ignore[attr-defined]
    order = np.argsort(y, kind="stable")
    assert drift_in(X, y) is None
    assert drift_in(X[order], y[order]) is None


def test_rows_that_are_sorted_by_their_number_do_not_drift() -> None:
    rng = np.random.default_rng(0)
    for _ in range(10):
        y = np.sort(rng.normal(size=(400, 1)), axis=0)
        X = np.exp(y * rng.normal(size=(1, 5)) / 2) + rng.normal(size=(400, 5)) / 2
        assert drift_in(X, y) is None


def test_columns_that_differ_by_class_beyond_their_drift_are_not_said_to_give_it_away() -> None:
    order = [0, 1, 2]
    X = recorded(order, warms=0.2)
    X[:, 2] += 50 * np.repeat([0, 2, 1], 60)
    assert drift_in(X, np.repeat(order, 60)) is None


def test_gaps_hide_no_drift() -> None:
    X = recorded([0, 1, 2], warms=5)
    X[::7, 2], X[::5, 0] = np.nan, np.nan
    found = drift_in(X, np.repeat([0, 1, 2], 60))
    assert found is not None
    assert found.columns.tolist() == [2]


def test_another_day_changes_the_course_alone() -> None:
    X, y = recorded([0, 1, 2], warms=5), np.repeat([0, 1, 2], 60)
    other = on_another_day(X, y, np.array([2]), 0)
    assert np.array_equal(other[:, :2], X[:, :2].astype(np.float32))
    assert np.array_equal(other, on_another_day(X, y, np.array([2]), 0))
    of_class = [other[y == label, 2].mean() for label in range(3)]
    assert np.ptp(of_class) < 0.2 * np.ptp([X[y == label, 2].mean() for label in range(3)])


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(1, 40)), min_size=1, max_size=12))
def test_ends_are_the_last_rows_of_blocks_and_stretches_divide_none(
    runs: list[tuple[int, int]],
) -> None:
    y = np.concatenate([np.full(count, label) for label, count in runs])
    blocks, held = blocks_of(y), ends_of(y, 0.2)
    assert np.all((y[1:] != y[:-1]) == (blocks[1:] != blocks[:-1]))
    for block in set(blocks.tolist()):
        own = held[blocks == block]
        assert own.sum() == round(0.2 * len(own) - 1e-9) or abs(own.sum() - 0.2 * len(own)) <= 0.5
        assert np.all(np.diff(own.astype(int)) >= 0)
    stretches = stretches_of(y, ENDS)
    assert np.all(np.diff(stretches) >= 0)
    assert len(np.unique(blocks[np.unique(stretches, return_index=True)[1]])) == blocks[-1] + 1
    assert np.array_equal(stretches_of(y, WHOLE), blocks)


def test_rows_at_random_are_held_out_if_asked_for() -> None:
    X, y = recorded([0, 1, 2], warms=5).astype(np.float32), np.repeat([0, 1, 2], 60)
    data = Dataset(X_train=X, y_train=y, X_test=X[:0], y_test=y[:0], classes=("a", "b", "c"))
    by_rows, by_blocks = holdout(data, 0.2, 0, by_rows=True), holdout(data, 0.2, 0)
    assert not by_rows.notices
    assert [each.kind for each in by_blocks.notices] == ["drift"]
    kept = {row.tobytes() for row in X}
    assert all(row.tobytes() in kept for row in by_rows.X_test)
    assert np.array_equal(by_blocks.X_train, X[~ends_of(y, 0.2)])
