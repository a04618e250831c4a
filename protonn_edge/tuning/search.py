"""The search: which trial is next, what each trial results in, and when to end.

Trials are numbered. The settings of trial n, and whether it is pruned, depend only on the seed and
on the trials up to n - `in_flight`, for which it waits. So the sequence is the same for any number
of workers, after failures, and after a search was stopped and resumed; only the duration changes.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Mapping
from concurrent.futures import FIRST_COMPLETED, Future, wait
from dataclasses import asdict, dataclass, field, replace
from typing import Any

import numpy as np

from protonn_edge.chain.head import FEWER_FEATURES
from protonn_edge.errors import CheckFailed, InputError
from protonn_edge.tuning import IN_FLIGHT
from protonn_edge.tuning.choice import Choice, candidates, robust_deviation
from protonn_edge.tuning.limits import Figures
from protonn_edge.tuning.space import SearchSpace
from protonn_edge.tuning.store import Outcome, Record, SearchFile
from protonn_edge.tuning.trial import RUNGS, FoldResult, Job, Points, sketch
from protonn_edge.tuning.workers import Workers

_FORMAT = 6  # of trials, their order and their records; raise it when one of them changes

# After these shares of training, a trial is pruned if a trial that needs no more resources is ahead
# by this plus the uncertainty of the first fold.
_MARGINS = {0.25: 0.05, 0.5: 0.03, 0.75: 0.02, 1.0: 0.01}
_DOUBT_AT_FIRST = 0.02  # until this number of trials has run all folds:
_TRIALS_TO_KNOW = 5
_FEW_TESTED = 100

# The search ends after this many consecutive trials that do not fit, sooner if none has fit.
_REJECTED_IN_A_ROW = 300
_REJECTED_AT_FIRST = 120

_LOOK_EVERY_S = 0.5
_LOSSES = 5  # lost workers for one fold


@dataclass(frozen=True)
class Progress:
    """The progress of a search."""

    records: Mapping[int, Record]  # the finished trials
    running: int  # trials that are running
    seconds_left: float | None  # until the time limit


@dataclass(frozen=True)
class SearchResult:
    """The result of a search."""

    records: Mapping[int, Record]  # all finished trials, earlier runs' included
    timed_out: bool  # whether the time limit ended it
    stopped: bool = False  # whether Ctrl-C did


@dataclass
class _Open:
    number: int
    settings: Mapping[str, Any]
    figures: Figures
    bars: Mapping[float, float]
    by_fold: dict[int, FoldResult] = field(default_factory=dict)

    @property
    def results(self) -> list[FoldResult]:
        return [self.by_fold[fold] for fold in sorted(self.by_fold)]

    def outcome(self) -> tuple[Outcome, str]:
        """Return the outcome by the finished folds, and the reason."""
        results = self.results
        failures = [result.failure for result in results if result.failure]
        if failures:
            return "failed", failures[0]
        if results[0].hopeless or (results[0].score or 0.0) < self.bars.get(1.0, 0.0):
            return "pruned", "a smaller and faster trial scored higher"
        if any(result.excess for result in results):
            return "rejected", "does not fit once it is trained"
        return "complete", ""

    def record(self) -> Record:
        """Return the record of the finished folds."""
        results = self.results
        outcome, reason = self.outcome()
        trained = [result.figures for result in results if result.figures is not None]
        excess: dict[str, float] = {}
        for name, used in [pair for result in results for pair in result.excess.items()]:
            excess[name] = max(used, excess.get(name, 0.0))
        return Record(
            self.number,
            self.settings,
            outcome,
            _most(trained) if trained else self.figures,
            scores=tuple(r.score for r in results if r.score is not None),
            accuracies=tuple(r.accuracy for r in results if r.accuracy is not None),
            loss=sum(result.loss for result in results) / len(results),
            rungs=results[0].rungs,
            seconds=sum(result.seconds for result in results),
            reason=reason,
            excess=excess,
        )


def identity(
    points: Points, space: SearchSpace, *, seed: int, in_flight: int = IN_FLIGHT
) -> dict[str, Any]:
    """Return everything that the trials of a search depend on, which identifies its file."""
    digest = hashlib.sha256()
    arrays = {"X": "<f4", "y": "<i8", "folds": "<i8", "groups": "<i8", "gaps": "|b1"}
    for name, kind in arrays.items():
        if (array := getattr(points, name)) is not None:
            digest.update(np.ascontiguousarray(array, dtype=kind).tobytes())
    return {
        "format": _FORMAT,
        "data and folds": digest.hexdigest(),
        "board": points.board.name,
        "limits": asdict(points.limits),
        "metric": str(points.metric),
        "settings": space.to_json(),
        "seed": seed,
        "trials in flight": in_flight,
    }


class Search:
    """A search over the space, trial by trial, with a file and workers that were entered.

    - `seed`: everything random follows from it.
    - `in_flight`: trials that may run at the same time; the sequence depends on it.
    - `choice`: the choice at the end of the time limit; by default the best.
    - `on_change`: called with the `Progress` after every change, and twice a second.
    """

    def __init__(
        self,
        points: Points,
        space: SearchSpace,
        file: SearchFile,
        workers: Workers,
        *,
        seed: int = 0,
        in_flight: int = IN_FLIGHT,
        choice: Choice | None = None,
        on_change: Callable[[Progress], object] | None = None,
    ) -> None:
        self._points, self._space, self._file = points, space, file
        self._workers = workers
        self._seed, self._in_flight = seed, in_flight
        self._choice = choice or Choice()
        self._n_starts = len(space.starts())
        self._on_change = on_change or (lambda _: None)
        self._records = file.records()
        self._open: dict[int, _Open] = {}
        self._futures: dict[Future[FoldResult], tuple[Job, int]] = {}
        self._next = 0
        self._deadline: float | None = None

    def run(self, *, trials: int, deadline: float | None = None) -> SearchResult:
        """Continue until `trials` trials have been trained, including those of earlier runs.

        Complete, pruned and failed trials count; those that do not fit do not. Running trials are
        abandoned before the deadline, a time of ``time.monotonic()``, early enough to train the
        model chosen so far on all points.

        Raises `CheckFailed` if all settings drawn exceed a limit.
        """
        self._deadline = deadline
        while in_time := not self._is_late():
            self._start(trials)
            self._say()
            if not self._open:
                break
            self._collect()
        _check_found(list(self._records.values()), self._points, self._space)
        return SearchResult(self._records, timed_out=not in_time)

    def _is_late(self) -> bool:
        left = self._seconds_left()
        if left is None:
            return False
        complete = candidates(self._records.values())
        if not complete:
            return left <= 0
        chosen = self._choice.ranked(complete)[0]
        folds = self._points.n_folds
        return left <= 1.5 * chosen.seconds / (folds - 1)  # each fold trains on the others

    def _seconds_left(self) -> float | None:
        return None if self._deadline is None else self._deadline - time.monotonic()

    def _start(self, trials: int) -> None:
        while len(self._open) < self._in_flight:
            number = self._next
            if number in self._records:
                self._next += 1
                continue
            if self._is_late():
                return
            needed = range(max(0, number - self._in_flight + 1))
            if any(each not in self._records for each in needed):
                return
            trained = sum(each.outcome != "rejected" for each in self._records.values())
            if trained + len(self._open) >= trials or self._is_futile():
                return
            self._next += 1
            self._begin(number, [self._records[each] for each in needed])

    def _is_futile(self) -> bool:
        """Whether no more settings that fit are to be expected."""
        in_a_row = 0
        for number in range(self._next - 1, -1, -1):
            record = self._records.get(number)
            if record is None or record.outcome != "rejected":
                return in_a_row >= _REJECTED_IN_A_ROW
            in_a_row += 1
        return in_a_row >= _REJECTED_AT_FIRST

    def _begin(self, number: int, seen: list[Record]) -> None:
        distributions = self._space.distributions
        frozen = [record.frozen(distributions) for record in seen]
        settings = self._space.suggest(number, self._seed, frozen)
        try:
            fit = sketch(self._points, settings, self._space.searched, self._seed)
        except InputError as error:
            self._finish(Record(number, settings, "failed", reason=str(error)[:300]))
            return
        if fit.excess:
            record = Record(
                number, settings, "rejected", fit.figures, reason="does not fit", excess=fit.excess
            )
            self._finish(record)
            return
        # One fold of a few people or points must not decide on a default.
        is_few = self._space.in_groups or self._points.tested_in(0).sum() < _FEW_TESTED
        is_spared = is_few and number < self._n_starts
        bars = {} if self._space.at_random or is_spared else _bars(seen, fit.figures)
        opened = _Open(number, settings, fit.figures, bars)
        self._open[number] = opened
        self._submit(self._job(opened, 0))

    def _job(self, opened: _Open, fold: int) -> Job:
        bars = opened.bars if fold == 0 else {}
        return Job(opened.number, fold, opened.settings, self._seed, bars)

    def _submit(self, job: Job, losses: int = 0) -> None:
        self._futures[self._workers.submit(job)] = (job, losses)

    def _collect(self) -> None:
        """Wait shortly for folds, and process the finished ones."""
        left = self._seconds_left()
        patience = _LOOK_EVERY_S if left is None else max(0.0, min(left, _LOOK_EVERY_S))
        done, _ = wait(self._futures, timeout=patience, return_when=FIRST_COMPLETED)
        lost: list[tuple[Job, int]] = []
        for future in done:
            job, losses = self._futures.pop(future)
            if future.cancelled() or future.exception() is not None:
                reason = "cancelled" if future.cancelled() else repr(future.exception())
                if losses == _LOSSES:
                    raise CheckFailed(
                        f"fold {job.fold} of trial {job.number} was lost {losses + 1} times "
                        f"({reason[:200]}); check the workers, then repeat the command"
                    )
                lost.append((job, losses + 1))
            else:
                self._take(self._open[job.number], job.fold, future.result())
        if lost:
            self._replace(lost)

    def _replace(self, lost: list[tuple[Job, int]]) -> None:
        """Submit folds again that were lost with a worker, or ran at the same time."""
        beside = [value for future, value in self._futures.items() if not future.done()]
        finished = {future: value for future, value in self._futures.items() if future.done()}
        self._futures = finished
        self._workers.renew()
        for job, losses in [*lost, *beside]:
            self._submit(job, losses)

    def _take(self, opened: _Open, fold: int, result: FoldResult) -> None:
        """Keep a fold's result. The first fold decides whether the others run, in parallel."""
        opened.by_fold[fold] = result
        if fold == 0 and opened.outcome() == ("complete", ""):
            for other in range(1, self._points.n_folds):
                self._submit(self._job(opened, other))
        elif fold == 0 or len(opened.by_fold) == self._points.n_folds:
            del self._open[opened.number]
            self._finish(opened.record())

    def _finish(self, record: Record) -> None:
        record = replace(record, is_default=record.number < self._n_starts)
        self._file.add(record)
        self._records[record.number] = record
        self._say()

    def _say(self) -> None:
        self._on_change(Progress(self._records, len(self._open), self._seconds_left()))


def _check_found(records: list[Record], points: Points, space: SearchSpace) -> None:
    """Refuse records of trials if none fits; name the one that exceeds the limits least."""
    rejected = [record for record in records if record.excess]
    if not rejected or any(record.outcome != "rejected" for record in records):
        return
    nearest = min(rejected, key=lambda r: (max(r.excess.values()), r.number))
    limits, figures = points.limits, nearest.measured
    said = [limits.describe(name, figures, points.board) for name in sorted(nearest.excess)]
    sizes = space.searched.described(nearest.settings)
    raise CheckFailed(
        f"none of {len(rejected):,} trials fits; the nearest ({sizes}) takes {' and '.join(said)}; "
        f"raise the limits, choose a larger board, or give {FEWER_FEATURES}"
    )


def _most(figures: list[Figures]) -> Figures:
    """Return the figures of a trial: the maxima over its folds, and the mean of their means."""
    largest = max(figures, key=lambda each: each.flash_bytes)
    return Figures(
        kernel=largest.kernel,
        flash_bytes=largest.flash_bytes,
        sram_bytes=max(each.sram_bytes for each in figures),
        mean_cycles=sum(each.mean_cycles for each in figures) / len(figures),
    )


def _bars(seen: list[Record], figures: Figures) -> dict[float, float]:
    """Return the scores for a trial to reach: slightly less than a cheaper one's."""
    bars: dict[float, float] = {}
    doubt = _doubt([record for record in seen if record.outcome == "complete"])
    for record in seen:
        other = record.figures
        if record.outcome not in ("complete", "pruned") or other is None:
            continue
        if other.flash_bytes > figures.flash_bytes or other.mean_cycles > figures.mean_cycles:
            continue
        reached = dict(record.rungs)
        if record.scores:
            reached[1.0] = record.scores[0]
        for share in (*RUNGS, 1.0):
            if share in reached:
                bar = reached[share] - _MARGINS[share] - doubt
                bars[share] = max(bars.get(share, 0.0), bar)
    return bars


def _doubt(complete: list[Record]) -> float:
    """Return the uncertainty of the first fold against the mean of all: two deviations.

    Differences that all trials share, such as an easy first fold, do not count. The uncertainty is
    a tenth of a point if folds have many similar points, and several if each has few people.
    """
    if len(complete) < _TRIALS_TO_KNOW:
        return _DOUBT_AT_FIRST
    off = np.array([record.scores[0] - record.score for record in complete])
    return 2 * robust_deviation(off - np.median(off))
