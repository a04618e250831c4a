"""Confidence and the figures of a class, against textbook values."""

from __future__ import annotations

import numpy as np
import pytest
from model_factory import tiny_integer_model

from protonn_edge.data.naming import NO_CLASS
from protonn_edge.device.results import Result
from protonn_edge.learn.evaluation.accuracy import (
    answer_matrix,
    class_figures,
    deviations_above,
    frequent_confusions,
    wilson_interval,
)
from protonn_edge.model.policy import with_rules
from protonn_edge.policy.rejection.rule import IntegerRejection


@pytest.mark.parametrize(
    ("right", "n", "expected"),
    [
        (81, 263, (0.2553, 0.3662)),  # R. G. Newcombe (1998), table I, method 3
        (15, 148, (0.0624, 0.1605)),
        (0, 20, (0.0, 0.1611)),
        (20, 20, (0.8389, 1.0)),
    ],
)
def test_the_interval_is_wilsons(right, n, expected):
    assert wilson_interval(right, n) == pytest.approx(expected, abs=5e-5)


def test_shares_of_few_points_differ_by_few_deviations():
    assert deviations_above(0.9, 100, 0.8, 100) == pytest.approx(1.9444, abs=1e-4)
    assert 0 < deviations_above(1.0, 10, 0.9, 10) < 1
    assert deviations_above(1.0, 10, 1.0, 1000) == 0
    assert deviations_above(0.91, 4_000, 0.83, 2_000) > 8


def test_precision_goes_by_columns_and_recall_by_rows():
    first, second, third = class_figures(np.array([[8, 2, 0], [4, 6, 0], [0, 0, 0]]))
    assert (first.n, first.precision, first.recall) == (10, 8 / 12, 0.8)
    assert (second.n, second.precision, second.recall) == (10, 6 / 8, 0.6)
    assert (third.n, third.precision, third.recall) == (0, None, None)


def test_unknown_answers_are_a_column_of_their_own_and_no_mistake():
    answers = [(0, 0), (0, NO_CLASS), (1, NO_CLASS), (1, 0), (2, 2), (2, None)]
    results = [
        Result(i, label, predicted, None if predicted is None else 9)
        for i, (label, predicted) in enumerate(answers)
    ]
    model = with_rules(tiny_integer_model(), IntegerRejection(1))
    counts = answer_matrix(results, model)
    assert counts.tolist() == [[1, 0, 0, 1], [1, 0, 0, 1], [0, 0, 1, 0]]
    assert [n for _, _, n in frequent_confusions(counts, 9)] == [1]
    first, second, third = class_figures(counts)
    assert (first.n, first.precision, first.recall) == (2, 0.5, 0.5)
    assert (second.n, second.precision, second.recall) == (2, None, 0.0)
    assert (third.n, third.precision, third.recall) == (1, 1.0, 1.0)
    known = [result for result in results if result.predicted != NO_CLASS]
    assert answer_matrix(known, tiny_integer_model()).shape == (3, 3)


def test_a_class_without_points_has_no_precision() -> None:
    without, other = class_figures(np.array([[0, 0], [3, 7]]))
    assert (without.precision, without.recall) == (None, None)
    assert (other.precision, other.recall) == (1.0, 0.7)
