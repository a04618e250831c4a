"""A small search: some of the digits, few epochs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from learn.tuning.trials import add

from protonn_edge.chips.boards import load_board
from protonn_edge.data.points.splits import load_digits_dataset
from protonn_edge.learn.folds import fold_numbers
from protonn_edge.learn.search.limits import TuningLimits
from protonn_edge.learn.search.objective import Objective
from protonn_edge.learn.search.points import TrialPoints
from protonn_edge.learn.search.search import search as run_search
from protonn_edge.learn.search.space import SearchSpace
from protonn_edge.learn.search.store import Record, SearchFile
from protonn_edge.learn.search.workers import Workers

FIXED: dict[str, Any] = {"epochs": 4, "init_projection": "pca", "quantization_aware": False}


@pytest.fixture(scope="session")
def make_points() -> Callable[..., TrialPoints]:
    digits = load_digits_dataset()
    X, y = digits.X_train[::5], digits.y_train[::5]
    folds = fold_numbers(y, 2, 0)

    def make(limits: TuningLimits | None = None) -> TrialPoints:
        return TrialPoints(X, y, folds, load_board("uno"), limits or TuningLimits(), FIXED)

    return make


@pytest.fixture(scope="session")
def space(make_points: Callable[..., TrialPoints]) -> SearchSpace:
    return SearchSpace(make_points())


@pytest.fixture(scope="session")
def make_objective(make_points: Callable[..., TrialPoints]) -> Callable[..., Objective]:
    """Return a function that makes an objective within limits, or of other points."""

    def make(
        limits: TuningLimits | None = None, points: TrialPoints | None = None, seed: int = 0
    ) -> Objective:
        return Objective(SearchSpace(points or make_points(limits)), seed)

    return make


@pytest.fixture(scope="session")
def search() -> Callable[..., Any]:
    """Return a function that runs a search and returns what it found."""

    def run(
        objective: Objective,
        path: Path,
        made: Callable[[Objective, SearchFile], Workers] = Workers,
        *,
        trials: int = 6,
        done: Sequence[Record] = (),
        **options: Any,
    ) -> Any:
        with SearchFile(path, {"of": "tests"}) as file:
            objective.space.begin(file.study)
            for record in done:
                add(file, objective.space, record)
            with made(objective, file) as workers:
                return run_search(workers, trials=trials, **options)

    return run
