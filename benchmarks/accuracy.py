"""Compare accuracy at a given size with the ProtoNN paper's: the presets, five seeds each.

    python benchmarks/accuracy.py [--only NAME] [--seeds N] [--json]

prints one row for each of `presets.PRESETS`: the size by the paper's accounting, the int8 bytes of
the parameters and their limit, the accuracy in floats (mean over the seeds) and in integers (mean
and standard deviation), what the paper or a support vector machine reaches, and the seconds to
train one model on one core; as many are trained at once as there are cores. Each model is built for
the Uno, and has to fit. The test points are read at the end alone.
Two further rows, see `ranking`, are of sets of labels.
The data is read from the folder that PROTONN_EDGE_DATA names (default ../shared/data).
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import rounding  # noqa: F401 - before NumPy
import click
import numpy as np
import ranking
from joblib import Parallel, delayed
from presets import PRESETS, Preset
from printing import accuracy_cell
from rows import chosen, integer_accuracy, over_seeds, seeds_option
from svm import rbf_svm_accuracy

from protonn_edge.chips.boards import load_board
from protonn_edge.codegen.projects.project import build
from protonn_edge.data.dataset import Dataset
from protonn_edge.learn.evaluation.accuracy import share_right
from protonn_edge.model.head import matrices_of, paper_bytes
from protonn_edge.model.quantization import quantize
from protonn_edge.system.errors import ProtoNNEdgeError

_HEADING = (
    "| preset | paper's accounting kB | int8 B (limit) | float % | integers % | others | s |\n"
    "|---|---|---|---|---|---|---|"
)


def measure_preset(preset: Preset, dataset: Dataset, seeds: Sequence[int]) -> dict[str, Any]:
    """Train a preset with each seed and return the means.

    Raises
    ------
    CheckFailed
        If a model does not fit the Uno.
    """
    runs = Parallel(n_jobs=-1)(delayed(_one_run)(preset, dataset, seed) for seed in seeds)
    means = {key: float(np.mean([run[key] for run in runs])) for key in runs[0]}
    return {
        "name": preset.name,
        "limit_bytes": preset.limit_bytes,
        "paper": preset.paper,
        "svm_accuracy": rbf_svm_accuracy(dataset) if preset.beside_svm else None,
        **means,
        **over_seeds([run["accuracy"] for run in runs]),
        "paper_bytes": int(max(run["paper_bytes"] for run in runs)),
        "model_bytes": int(max(run["model_bytes"] for run in runs)),
    }


def _one_run(preset: Preset, dataset: Dataset, seed: int) -> dict[str, float]:
    model, seconds = preset.train(dataset, seed)
    with TemporaryDirectory() as folder:
        build(model, load_board("uno"), Path(folder))
    return {
        "float_accuracy": share_right(model.predict(dataset.X_test), dataset.y_test),
        "accuracy": integer_accuracy(model, dataset),
        "paper_bytes": paper_bytes(matrices_of(model.head).values()),
        "model_bytes": quantize(model).model_bytes,
        "seconds": seconds,
    }


_RANKED = [preset.name for preset in ranking.PRESETS]
_NAMES = [*(preset.name for preset in PRESETS), *_RANKED]


@click.command()
@click.option("--only", type=click.Choice(_NAMES), help="One row.")
@seeds_option
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object per row.")
def main(only: str | None, seeds: Sequence[int], as_json: bool) -> None:
    """Print the accuracy of each preset at its size, and the precision of those that rank."""
    if only not in _RANKED:
        _print_accuracies(only, seeds, as_json)
    if only is None or only in _RANKED:
        _print_precisions(only, seeds, as_json)


def _print_precisions(only: str | None, seeds: Sequence[int], as_json: bool) -> None:
    if not as_json:
        click.echo(ranking.HEADING)
    for preset, dataset in chosen(ranking.PRESETS, only):
        record = ranking.measure_ranking(preset, dataset, seeds)
        click.echo(json.dumps(record) if as_json else ranking.table_row(record))


def _print_accuracies(only: str | None, seeds: Sequence[int], as_json: bool) -> None:
    if not as_json:
        click.echo(_HEADING)
    for preset, dataset in chosen(PRESETS, only):
        record = measure_preset(preset, dataset, seeds)
        click.echo(json.dumps(record) if as_json else _table_row(record))


def _table_row(record: dict[str, Any]) -> str:
    svm = record["svm_accuracy"]
    others = f"ProtoNN paper: {record['paper']}" if svm is None else f"RBF-SVM: {100 * svm:.2f}"
    cells = [
        record["name"],
        f"{record['paper_bytes'] / 1000:.1f}",
        f"{record['model_bytes']:,} ({record['limit_bytes']:,})",
        f"{100 * record['float_accuracy']:.2f}",
        accuracy_cell(record),
        others,
        f"{record['seconds']:.0f}",
    ]
    return "| " + " | ".join(cells) + " |"


if __name__ == "__main__":
    try:
        main()
    except ProtoNNEdgeError as error:
        sys.exit(f"error: {error}")
