"""Accuracy at a given size, beside the ProtoNN paper's: named presets, three seeds each.

    python benchmarks/accuracy.py [--only NAME] [--json]

prints one row a preset: the size by the paper's accounting, the int8 bytes of the parameters, the
accuracy in floats and in integers (mean over seeds 0, 1, 2) and the seconds to train one model.
Settings such as augmentation were chosen on validation points of the training data, sizes by what
they take; the test points are read at the end alone.
Two further rows, see `ranking`, are of sets of labels.
The data is read from the folder that PROTONN_EDGE_DATA names (default ../shared/data).
"""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass
from typing import Any

import click
import numpy as np
import ranking
from rows import Row, chosen

from protonn_edge.boards import load_board
from protonn_edge.budget import check_estimate
from protonn_edge.codegen import make_plan
from protonn_edge.datasets import Dataset
from protonn_edge.errors import ProtoNNEdgeError
from protonn_edge.quantization import quantize
from protonn_edge.report.accuracy import share_right
from protonn_edge.sizes import paper_bytes

SEEDS = (0, 1, 2)


@dataclass(frozen=True)
class Preset(Row):
    """A row, and what the paper reaches there: its size, its accuracy in %."""

    paper: str = "-"


PRESETS = [
    Preset(
        "usps10",
        "usps10_libsvm.npz",
        {"n_projections": 20, "n_prototypes": 300, "image_shape": (16, 16), "augment": True},
        "63.8 kB, 94.92",
    ),
    Preset(
        "usps10-small",
        "usps10_libsvm.npz",
        {"n_projections": 10, "n_prototypes": 40},
        "63.8 kB, 94.92",
    ),
    Preset(
        "usps10-paper",
        "usps10_libsvm.npz",
        {
            "n_projections": 10,
            "n_prototypes": 40,
            "optimizer": "alternating",
            "loss": "squared_error",
        },
        "63.8 kB, 94.92",
    ),
    Preset(
        "letter26",
        "letter26.npz",
        {"n_projections": 15, "n_prototypes": 520},
        "63.4 kB, 97.10",
    ),
    Preset("har", "har_hapt.npz", {"n_projections": 10, "n_prototypes": 40}),
    Preset("fsdd", "fsdd_mfcc.npz", {"n_projections": 10, "n_prototypes": 40}),
    Preset("ecg5000", "ecg5000.npz", {"n_projections": 8, "n_prototypes": 20}),
]


def measure_preset(preset: Preset, dataset: Dataset) -> dict[str, Any]:
    """Train a preset with each seed and return the means; each model must pass the estimate."""
    runs = [_one_run(preset, dataset, seed) for seed in SEEDS]
    means = {key: float(np.mean([run[key] for run in runs])) for key in runs[0]}
    return {
        "name": preset.name,
        "paper": preset.paper,
        "seeds": list(SEEDS),
        "integer_accuracies": [run["accuracy"] for run in runs],
        **means,
        "paper_bytes": int(max(run["paper_bytes"] for run in runs)),
        "model_bytes": int(max(run["model_bytes"] for run in runs)),
    }


def _one_run(preset: Preset, dataset: Dataset, seed: int) -> dict[str, float]:
    model, seconds = preset.train(dataset, seed)
    integer_model = quantize(model)
    check_estimate(make_plan(integer_model), load_board("uno"))
    X, y = dataset.X_test, dataset.y_test
    return {
        "float_accuracy": share_right(model.predict(X), y),
        "accuracy": share_right(integer_model.predict(integer_model.quantize(X)), y),
        "paper_bytes": paper_bytes(model),
        "model_bytes": integer_model.model_bytes,
        "seconds": seconds,
    }


_RANKED = [preset.name for preset in ranking.PRESETS]
_NAMES = [*(preset.name for preset in PRESETS), *_RANKED]


@click.command()
@click.option("--only", type=click.Choice(_NAMES), help="One row.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object a row.")
def main(only: str | None, as_json: bool) -> None:
    """Print the accuracy of each preset at its size, and the precision of those that rank."""
    if only not in _RANKED:
        _print_accuracies(only, as_json)
    if only is None or only in _RANKED:
        _print_precisions(only, as_json)


def _print_precisions(only: str | None, as_json: bool) -> None:
    if not as_json:
        click.echo(ranking.HEADING)
    for preset, dataset in chosen(ranking.PRESETS, only):
        record = ranking.measure_ranking(preset, dataset)
        click.echo(json.dumps(record) if as_json else ranking.table_row(record))


def _print_accuracies(only: str | None, as_json: bool) -> None:
    if not as_json:
        click.echo("| preset | paper's accounting kB | int8 B | float % | integers % | paper | s |")
        click.echo("|---|---|---|---|---|---|---|")
    for preset, dataset in chosen(PRESETS, only):
        record = measure_preset(preset, dataset)
        click.echo(json.dumps(record) if as_json else _table_row(record))


def _table_row(record: dict[str, Any]) -> str:
    cells = [
        record["name"],
        f"{record['paper_bytes'] / 1000:.1f}",
        f"{record['model_bytes']:,}",
        f"{100 * record['float_accuracy']:.2f}",
        f"{100 * record['accuracy']:.2f}",
        record["paper"],
        f"{record['seconds']:.0f}",
    ]
    return "| " + " | ".join(cells) + " |"


if __name__ == "__main__":
    try:
        main()
    except ProtoNNEdgeError as error:
        sys.exit(f"error: {error}")
