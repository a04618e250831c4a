"""Results of trials, told to the file of a search."""

from __future__ import annotations

from dataclasses import replace

from protonn_edge.learn.search.space import SearchSpace
from protonn_edge.learn.search.store import Record, SearchFile


def add(file: SearchFile, space: SearchSpace, record: Record) -> Record:
    """Tell a search a result of the next trial; return it with what Optuna drew."""
    trial = file.study.ask(space.distributions)
    told = replace(record, number=trial.number, settings=trial.params)
    file.tell(trial, told)
    return told
