"""Which candidate is taken: the best, or a default, a small or a fast one not far behind."""

from __future__ import annotations

import numpy as np
import pytest
from refusals import refused_by

from protonn_edge.learn.search.choice import Choice, candidates, lead_by_chance
from protonn_edge.learn.search.limits import Figures
from protonn_edge.learn.search.store import Record

FOLDS = 4
EVEN = (0.0,) * FOLDS


def record(number, accuracy, flash=9_000, cycles=900, apart=EVEN, is_default=False, loss=0.0):
    """Return a complete trial whose folds lie apart from its accuracy."""
    figures = Figures("columns", flash, 50, float(cycles))
    accuracies = tuple(accuracy + each for each in apart)
    return Record(
        number, {}, "complete", figures, accuracies, is_default=is_default, accuracies=accuracies,
        loss=loss,
    )  # fmt: skip


FOUND = candidates(
    [
        record(0, 0.960, 9_500, 8_000),
        record(1, 0.958, 4_000, 9_000),
        record(2, 0.900, 3_000, 900, is_default=True),
        record(3, 0.950, 9_000, 1_000, is_default=True),
        record(4, 0.955, 9_500, 8_500, is_default=True),
    ]
)


def numbers(found):
    return [each.number for each in found]


@pytest.mark.parametrize(
    ("text", "first"),
    [
        ("best", 0),
        ("smallest-within 0.5", 1),
        ("smallest-within", 1),
        ("smallest-within=0.1", 0),
        ("smallest-within 10", 2),
        ("smallest-within chance", 0),  # folds that agree leave nothing to chance
        ("fastest-within 1", 3),
        ("fastest-within 0.5", 0),
        ("default-within 0.2", 0),  # no default is so near
        ("default-within 0.5", 4),
        ("default-within 10", 4),  # the most accurate of them
    ],
)
def test_a_choice_takes_its_candidate_first_and_keeps_the_others(text, first):
    ranked = Choice.parse(text).ranked(FOUND)
    assert numbers(ranked)[0] == first
    assert sorted(numbers(ranked)) == [0, 1, 2, 3, 4]


@pytest.mark.parametrize("are_default", [False, True])
@pytest.mark.parametrize("text", ["best", "default-within chance", "default-within 20"])
def test_of_equals_the_smallest_is_first(text, are_default):
    sizes = [(0.9, 9_000), (0.9, 3_000), (0.8, 1_000)]
    found = candidates([record(n, *each, is_default=are_default) for n, each in enumerate(sizes)])
    assert numbers(Choice.parse(text).ranked(found)) == [1, 0, 2]


def test_no_default_is_taken_that_a_smaller_and_more_accurate_model_beats():
    """The search ended with a model of eight times the flash that was less accurate."""
    found = candidates(
        [
            record(0, 0.90, 8_000, is_default=True),
            record(1, 0.91, 1_000),
            record(2, 0.92, 9_000),
            record(3, 0.89, 500),
            record(4, 0.90, 900),
        ]
    )
    assert numbers(Choice.parse("default-within 5").ranked(found)) == [1, 0, 2, 4, 3]


def test_of_equals_the_best_has_the_least_log_loss():
    third = 1 / 3
    found = candidates(
        [
            record(0, 0.9, 1_000, apart=(third, -third, 0, 0), loss=0.3),
            record(1, 0.9, apart=(0.1, 0, -0.1, 0), loss=0.2),
            record(2, 0.89, loss=0.1),
        ]
    )
    assert numbers(Choice().ranked(found)) == [1, 0, 2]
    assert numbers(Choice.parse("default-within 5").ranked(found)) == [1, 0, 2]
    assert numbers(Choice.parse("smallest-within 0").ranked(found)) == [0, 1, 2]


@pytest.mark.parametrize(("far", "first"), [(0.001, 1), (0.05, 0)])
def test_a_default_is_left_for_what_is_ahead_by_more_than_chance(far, first):
    """The same lead counts where the folds agree, and does not where each ranks for itself."""
    found = candidates(
        [
            record(0, 0.90, apart=(far, -far, far, -far), is_default=True),
            record(1, 0.93, apart=(-far, far, -far, far)),
            record(2, 0.80),
        ]
    )
    assert numbers(Choice.usual(in_groups=True).ranked(found))[0] == first
    assert numbers(Choice.usual(in_groups=False).ranked(found))[0] == 1


def test_what_all_trials_have_in_common_is_no_chance():
    hard_fold = (0.0, 0.0, 0.0, -0.3)
    found = candidates([record(n, each, apart=hard_fold) for n, each in enumerate((0.9, 0.8, 0.7))])
    assert lead_by_chance(found) == pytest.approx(0, abs=1e-12)


def test_the_lead_by_chance_of_two_trials_by_hand():
    found = candidates([record(n, 0.85, apart=(x, -x, x, -x)) for n, x in enumerate((0.05, -0.05))])
    freedom = 1 * 3 / 8
    expected = 1.4826 * 0.05 / np.sqrt(freedom) * np.sqrt(2 * np.log(2) / 4)
    assert lead_by_chance(found) == pytest.approx(expected)


def leads(broken=0):
    """Return by how much the best of equals is ahead of what they are, and what is told."""
    generator = np.random.default_rng(0)
    ahead, told = [], []
    for _ in range(200):
        apart = 0.02 * generator.standard_normal((50, FOLDS))
        apart[:broken, -1] = -0.5
        found = candidates([record(n, 0.8, apart=each) for n, each in enumerate(apart)])
        ahead.append(max(each.score for each in found) - 0.8)
        told.append(lead_by_chance(found))
    return np.mean(ahead), np.mean(told)


def test_the_lead_by_chance_is_about_that_of_the_best_of_equals():
    ahead, told = leads()
    assert 1.15 < told / ahead < 1.35  # sqrt(2 ln 50) is 2.80, and the mean of the largest is 2.25


def test_a_trial_that_failed_in_a_fold_counts_little_for_the_others():
    assert leads(broken=1)[1] == pytest.approx(leads()[1], rel=0.1)


def test_a_single_trial_is_not_ahead_of_any():
    (found,) = candidates([record(0, 0.9)])
    assert lead_by_chance([found]) == 0
    assert Choice.usual(in_groups=True).ranked([found]) == [found]


@pytest.mark.parametrize("in_groups", [False, True])
def test_a_choice_says_what_it_is_parsed_from(in_groups):
    for choice in (Choice.usual(in_groups), Choice("smallest-within", 1.5)):
        assert Choice.parse(str(choice)) == choice


@pytest.mark.parametrize(
    "text",
    [
        "",
        "worst",
        "best 1",
        "best chance",
        "smallest-within x",
        "smallest-within -1",
        "worst-within 1",
    ],
)
def test_no_choice_is_refused(text):
    with refused_by("learn.search.choice"):
        Choice.parse(text)
