"""The search: Optuna is asked for a trial whenever a worker is free, and told its result.

One process owns the study. The workers need neither its file nor a connection to it, so they may
be processes or other computers, and can be lost. With one worker, the settings of a trial depend
only on the seed and the trials before it, whether the search was interrupted or not.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from itertools import takewhile

import joblib
import optuna

from protonn_edge.learn.search import BEST
from protonn_edge.learn.search.choice import candidates, ranked
from protonn_edge.learn.search.objective import Job, Objective
from protonn_edge.learn.search.space import SearchSpace
from protonn_edge.learn.search.store import Record, SearchFile
from protonn_edge.learn.search.workers import Workers
from protonn_edge.learn.searched import described
from protonn_edge.model.head import FEWER_FEATURES
from protonn_edge.system.errors import CheckFailed
from protonn_edge.system.schema import JsonObject

_FORMAT = 9  # of trials, their order and their records; raise it when one of them changes
_REJECTED_IN_A_ROW = 150  # trials that do not fit, after which a search ends
_LOOK_EVERY_S = 0.5

_AT_RANDOM = 4  # trials after the given first ones, before the sampler uses its model


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
            [points.X, points.y, points.folds, points.groups, points.gaps, points.drift]
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
    - `on_change`: called with the finished trials after every change, and twice a second.
    """

    def __init__(
        self,
        file: SearchFile,
        workers: Workers,
        *,
        choice: str = BEST,
        on_change: Callable[[Sequence[Record]], object] = lambda _: None,
    ) -> None:
        self._file, self._workers, self._objective = file, workers, workers.objective
        self._choice = choice
        self._on_change = on_change
        self._running: dict[Future[Record], optuna.Trial] = {}

    def run(self, *, trials: int, deadline: float | None = None) -> SearchResult:
        """Continue until `trials` trials have been trained, including those of earlier runs.

        Complete, pruned and failed trials count; those that do not fit do not. Running trials are
        abandoned at Ctrl-C and before the deadline, a time of ``time.monotonic()``, early enough to
        train the model chosen so far on all points.

        Raises `CheckFailed` if all settings drawn exceed a limit, or a worker is lost.
        """
        records, in_time = self._file.records, True
        try:
            self._file.enqueue(self._objective.space.starts)
            while in_time := deadline is None or not self._is_late(deadline):
                self._on_change(records)
                if len(self._running) < self._workers.in_flight and self._is_another_needed(trials):
                    self._submit()
                elif self._running:
                    self._collect(deadline)
                else:
                    break
        except KeyboardInterrupt:
            return SearchResult(records, timed_out=False, stopped=True)
        _check_found(records, self._objective.space)
        return SearchResult(records, timed_out=not in_time)

    def _submit(self) -> None:
        """Ask for a trial, and submit it; the first ones are never pruned."""
        study, space = self._file.study, self._objective.space
        number = len(self._file.records)
        seed = (self._objective.seed * 1_000_003 + number + len(self._running)) % 2**32
        startup = len(space.starts) + _AT_RANDOM
        study.sampler = optuna.samplers.TPESampler(seed=seed, n_startup_trials=startup)
        trial = study.ask()
        settings = space.draw(trial)
        seen = self._file.records if trial.number >= len(space.starts) else ()
        job = Job(trial.number, settings, tuple(seen))
        with self._naming_if_lost(trial):
            self._running[self._workers.submit(job)] = trial

    def _collect(self, deadline: float | None) -> None:
        """Wait shortly for a trial, and keep those that have finished."""
        left = _LOOK_EVERY_S if deadline is None else max(0.0, deadline - time.monotonic())
        done, _ = wait(self._running, min(left, _LOOK_EVERY_S), FIRST_COMPLETED)
        for future in done:
            trial = self._running.pop(future)
            with self._naming_if_lost(trial):
                record = future.result()
            self._file.tell(trial, record)

    @contextmanager
    def _naming_if_lost(self, trial: optuna.Trial) -> Iterator[None]:
        """Raise `CheckFailed` if a worker is lost, now or before the trial was submitted to it."""
        try:
            yield
        except self._workers.lost as error:
            raise CheckFailed(
                f"trial {trial.number} was lost with its worker; check the memory and the "
                "workers, then repeat the command to continue"
            ) from error

    def _is_another_needed(self, trials: int) -> bool:
        """Whether another trial is needed, and can be expected to fit."""
        records = self._file.records
        trained = sum(each.outcome != "infeasible" for each in records)
        in_a_row = takewhile(lambda each: each.outcome == "infeasible", reversed(records))
        is_futile = len(list(in_a_row)) >= _REJECTED_IN_A_ROW
        return trained + len(self._running) < trials and not is_futile

    def _is_late(self, deadline: float) -> bool:
        """Whether the time that is left is needed to train the chosen model."""
        left, complete = deadline - time.monotonic(), candidates(self._file.records)
        if not complete:
            return left <= 0
        chosen = ranked(complete, self._choice)[0]
        folds = self._objective.points.n_folds
        return left <= 1.5 * chosen.seconds / (folds - 1)  # each fold trains on the others


def _check_found(records: Sequence[Record], space: SearchSpace) -> None:
    """Refuse records of trials if none fits; name the one that exceeds the limits least."""
    if not records or any(record.outcome != "infeasible" for record in records):
        return
    nearest = min(records, key=lambda r: (max(r.excess.values()), r.number))
    points, figures = space.points, nearest.measured
    said = [points.limits.describe(name, figures, points.board) for name in sorted(nearest.excess)]
    sizes = described(nearest.settings, space.columns)
    raise CheckFailed(
        f"none of {len(records):,} trials fits; the nearest ({sizes}) takes {' and '.join(said)}; "
        f"raise the limits, choose a larger board, or give {FEWER_FEATURES}"
    )
