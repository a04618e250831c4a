"""Results of trials, told to the file of a search, or made without one."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import optuna
from optuna.storages import InMemoryStorage
from optuna.trial import FrozenTrial, TrialState, create_trial

from protonn_edge.learn.search.objective import Objective
from protonn_edge.learn.search.space import BEGUN, SearchSpace
from protonn_edge.learn.search.store import NAME, RECORD, Record, SearchFile, new_study

STATES = {
    "complete": TrialState.COMPLETE,
    "pruned": TrialState.PRUNED,
    "infeasible": TrialState.PRUNED,
    "failed": TrialState.FAIL,
}


def drawn(space: SearchSpace, draws: int = 1) -> set[str]:
    """Return the names of all settings that some trials have."""
    study = new_study(sampler=optuna.samplers.RandomSampler(seed=0))
    return {name for _ in range(draws) for name in space.draw(study.ask())}


def add(file: SearchFile, space: SearchSpace, record: Record) -> Record:
    """Tell a search a result of the next trial; return it with what Optuna drew."""
    trial = file.study.ask()
    told = replace(record, number=trial.number, settings=space.draw(trial))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a run that was killed may have reported some of it
        for step in range(1, len(told.scores) + 1):
            trial.report(sum(told.scores[:step]) / step, step)
    trial.set_user_attr(RECORD, told.to_keep())
    score = told.score if told.outcome == "complete" else None
    file.study.tell(trial, score, STATES[told.outcome])
    return told


def judged(
    objective: Objective, settings: Mapping[str, Any], seen: Sequence[Record] = ()
) -> Record:
    """Return the result of a trial with these settings; see `tried`."""
    return replace(Record.of(tried(objective, settings, seen)), number=0)


def tried(
    objective: Objective, settings: Mapping[str, Any], seen: Sequence[Record] = ()
) -> FrozenTrial:
    """Return a trial with these settings, beside the complete ones of others."""
    storage = InMemoryStorage()
    study = new_study(storage=storage, study_name=NAME)
    for record in seen:
        if record.outcome == "complete":
            steps = dict.fromkeys(range(1, len(record.scores) + 1), record.score)
            study.add_trial(create_trial(value=record.score, intermediate_values=steps))
    study.enqueue_trial(dict(settings), {BEGUN: list(settings)})
    objective.study_in(storage, 0).optimize(objective, n_trials=1)
    return study.trials[-1]
