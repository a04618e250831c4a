"""Compare the choices of `tune --groups` on people who were left out of its search.

    python benchmarks/choices.py [--only NAME] [--json] [--seconds 120]   # 16 and 10 minutes

For each fold of the people in turn, it searches on the others, with folds of its own, and trains
each choice's model on them. It prints one row per choice: the accuracy in the search's folds, and
on the people of the outer fold, with two trainings each. The test part is not read.
"""

from __future__ import annotations

import sys
import tempfile
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

import rounding  # noqa: F401 - before NumPy
import click
import numpy as np
from printing import Record, print_table
from rows import SEEDS_OF_A_FOLD, Row, chosen, held_out_in_turn
from sklearn.exceptions import ConvergenceWarning
from tuning import in_folds, searched

from protonn_edge.datasets import Dataset
from protonn_edge.errors import ProtoNNEdgeError
from protonn_edge.tuning import store
from protonn_edge.tuning.choice import Choice, candidates
from protonn_edge.tuning.workers import Processes

CHOICES = (
    "best",
    "smallest-within 2",
    "smallest-within chance",
    "default-within chance",
)


@dataclass(frozen=True)
class _Searched(Row):
    folds: int = field(default=3, kw_only=True)


_ROWS = [
    _Searched("watch", "watch_exercise.npz", groups="subject_train", folds=7),
    _Searched("har", "har_hapt.npz", groups="subject_train", folds=3),
]


def measure(row: _Searched, dataset: Dataset, seconds: float, jobs: int) -> Iterator[Record]:
    """Yield what each choice has in the folds and on other people, a mean over the outer folds."""
    inside: dict[str, list[float]] = {choice: [] for choice in CHOICES}
    outside: dict[str, list[float]] = {choice: [] for choice in CHOICES}
    for part in held_out_in_turn(dataset, row.folds):
        found = _search(part, seconds, jobs)
        accuracies: dict[int, float] = {}
        for choice in CHOICES:
            taken = Choice.parse(choice).ranked(found)[0]
            number = taken.number
            if number not in accuracies:
                accuracies[number] = _on_others(row, taken, part)
            inside[choice].append(taken.score)
            outside[choice].append(accuracies[number])
    for choice in CHOICES:
        yield {
            "row": row.name,
            "choice": choice,
            "folds_percent": round(100 * float(np.mean(inside[choice])), 2),
            "others_percent": round(100 * float(np.mean(outside[choice])), 2),
            "others_each": [round(100 * each, 1) for each in outside[choice]],
        }


def _search(part: Dataset, seconds: float, jobs: int) -> list[store.Record]:
    points = in_folds(part)
    with tempfile.TemporaryDirectory(prefix="protonn-edge-choices-") as folder:
        path = Path(folder) / "search.jsonl"
        records = searched(points, partial(Processes, jobs=jobs), path, seconds=seconds).records
    found = candidates(records)
    if not found:
        raise click.UsageError(f"no trial was complete after {seconds:g} s; give more --seconds")
    return found


def _on_others(row: Row, taken: store.Record, part: Dataset) -> float:
    tuned = replace(row, settings=dict(taken.settings))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return float(np.mean([tuned.integer_accuracy(part, seed) for seed in SEEDS_OF_A_FOLD]))


@click.command()
@click.option("--only", type=click.Choice([row.name for row in _ROWS]), help="One data set.")
@click.option("--seconds", default=120.0, show_default=True, help="Of a search.")
@click.option("--jobs", default=2, show_default=True, help="Processes.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object per row.")
def main(only: str | None, seconds: float, jobs: int, as_json: bool) -> None:
    """Print what each choice is worth on people who were left out of the search."""
    columns = [
        ("data", lambda record: record["row"]),
        ("choice", lambda record: record["choice"]),
        ("folds %", lambda record: f"{record['folds_percent']:.2f}"),
        ("other people %", lambda record: f"{record['others_percent']:.2f}"),
        ("each fold of them", lambda record: ", ".join(map(str, record["others_each"]))),
    ]
    measured = (
        record
        for row, dataset in chosen(_ROWS, only)
        for record in measure(row, dataset, seconds, jobs)
    )
    print_table(measured, columns, as_json)


if __name__ == "__main__":
    try:
        main()
    except ProtoNNEdgeError as error:
        sys.exit(f"error: {error}")
