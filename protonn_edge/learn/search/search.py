"""The search: a trial is begun whenever a worker is free, until enough have been trained.

The workers share the study of Optuna in a journal, to which they add their trials. With one worker,
the settings of a trial depend only on the seed and the trials before it, whether the search was
interrupted or not.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from dataclasses import asdict, dataclass
from itertools import takewhile

import joblib

from protonn_edge.learn.search import BEST
from protonn_edge.learn.search.choice import candidates, ranked
from protonn_edge.learn.search.objective import Abandoned, Objective
from protonn_edge.learn.search.space import SearchSpace
from protonn_edge.learn.search.store import Record
from protonn_edge.learn.search.workers import Workers
from protonn_edge.learn.searched import described
from protonn_edge.model.head import FEWER_FEATURES
from protonn_edge.system.errors import CheckFailed
from protonn_edge.system.schema import JsonObject

_FORMAT = 10  # of trials, their order and their records; raise it when one of them changes
_REJECTED_IN_A_ROW = 150  # trials that do not fit, after which a search ends
_LOOK_EVERY_S = 0.5


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


def search(
    workers: Workers,
    *,
    trials: int,
    deadline: float = math.inf,
    choice: str = BEST,
    on_change: Callable[[Sequence[Record]], object] = lambda _: None,
) -> SearchResult:
    """Continue until `trials` trials have been trained, including those of earlier runs.

    Complete, pruned and failed trials count; those that do not fit do not. Running trials are
    abandoned at Ctrl-C and before the deadline, a time of ``time.monotonic()``, early enough to
    train the model chosen so far on all points.

    - `choice`: one of `CHOICES`, which is trained at the end of the time limit.
    - `on_change`: called with the finished trials after every change, and twice a second.

    Raises `CheckFailed` if all settings drawn exceed a limit, or a worker is lost.
    """
    records, running = workers.records, set[Future[None]]()
    folds = workers.objective.points.n_folds
    try:
        while in_time := time.monotonic() < deadline - _last_seconds(records, choice, folds):
            on_change(records)
            if len(running) < workers.in_flight and _is_needed(records, len(running), trials):
                running.add(workers.submit(len(records) + len(running)))
            elif running:
                done, running = wait(running, _LOOK_EVERY_S, FIRST_COMPLETED)
                for each in done:
                    each.result()
            else:
                break
            records = workers.records
    except (KeyboardInterrupt, Abandoned):
        return SearchResult(workers.file.records, timed_out=False, stopped=True)
    except workers.lost as error:
        raise CheckFailed(
            "a trial was lost with its worker; check the memory and the workers, then repeat the "
            "command to continue"
        ) from error
    _check_found(records, workers.objective.space)
    return SearchResult(records, timed_out=not in_time)


def _is_needed(records: Sequence[Record], running: int, trials: int) -> bool:
    """Whether another trial is needed, and can be expected to fit."""
    trained = sum(each.outcome != "infeasible" for each in records)
    in_a_row = takewhile(lambda each: each.outcome == "infeasible", reversed(records))
    is_futile = len(list(in_a_row)) >= _REJECTED_IN_A_ROW
    return trained + running < trials and not is_futile


def _last_seconds(records: Sequence[Record], choice: str, folds: int) -> float:
    """Return the time to train the model chosen so far on all points; each trial trains on most."""
    complete = ranked(candidates(records), choice)
    return 1.5 * complete[0].seconds / (folds - 1) if complete else 0.0


def _check_found(records: Sequence[Record], space: SearchSpace) -> None:
    """Refuse records of trials if none fits; name the one that exceeds the limits least."""
    if not records or any(record.outcome != "infeasible" for record in records):
        return
    nearest = min(records, key=lambda r: (max(r.excess.values()), r.number))
    points, figures = space.points, nearest.measured
    said = [points.limits.describe(name, figures, points.board) for name in sorted(nearest.excess)]
    sizes = described(nearest.settings, space.columns)
    raise CheckFailed(
        f"none of {len(records):,} settings fits, so none was trained; the nearest ({sizes}) takes "
        f"{' and '.join(said)}; "
        f"raise the limits, choose a larger board, or give {FEWER_FEATURES}"
    )
