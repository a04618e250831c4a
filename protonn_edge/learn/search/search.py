"""The search: which trial is next, and when to end.

Trials are numbered. The settings of trial n, and whether it is pruned, depend only on the seed and
on the trials up to n - `Workers.in_flight`, for which it waits. So the sequence is the same for up
to `IN_FLIGHT` workers, and after a search was stopped and resumed; only the duration changes.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import asdict, dataclass
from itertools import takewhile

import joblib

from protonn_edge.learn.search import BEST
from protonn_edge.learn.search.choice import candidates, ranked
from protonn_edge.learn.search.objective import Job, Objective
from protonn_edge.learn.search.space import SearchSpace
from protonn_edge.learn.search.store import Record, SearchFile
from protonn_edge.learn.search.workers import Workers
from protonn_edge.model.head import FEWER_FEATURES
from protonn_edge.system.errors import CheckFailed
from protonn_edge.system.schema import JsonObject

_FORMAT = 8  # of trials, their order and their records; raise it when one of them changes
_REJECTED_IN_A_ROW = 150  # trials that do not fit, after which a search ends
_LOOK_EVERY_S = 0.5


@dataclass(frozen=True)
class Progress:
    """The progress of a search."""

    records: Sequence[Record]  # the finished trials
    running: int  # trials that are running
    seconds_left: float | None  # until the time limit


@dataclass(frozen=True)
class SearchResult:
    """The result of a search."""

    records: Sequence[Record]  # all finished trials, earlier runs' included
    timed_out: bool  # whether the time limit ended it
    stopped: bool = False  # whether Ctrl-C did


def identity(objective: Objective) -> JsonObject:
    """Return everything that the trials of a search depend on, which identifies its file."""
    points = objective.points
    return {
        "format": _FORMAT,
        "data and folds": joblib.hash(
            [points.X, points.y, points.folds, points.groups, points.gaps]
        ),
        "board": points.board.name,
        "limits": asdict(points.limits),
        "metric": str(points.metric),
        "settings": objective.space.to_json(),
        "seed": objective.seed,
    }


class Search:
    """A search for the best trial of an objective, with a file and workers that were entered.

    - `choice`: one of `CHOICES`, which is trained at the end of the time limit.
    - `on_change`: called with the `Progress` after every change, and twice a second.
    """

    def __init__(
        self,
        file: SearchFile,
        workers: Workers,
        *,
        choice: str = BEST,
        on_change: Callable[[Progress], object] | None = None,
    ) -> None:
        self._file, self._workers, self._objective = file, workers, workers.objective
        self._choice = choice
        self._on_change = on_change or (lambda _: None)
        self._running: deque[Future[Record]] = deque()
        self._deadline: float | None = None

    def run(self, *, trials: int, deadline: float | None = None) -> SearchResult:
        """Continue until `trials` trials have been trained, including those of earlier runs.

        Complete, pruned and failed trials count; those that do not fit do not. Running trials are
        abandoned before the deadline, a time of ``time.monotonic()``, early enough to train the
        model chosen so far on all points.

        Raises `CheckFailed` if all settings drawn exceed a limit.
        """
        self._deadline = deadline
        records = self._file.records
        while in_time := not self._is_late():
            while len(self._running) < self._workers.in_flight and self._is_another_needed(trials):
                self._submit(len(records) + len(self._running))
            self._say()
            if not self._running:
                break
            self._wait()
        _check_found(records, self._objective.space)
        return SearchResult(records, timed_out=not in_time)

    def _submit(self, number: int) -> None:
        """Submit a trial, which depends on those that have finished for certain by now."""
        space = self._objective.space
        seen = self._file.records[: max(0, number - self._workers.in_flight + 1)]
        settings = space.suggest(number, self._objective.seed, seen)
        job = Job(number, settings, () if number < len(space.starts) else seen)
        self._running.append(self._workers.submit(job))

    def _wait(self) -> None:
        """Wait shortly for the earliest trial, and keep it if it has finished."""
        left = self._seconds_left()
        patience = _LOOK_EVERY_S if left is None else max(0.0, min(left, _LOOK_EVERY_S))
        try:
            record = self._running[0].result(patience)
        except TimeoutError:
            return
        except self._workers.lost as error:
            raise CheckFailed(
                f"trial {len(self._file.records)} was lost with its worker; check the memory and "
                "the workers, then repeat the command to continue"
            ) from error
        self._running.popleft()
        self._file.add(record)
        self._say()

    def _is_another_needed(self, trials: int) -> bool:
        """Whether another trial is needed, and can be expected to fit."""
        records = self._file.records
        trained = sum(each.outcome != "infeasible" for each in records)
        in_a_row = takewhile(lambda each: each.outcome == "infeasible", reversed(records))
        is_futile = len(list(in_a_row)) >= _REJECTED_IN_A_ROW
        return trained + len(self._running) < trials and not is_futile

    def _is_late(self) -> bool:
        left = self._seconds_left()
        if left is None:
            return False
        complete = candidates(self._file.records)
        if not complete:
            return left <= 0
        chosen = ranked(complete, self._choice)[0]
        folds = self._objective.points.n_folds
        return left <= 1.5 * chosen.seconds / (folds - 1)  # each fold trains on the others

    def _seconds_left(self) -> float | None:
        return None if self._deadline is None else self._deadline - time.monotonic()

    def _say(self) -> None:
        progress = Progress(self._file.records, len(self._running), self._seconds_left())
        self._on_change(progress)


def _check_found(records: Sequence[Record], space: SearchSpace) -> None:
    """Refuse records of trials if none fits; name the one that exceeds the limits least."""
    if not records or any(record.outcome != "infeasible" for record in records):
        return
    nearest = min(records, key=lambda r: (max(r.excess.values()), r.number))
    points, figures = space.points, nearest.measured
    said = [points.limits.describe(name, figures, points.board) for name in sorted(nearest.excess)]
    sizes = space.searched.described(nearest.settings)
    raise CheckFailed(
        f"none of {len(records):,} trials fits; the nearest ({sizes}) takes {' and '.join(said)}; "
        f"raise the limits, choose a larger board, or give {FEWER_FEATURES}"
    )
