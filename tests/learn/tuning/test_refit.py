"""The chosen model, trained on all points: its integers are as good as the search promised."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

import pytest

from protonn_edge.learn.evaluation.fidelity import Fidelity, Promise
from protonn_edge.learn.search import choice
from protonn_edge.learn.search import limits as figures
from protonn_edge.learn.search.choice import Refitted, refit
from protonn_edge.learn.search.limits import Figures, TuningLimits
from protonn_edge.learn.search.points import TrialPoints
from protonn_edge.learn.search.store import Record

GOOD, POOR, WORSE = (Fidelity(288, floats, 0.9) for floats in (0.9, 0.93, 0.97))
SIZES = ({"n_projections": 4, "n_prototypes": 20}, {"n_projections": 3, "n_prototypes": 20})


def candidate(number: int) -> Record:
    return Record(
        number,
        SIZES[number % 2],
        "complete",
        Figures("columns", 3_000, 60, 8_000.0),
        scores=(0.9, 0.9),
        accuracies=(0.9, 0.9),
    )


@pytest.fixture
def refitted(
    make_points: Callable[..., TrialPoints], monkeypatch: pytest.MonkeyPatch
) -> Callable[..., Refitted]:
    """Return a function that refits candidates whose integers have these fidelities."""
    monkeypatch.setattr(choice, "_linked", lambda *_: None)

    def run(*found: Fidelity, limits: TuningLimits | None = None) -> Refitted:
        each: Iterator[Fidelity] = iter(found)
        monkeypatch.setattr(figures, "fidelity_of", lambda *_: next(each))
        points = make_points(limits)
        points = replace(points, fixed={**points.fixed, "epochs": 1})
        names = tuple(map(str, range(10)))
        ranked = [candidate(number) for number in range(len(found))]
        return refit(points, ranked, seed=0, classes=names, feature_names=(), search={})

    return run


def test_the_first_one_is_taken_if_its_integers_are_good(refitted: Callable[..., Refitted]) -> None:
    taken = refitted(GOOD, GOOD)
    assert (taken.candidate.number, taken.passed_over) == (0, {})


def test_the_next_one_is_taken_if_integers_are_worse_than_floats(
    refitted: Callable[..., Refitted],
) -> None:
    taken = refitted(WORSE, POOR, GOOD)
    assert taken.candidate.number == 2
    assert [*taken.passed_over] == [0, 1]
    assert "the floats 97.00 %" in taken.passed_over[0]
    assert taken.model.record["tuning"]["chosen"]["trial"] == 2


def test_the_best_of_poor_ones_is_taken(refitted: Callable[..., Refitted]) -> None:
    taken = refitted(WORSE, POOR, WORSE)
    assert (taken.candidate.number, [*taken.passed_over]) == (1, [0, 2])
    assert taken.fidelity == POOR


def test_the_model_that_is_compared_has_the_promise_in_its_record(
    make_points: Callable[..., TrialPoints], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(choice, "_linked", lambda *_: None)
    points = make_points()
    names = tuple(map(str, range(10)))
    taken = refit(points, [candidate(0)], seed=0, classes=names, feature_names=(), search={})
    assert taken.fidelity.promise == Promise(pytest.approx(0.9), len(points.y))
    assert taken.fidelity.n == len(points.y)
