"""Measure whether moving points between people helps on people who were not recorded.

    python benchmarks/groups.py [--only NAME] [--json] [--test]

prints one row a data set and model: the accuracy of the integers on people of the training part who
are held out in turn (three folds, two trainings of each), for points that stay where they are and
for ones that are moved up to so far from their person towards another. With --test it is that of
models of all people of the training part (five seeds) on those of the test part, by which nothing
is chosen.
"""

from __future__ import annotations

import sys
from dataclasses import replace
from typing import Any

import rounding  # noqa: F401 - before NumPy
import click
import numpy as np
from printing import Column, Columns, Record, print_table
from rows import SEEDS, SEEDS_OF_A_FOLD, Row, chosen, held_out_in_turn

from protonn_edge.data.dataset import Dataset
from protonn_edge.system.errors import ProtoNNEdgeError

SHIFTS = (0.0, 0.5, 1.0, 1.5, 2.0)
FOLDS = 3


def _row(name: str, file: str, d: int, m: int, **settings: Any) -> Row:
    sizes = {"n_projections": d, "n_prototypes": m, "epochs": 120}
    return Row(name, file, sizes | settings, groups="subject_train")


_SIZES: dict[str, dict[str, Any]] = {
    "small": {"d": 5, "m": 20, "input_noise": 0.3, "gamma_numerator": 1.0},
    "medium": {"d": 12, "m": 40, "input_noise": 0.3, "gamma_numerator": 1.0},
    "large": {"d": 40, "m": 95, "input_noise": 0.5, "gamma_numerator": 0.5},
    "defaults": {"d": 20, "m": 60},
}
_ROWS = [
    _row(f"{name}-{size}", file, **settings)
    for name, file in (("har", "har_hapt.npz"), ("watch", "watch_exercise.npz"))
    for size, settings in _SIZES.items()
]


def measure(row: Row, dataset: Dataset, tested: bool) -> Record:
    """Return the mean accuracy on other people, for each shift."""
    parts = [dataset] if tested else list(held_out_in_turn(dataset, FOLDS))
    seeds = SEEDS if tested else SEEDS_OF_A_FOLD
    accuracies = {}
    for shift in SHIFTS:
        moved = replace(row, settings=row.settings | {"group_shift": shift})
        each = [moved.integer_accuracy(part, seed) for seed in seeds for part in parts]
        accuracies[shift] = float(np.mean(each))
    return {"row": row.name, "accuracies": accuracies}


def _column(shift: float) -> Column:
    heading = f"up to {shift:g}" if shift else "no shift"
    return heading, lambda record: f"{100 * record['accuracies'][shift]:.2f}"


@click.command()
@click.option("--only", type=click.Choice([row.name for row in _ROWS]), help="One row.")
@click.option("--test", "tested", is_flag=True, help="On the people of the test part.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object per row.")
def main(only: str | None, tested: bool, as_json: bool) -> None:
    """Print what the shift is worth for each model."""
    columns: Columns = [("data, model", lambda record: record["row"]), *map(_column, SHIFTS)]
    measured = (measure(row, dataset, tested) for row, dataset in chosen(_ROWS, only))
    print_table(measured, columns, as_json)


if __name__ == "__main__":
    try:
        main()
    except ProtoNNEdgeError as error:
        sys.exit(f"error: {error}")
