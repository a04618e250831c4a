"""A search goes on wherever its file ends."""

from __future__ import annotations

import functools
import json
import tempfile
from pathlib import Path

import numpy as np
from laws.fuzz.mutation import pick
from laws.fuzz.sentences import REFUSALS, check_refusal
from learn.tuning.trials import add

from protonn_edge.chips.boards import load_board
from protonn_edge.learn.folds import fold_numbers
from protonn_edge.learn.search import CHOICES
from protonn_edge.learn.search.choice import candidates, front, ranked
from protonn_edge.learn.search.limits import Figures, TuningLimits
from protonn_edge.learn.search.objective import Objective
from protonn_edge.learn.search.points import TrialPoints
from protonn_edge.learn.search.search import search
from protonn_edge.learn.search.space import SearchSpace
from protonn_edge.learn.search.store import Record, SearchFile
from protonn_edge.learn.search.tables import candidate_table
from protonn_edge.learn.search.workers import Workers

BRIEF_CASES = 8

_IDENTITY = {"seed": 0, "limits": {"flash_bytes": None}}
_UNO = load_board("uno")
_SMALL, _LARGE = Figures("columns", 900, 80, 12_345.5), Figures("packed", 3, 1, 4.0)
_RECORDS = (
    Record(0, {}, "complete", _SMALL, (0.9, 0.8), 3.5, accuracies=(1, 0)),
    Record(1, {}, "infeasible", _SMALL, excess={"--max-flash": 1.5}),
    Record(2, {}, "pruned", _LARGE, (), 1.0),
    Record(3, {}, "failed", None, reason="z"),
    Record(4, {}, "complete", _LARGE, (0.7, 0.9), 1.5, accuracies=(0.7, 0.9)),
    Record(5, {}, "complete", _LARGE, (0.6, 0.6), 1.5, accuracies=(0.6, 0.6)),
)


def run_case(seed: int, folder: Path) -> None:
    """Go on from the beginning of a search's file."""
    try:
        _go_on(np.random.default_rng(seed), folder / "search.jsonl")
    except REFUSALS as error:
        check_refusal(error)


def _go_on(rng: np.random.Generator, path: Path) -> None:
    content = _search()
    path.write_bytes(content[: int(rng.integers(len(content) + 1))])
    space = _space()
    with (
        SearchFile(path, _IDENTITY) as file,
        Workers(Objective(space), file) as workers,
    ):
        records = search(workers, trials=0).records
        space.draw(file.study.ask())
        _choose(rng, candidates(records), space)


def _choose(rng: np.random.Generator, found: list[Record], space: SearchSpace) -> None:
    if not found:
        return
    ranked(found, pick(rng, CHOICES))
    candidate_table(found, _UNO, space.columns)
    json.dumps([each.to_json(_UNO) for each in front(found)], allow_nan=False)


@functools.cache
def _search() -> bytes:
    """Return what a search has written that made a trial of each outcome."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "search.jsonl"
        with SearchFile(path, _IDENTITY) as file:
            _space().begin(file.study)
            for record in _RECORDS:
                add(file, _space(), record)
            _space().draw(file.study.ask())  # and was killed
        return path.read_bytes()


@functools.cache
def _space() -> SearchSpace:
    return SearchSpace(_points())


@functools.cache
def _points() -> TrialPoints:
    rng = np.random.default_rng(0)
    y = np.arange(40, dtype=np.int64) % 2
    X = (rng.normal(size=(40, 6)) + y[:, None]).astype(np.float32)
    return TrialPoints(X, y, fold_numbers(y, 2, 0), _UNO, TuningLimits(), {"epochs": 1})
