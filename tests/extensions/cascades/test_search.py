"""A search that looks for a fast model tries a cascade of two of its candidates."""

from __future__ import annotations

import pytest

from protonn_edge.chips.boards import load_board
from protonn_edge.data.splits import load_digits_dataset
from protonn_edge.extensions.cascades.tuning import faster_cascade
from protonn_edge.learn.folds import fold_numbers
from protonn_edge.learn.search import BEST, FASTEST
from protonn_edge.learn.search import choice as choices
from protonn_edge.learn.search.choice import Refitted, refit
from protonn_edge.learn.search.limits import Figures, TuningLimits
from protonn_edge.learn.search.points import TrialPoints
from protonn_edge.learn.search.store import Record
from protonn_edge.learn.searched import ANY, KIND

DIGITS = load_digits_dataset()
FAST, ACCURATE = (
    Record(number, settings, "complete", Figures("", 1, 1, cycles), (score,), accuracies=(score,))
    for number, settings, cycles, score in (
        (0, {KIND: "forest", "n_trees": 10, "size_budget": 3_000}, 500.0, 0.9),
        (1, {KIND: "dense", "epochs": 10}, 9_000.0, 0.95),
    )
)


def searched(limits: TuningLimits) -> tuple[TrialPoints, Refitted]:
    """Return the points of a search, and its most accurate candidate."""
    X, y = DIGITS.X_train, DIGITS.y_train
    points = TrialPoints(X, y, fold_numbers(y, 3, 0), load_board("uno"), limits, classifier=ANY)
    names = DIGITS.classes
    return points, refit(points, [ACCURATE], seed=0, classes=names, feature_names=(), search={})


@pytest.fixture(autouse=True)
def _not_linked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(choices, "_linked", lambda *_: None)


def test_a_faster_cascade_is_taken_only_where_a_fast_model_is_wanted() -> None:
    points, alone = searched(TuningLimits())
    trials = [FAST, ACCURATE]
    fast = faster_cascade(points, FASTEST, trials, alone, 0)
    assert (fast.model.head.kind, fast.candidate.number) == ("cascade", 1)
    assert fast.fit.figures.known_cycles < alone.fit.figures.known_cycles
    assert fast.model.record["tuning"]["chosen"] == alone.model.record["tuning"]["chosen"]
    assert faster_cascade(points, BEST, trials, alone, 0) is alone
    assert faster_cascade(points, FASTEST, [ACCURATE], alone, 0) is alone


def test_a_cascade_beyond_a_limit_is_not_taken() -> None:
    _, alone = searched(TuningLimits())
    points, alone = searched(TuningLimits(sram_bytes=alone.fit.figures.sram_bytes + 1))
    assert faster_cascade(points, FASTEST, [FAST, ACCURATE], alone, 0) is alone
