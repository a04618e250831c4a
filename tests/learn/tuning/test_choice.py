"""Which candidate is taken: the best, or a small or a fast one not far behind."""

from __future__ import annotations

import pytest

from protonn_edge.learn.search import CHOICES
from protonn_edge.learn.search.choice import candidates, ranked
from protonn_edge.learn.search.limits import Figures
from protonn_edge.learn.search.store import Record


def record(number, accuracy, flash=9_000, cycles=900, apart=(0.0,) * 4, loss=0.0):
    """Return a complete trial whose folds lie apart from its accuracy."""
    figures = Figures("columns", flash, 50, float(cycles))
    accuracies = tuple(accuracy + each for each in apart)
    return Record(
        number, {}, "complete", figures, accuracies, accuracies=accuracies, loss=loss
    )  # fmt: skip


FOUND = candidates(
    [
        record(0, 0.960, 9_500, 8_000),
        record(1, 0.958, 4_000, 9_000),
        record(2, 0.900, 3_000, 900),
        record(3, 0.950, 9_000, 1_000),
        record(4, 0.957, 9_500, 7_500),
    ]
)


def numbers(found):
    return [each.number for each in found]


@pytest.mark.parametrize(("choice", "first"), [("best", 0), ("smallest", 1), ("fastest", 4)])
def test_a_choice_takes_its_candidate_first_and_keeps_the_others(choice, first):
    """Two others are smaller or faster, but too far below the best."""
    found = numbers(ranked(FOUND, choice))
    assert found[0] == first
    assert sorted(found) == [0, 1, 2, 3, 4]


@pytest.mark.parametrize("choice", CHOICES)
def test_of_equals_the_smallest_is_first(choice):
    sizes = [(0.9, 9_000), (0.9, 3_000), (0.8, 1_000)]
    found = candidates([record(n, *each) for n, each in enumerate(sizes)])
    assert numbers(ranked(found, choice)) == [1, 0, 2]


@pytest.mark.parametrize("choice", CHOICES)
def test_of_none_or_of_one_there_is_no_choice(choice):
    assert ranked([], choice) == []
    assert ranked(FOUND[:1], choice) == FOUND[:1]


def test_of_equals_the_best_has_the_least_log_loss():
    third = 1 / 3
    found = candidates(
        [
            record(0, 0.9, 1_000, apart=(third, -third, 0, 0), loss=0.3),
            record(1, 0.9, apart=(0.1, 0, -0.1, 0), loss=0.2),
            record(2, 0.89, loss=0.1),
        ]
    )
    assert numbers(ranked(found)) == [1, 0, 2]
    assert numbers(ranked(found, "smallest")) == [0, 1, 2]
