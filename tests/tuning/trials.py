"""Results of trials, told to the file of a search."""

from __future__ import annotations

from dataclasses import replace

import optuna

from protonn_edge.learn.search.space import SearchSpace
from protonn_edge.learn.search.store import Record, SearchFile, new_study


def drawn(space: SearchSpace, draws: int = 1) -> set[str]:
    """Return the names of all settings that some trials have."""
    study = new_study(sampler=optuna.samplers.RandomSampler(seed=0))
    return {name for _ in range(draws) for name in space.draw(study.ask())}


def add(file: SearchFile, space: SearchSpace, record: Record) -> Record:
    """Tell a search a result of the next trial; return it with what Optuna drew."""
    trial = file.study.ask()
    told = replace(record, number=trial.number, settings=space.draw(trial))
    file.tell(trial, told)
    return told
