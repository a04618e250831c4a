"""What points that are moved between people are worth on people who were not recorded.

    python benchmarks/groups.py [--only NAME] [--json]

prints one row a data set and model: the accuracy of the integers on people of the training part who
are held out in turn (three folds, split in two ways), for points that stay where they are and for
ones that are moved up to so far from their person towards another. Test parts are never looked at.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any

import click
import numpy as np
from printing import Record, print_table
from rows import Row, chosen

from protonn_edge.datasets import Dataset
from protonn_edge.errors import ProtoNNEdgeError
from protonn_edge.quantization import quantize
from protonn_edge.report.accuracy import share_right
from protonn_edge.training import ProtoNNClassifier
from protonn_edge.training.folds import fold_numbers

SHIFTS = (0.0, 0.5, 1.0, 1.5, 2.0)
SPLITS = (0, 1)
FOLDS = 3


def _row(name: str, file: str, d: int, m: int, **settings: Any) -> Row:
    sizes = {"n_projections": d, "n_prototypes": m, "epochs": 120}
    return Row(name, file, sizes | settings, groups="subject_train")


_ROWS = [
    _row(f"{name}-{size}", file, **settings)
    for name, file in (("har", "har_hapt.npz"), ("watch", "watch_exercise.npz"))
    for size, settings in {
        "small": {"d": 5, "m": 20, "input_noise": 0.3, "gamma_numerator": 1.0},
        "medium": {"d": 12, "m": 40, "input_noise": 0.3, "gamma_numerator": 1.0},
        "large": {"d": 40, "m": 95, "input_noise": 0.5, "gamma_numerator": 0.5},
        "defaults": {"d": 20, "m": 60},
    }.items()
]


def measure(row: Row, dataset: Dataset) -> Record:
    """Return the mean accuracy on people held out, for each shift."""
    accuracies = {
        shift: float(np.mean(list(_on_other_people(row, dataset, shift)))) for shift in SHIFTS
    }
    return {"row": row.name, "accuracies": accuracies}


def _on_other_people(row: Row, dataset: Dataset, shift: float) -> Iterator[float]:
    X, y, people = dataset.X_train, dataset.y_train, dataset.groups
    assert people is not None
    for split in SPLITS:
        fold_of = fold_numbers(y, FOLDS, split, people)
        for fold in range(FOLDS):
            tested = fold_of == fold
            classifier = ProtoNNClassifier(random_state=split, group_shift=shift, **row.settings)
            classifier.fit(X[~tested], y[~tested], groups=people[~tested])
            integers = quantize(classifier.to_model())
            found = integers.predict(integers.quantize(X[tested]))
            yield share_right(found, y[tested])


def _cell(record: Record, shift: float) -> str:
    return f"{100 * record['accuracies'][shift]:.2f}"


@click.command()
@click.option("--only", type=click.Choice([row.name for row in _ROWS]), help="One row.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object a row.")
def main(only: str | None, as_json: bool) -> None:
    """Print what the shift is worth for each model."""
    columns = [("data, model", lambda record: record["row"])]
    columns += [(f"up to {shift:g}", lambda record, s=shift: _cell(record, s)) for shift in SHIFTS]
    print_table((measure(row, dataset) for row, dataset in chosen(_ROWS, only)), columns, as_json)


if __name__ == "__main__":
    try:
        main()
    except ProtoNNEdgeError as error:
        sys.exit(f"error: {error}")
