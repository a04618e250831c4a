"""Files of searches and their fronts: one is refused in one sentence, or can be gone on with."""

from __future__ import annotations

import functools
import json
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from fuzz.mutation import mutated_bytes, mutated_json, pick
from fuzz.sentences import REFUSALS, check_refusal

from protonn_edge.boards import load_board
from protonn_edge.report.front import front_section, read_front
from protonn_edge.training.folds import fold_numbers
from protonn_edge.tuning.choice import Choice, candidates, front_json
from protonn_edge.tuning.limits import Figures, TuningLimits
from protonn_edge.tuning.search import Progress, Search
from protonn_edge.tuning.space import SearchSpace
from protonn_edge.tuning.store import Record, SearchFile
from protonn_edge.tuning.tables import candidate_table, front_figure, progress_table
from protonn_edge.tuning.trial import Points
from protonn_edge.tuning.workers import InProcessWorkers

BRIEF_CASES = 8

_IDENTITY = {"seed": 0, "limits": {"flash_bytes": None}}
_UNO = load_board("uno")
_CHOICES = ("best", "smallest-within 0.5", "fastest-within chance", "default-within chance")


def run_case(seed: int, folder: Path) -> None:
    """Go on from a changed file of a search, or read a changed front."""
    rng = np.random.default_rng(seed)
    try:
        if rng.random() < 0.3:
            _read_a_front(rng, folder / "front.json")
        else:
            _go_on(rng, folder / "search.jsonl")
    except REFUSALS as error:
        check_refusal(error)


def _read_a_front(rng: np.random.Generator, path: Path) -> None:
    front = _front()
    for _ in range(int(rng.integers(1, 4))):
        front = mutated_json(rng, front)
    content = json.dumps(front).encode()
    path.write_bytes(mutated_bytes(rng, content) if rng.random() < 0.3 else content)
    front_section(read_front(path))


def _go_on(rng: np.random.Generator, path: Path) -> None:
    path.write_bytes(_changed_search(rng))
    space = _space()
    with (
        SearchFile(path, _IDENTITY, space.distributions) as file,
        InProcessWorkers(_points()) as workers,
    ):
        progress: list[Progress] = []
        search = Search(_points(), space, file, workers, on_change=progress.append)
        searched = search.run(trials=0)
        seen = [searched.records[number] for number in sorted(searched.records)]
        space.suggest(20, 0, [record.frozen(space.distributions) for record in seen])
        for each in progress[-1:]:
            progress_table(each, 10, _UNO, space.searched.columns)
        _choose(rng, candidates(seen), space)


def _choose(rng: np.random.Generator, found: list[Record], space: SearchSpace) -> None:
    if not found:
        return
    Choice.parse(pick(rng, _CHOICES)).ranked(found)
    candidate_table(found, _UNO, space.searched.columns)
    json.dumps(front_json(found, _UNO), allow_nan=False)
    if rng.random() < 0.02:
        front_figure(found, _UNO, "svg")


def _changed_search(rng: np.random.Generator) -> bytes:
    content = _search()
    if rng.random() < 0.2:
        return mutated_bytes(rng, content)
    lines: list[Any] = [json.loads(line) for line in content.splitlines()]
    for _ in range(int(rng.choice([1, 1, 2, 3]))):
        row = int(rng.integers(len(lines)))
        chance = rng.random()
        if chance < 0.85:
            lines[row] = mutated_json(rng, lines[row])
        elif chance < 0.9 and len(lines) > 1:
            del lines[row]
        else:
            lines.insert(row, pick(rng, lines))
    return b"".join(json.dumps(line).encode() + b"\n" for line in lines)


@functools.cache
def _search() -> bytes:
    """Return what a search has written that made a trial of each outcome."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "search.jsonl"
        with SearchFile(path, _IDENTITY, _space().distributions) as file:
            for record in _records():
                file.add(record)
        return path.read_bytes()


def _records() -> list[Record]:
    draws = [_space().suggest(number, 0, []) for number in range(6)]
    small, large = Figures("columns", 900, 80, 12_345.5), Figures("masked", 3, 1, 4.0)
    return [
        Record(0, draws[0], "complete", small, (0.9, 0.8), {0.25: 0.5}, 3.5, accuracies=(1, 0)),
        Record(1, draws[1], "rejected", small, reason="x", excess={"--max-flash": 1.5}, rungs={}),
        Record(2, draws[2], "pruned", large, (), {0.25: 0.1}, 1.0, "y", {}),
        Record(3, draws[3], "failed", None, (), {}, 0.0, "z", {}),
        Record(4, draws[4], "complete", large, (0.7, 0.9), {}, 1.5, accuracies=(0.7, 0.9)),
        Record(5, draws[5], "complete", large, (0.6, 0.6), {}, 1.5, accuracies=(0.6, 0.6)),
    ]


@functools.cache
def _front() -> dict[str, Any]:
    found: dict[str, Any] = json.loads(json.dumps(front_json(candidates(_records()), _UNO)))
    return found


@functools.cache
def _space() -> SearchSpace:
    return SearchSpace.of(_points())


@functools.cache
def _points() -> Points:
    rng = np.random.default_rng(0)
    y = np.arange(40, dtype=np.int64) % 2
    X = (rng.normal(size=(40, 6)) + y[:, None]).astype(np.float32)
    return Points(X, y, fold_numbers(y, 2, 0), _UNO, TuningLimits(), {"epochs": 1})
