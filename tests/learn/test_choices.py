"""A choice by rows held out at random takes the mildest setting, unless another is better."""

from __future__ import annotations

import ast

import numpy as np
import pytest
from checkout import CHECKOUT
from scipy.stats import binomtest, wilcoxon

from protonn_edge.learn import better_kind, clipping
from protonn_edge.learn.choices import Choice, chance_of

PACKAGE = CHECKOUT / "protonn_edge"

CHOICES = {
    "learn/better_kind.py": tuple(better_kind.CHOICES.values()),
    "learn/clipping.py": (clipping.CHOICE,),
}
"""Every choice between settings by rows at random, by the module that makes it."""

OTHERS = {
    "learn/folds.py": "divides points, for searches, which are asked for the best",
    "learn/found_features.py": "lists of features have no order from mild to bold",
    "policy/rejection/held_out.py": "a threshold follows from a rate that is given",
}
DIVIDES = {"fold_numbers", "StratifiedKFold", "held_out_rows", "train_test_split"}

EVERY = pytest.mark.parametrize("choice", [each for some in CHOICES.values() for each in some])


def errors(rng: np.random.Generator, share: float, n: int, choice: Choice) -> np.ndarray:
    """Return errors (n,) of a setting: wrong for a share, or off by as much in the mean."""
    if choice.is_relative:
        return rng.exponential(share, n)
    return (rng.random(n) < share).astype(float)


@EVERY
def test_equally_good_settings_leave_the_mildest(choice: Choice) -> None:
    rng = np.random.default_rng(0)
    taken = [
        choice.taken((setting, errors(rng, 0.2, 300, choice)) for setting in range(4))
        for _ in range(300)
    ]
    assert np.count_nonzero(taken) <= 3 * (choice.by_chance * len(taken) + 1)


@EVERY
def test_a_much_better_setting_is_taken_and_no_bolder_one_that_equals_it(choice: Choice) -> None:
    rng = np.random.default_rng(0)
    milder, better = (errors(rng, share, 600, choice) for share in (0.4, 0.1))
    assert choice.taken([(0, milder), (1, better), (2, better)]) == 1
    assert choice.taken([(0, better), (1, milder)]) == 0


@EVERY
def test_a_better_setting_needs_its_lead(choice: Choice) -> None:
    milder = np.full(10_000, 1.0)
    for lead in (choice.lead * 0.9, choice.lead * 1.1 + 0.01):
        better = milder.copy()
        better[: int(lead * 10_000)] = 0.0
        assert choice.is_better(better, milder) == (lead > choice.lead)


@EVERY
def test_points_without_an_error_leave_nothing_to_choose(choice: Choice) -> None:
    assert not choice.could_improve(np.zeros(500))
    assert choice.could_improve(np.ones(500))


def test_gains_of_one_size_have_the_exact_sign_test() -> None:
    for won in range(12):
        for lost in range(8):
            gains = np.repeat([1.0, -1.0, 0.0], [won, lost, 5])
            expected = 1.0 if won == 0 else binomtest(won, won + lost, alternative="greater").pvalue
            assert chance_of(gains) == pytest.approx(expected)


def test_other_gains_have_the_signed_rank_test() -> None:
    rng = np.random.default_rng(0)
    for shift in (-0.3, 0.0, 0.2, 0.5):
        gains = np.round(rng.normal(shift, 1, 200), 1)  # with ties, and some without a gain
        expected = wilcoxon(gains, alternative="greater", method="asymptotic", correction=False)
        assert chance_of(gains) == pytest.approx(expected.pvalue, rel=1e-6)


def test_points_of_a_group_are_no_independent_evidence() -> None:
    choice = Choice(0.01)
    milder, better = np.ones(500), np.zeros(500)
    for groups, is_better in ((5, False), (20, True)):
        assert choice.is_better(better, milder, groups=np.arange(500) % groups) == is_better


def test_few_points_leave_the_mildest() -> None:
    for n, is_better in ((99, False), (100, True)):
        assert Choice(0.01, least=100).is_better(np.zeros(n), np.ones(n)) == is_better


def test_weights_count_for_the_gain() -> None:
    choice = Choice(0.05, lead=0.02)
    milder, better = np.repeat([1.0, 0.0], [10, 90]), np.zeros(100)
    assert choice.is_better(better, milder)
    assert not choice.is_better(better, milder, np.repeat([0.01, 1.0], [10, 90]))


@pytest.mark.parametrize("room", ["learn", "policy"])
def test_whatever_divides_rows_at_random_chooses_so(room: str) -> None:
    for path in sorted((PACKAGE / room).rglob("*.py")):
        names = {
            alias.name
            for node in ast.walk(ast.parse(path.read_text("utf-8")))
            if isinstance(node, ast.ImportFrom)
            for alias in node.names
        }
        place = path.relative_to(PACKAGE).as_posix()
        assert not names & DIVIDES or place in CHOICES or place in OTHERS
        assert ("Choice" in names) == (place in CHOICES)
