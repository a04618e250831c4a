"""Precision at k, against the definition."""

from __future__ import annotations

import numpy as np
import pytest

from protonn_edge.policy.label_sets import figures
from protonn_edge.policy.label_sets.figures import precision_at


def test_precision_is_the_mean_share_of_the_first_k_that_are_labels() -> None:
    scores = np.array([[0.9, 0.1, 0.5, 0.4], [0.1, 0.2, 0.3, 0.4]])
    labels = np.array([[1, 0, 0, 1], [0, 0, 1, 0]])
    assert precision_at(scores, labels, (1, 2, 3)) == {
        1: pytest.approx((1 + 0) / 2),
        2: pytest.approx((1 / 2 + 1 / 2) / 2),
        3: pytest.approx((2 / 3 + 1 / 3) / 2),
    }


def test_equal_scores_rank_in_the_order_of_the_labels() -> None:
    assert precision_at(np.zeros((1, 3)), np.array([[1, 0, 0]]), (1,)) == {1: 1.0}
    assert precision_at(np.zeros((1, 3)), np.array([[0, 0, 1]]), (1,)) == {1: 0.0}


def test_the_divisor_is_k_also_where_there_are_fewer_labels() -> None:
    assert precision_at(np.ones((1, 2)), np.array([[1, 1]]), (5,)) == {5: pytest.approx(2 / 5)}


def test_many_points_are_ranked_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    generator = np.random.default_rng(0)
    scores, labels = generator.normal(size=(50, 7)), generator.random((50, 7)) < 0.3
    whole = precision_at(scores, labels)
    monkeypatch.setattr(figures, "_ROWS_AT_ONCE", 7)
    assert precision_at(scores, labels) == whole
