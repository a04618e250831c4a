"""The alternatives, and which of them is taken."""

from __future__ import annotations

import pytest

from protonn_edge.chips.boards import load_board
from protonn_edge.learn.search.choice import candidates, front
from protonn_edge.learn.search.limits import Figures
from protonn_edge.learn.search.store import Record
from protonn_edge.learn.search.tables import candidate_table

UNO = load_board("uno")


def record(number, accuracy, flash, cycles, outcome="complete"):
    figures = Figures("columns", flash, 50, float(cycles))
    return Record(
        number,
        {"n_projections": 5, "n_prototypes": 9},
        outcome,
        figures,
        (accuracy,),
        accuracies=(accuracy,),
    )


FOUND = candidates(
    [
        record(3, 0.950, 9_000, 1_000),
        record(0, 0.960, 9_500, 8_000),
        record(1, 0.958, 4_000, 9_000),
        record(2, 0.900, 3_000, 900),
        record(4, 0.955, 9_800, 9_500),
        record(5, 0.999, 1, 1, "pruned"),
    ]
)


def numbers(found):
    return [each.number for each in found]


def test_only_complete_trials_are_candidates():
    assert numbers(FOUND) == [0, 1, 2, 3, 4]


def test_a_front_has_what_nothing_smaller_or_nothing_faster_beats():
    assert numbers(front(FOUND)) == [0, 1, 3, 2]
    assert numbers(front(FOUND[4:])) == [4]
    assert front([]) == []


def test_candidates_are_shown_with_their_times():
    assert candidate_table(FOUND, UNO, {"d": ("n_projections",)}).row_count == 5
    assert FOUND[3].to_json(UNO)["ms"] == pytest.approx(1_000 / 16_000)
