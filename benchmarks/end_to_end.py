"""The whole workflow for a few models: train, build, classify every test point on the emulated Uno.

    python benchmarks/end_to_end.py [--only NAME] [--seeds N] [--json]

prints the first table of docs/results.md, one row per model, with the mean and standard deviation
of the accuracy over five seeds (`--seeds`); all other figures are for seed 0. The digits come with
scikit-learn. The other sets are read from the folder that PROTONN_EDGE_DATA names (default
../shared/data), and their rows are left out where it does not have them.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import rounding  # noqa: F401 - before NumPy
import click
from printing import accuracy_cell, print_table
from rows import Row, chosen, integer_accuracy, over_seeds, seeds_option

from protonn_edge.chips.boards import load_board
from protonn_edge.codegen.projects.folder import Project
from protonn_edge.codegen.projects.project import build
from protonn_edge.codegen.verification.agreement import verify_host
from protonn_edge.data.dataset import Dataset
from protonn_edge.learn.evaluation.accuracy import share_right
from protonn_edge.learn.evaluation.measurement import measure
from protonn_edge.model.quantization import quantize
from protonn_edge.system.errors import ProtoNNEdgeError

ROWS = [
    Row("digits", None, {"n_projections": 10, "n_prototypes": 40, "batch_size": 64}),
    Row(
        "usps10",
        "usps10_libsvm.npz",
        {"n_projections": 10, "n_prototypes": 40},
    ),
    Row("letter26", "letter26.npz", {"n_projections": 12, "n_prototypes": 260}),
    Row("har", "har_hapt.npz", {"n_projections": 10, "n_prototypes": 30}),
    Row("fsdd", "fsdd_mfcc.npz", {"n_projections": 10, "n_prototypes": 40}),
]
COLUMNS = [
    ("model", lambda r: r["name"]),
    ("D, d, m, L", lambda r: ", ".join(str(size) for size in r["sizes"])),
    ("float %", lambda r: f"{100 * r['float_accuracy']:.2f}"),
    ("Uno %", accuracy_cell),
    ("points", lambda r: f"{r['n']:,}"),
    ("mismatches", lambda r: f"{r['mismatches'] + r['lost']}"),
    ("cycles mean (max)", lambda r: f"{r['cycles']['mean']:,.0f} ({r['cycles']['max']:,})"),
    ("ms", lambda r: f"{r['latency_ms']['mean']:.2f}"),
    ("mJ", lambda r: f"{r['energy_mj']['mean']:.3f}"),
    ("flash B", lambda r: f"{r['flash_bytes']:,}"),
    ("SRAM + stack B", lambda r: f"{r['sram_bytes']} + {r['stack_bytes']}"),
    ("parameters B", lambda r: f"{r['model_bytes']:,}"),
    ("training s", lambda r: f"{r['seconds']:.0f}"),
]


def measure_row(row: Row, dataset: Dataset, seeds: Sequence[int]) -> dict[str, Any]:
    """Train with each seed, measure the first; mismatches count both the host's C and the Uno."""
    board = load_board("uno")
    trained = [row.train(dataset, seed) for seed in seeds]
    model, seconds = trained[0]
    with TemporaryDirectory() as folder:
        build(model, board, Path(folder))
        integer_model = quantize(model)
        on_host = verify_host(integer_model, integer_model.quantize(dataset.X_test))
        points = (dataset.X_test, dataset.y_test)
        measured = measure(Project(Path(folder)), points, board)
    record = measured.to_json()
    return {
        "name": row.name,
        "sizes": [model.n_features, *(size.number for size in model.sizes), model.n_classes],
        "float_accuracy": share_right(model.predict(dataset.X_test), dataset.y_test),
        **record,
        **over_seeds([integer_accuracy(each, dataset) for each, _ in trained]),
        "mismatches": record["mismatches"] + on_host.mismatches,
        "seconds": seconds,
    }


@click.command()
@click.option("--only", type=click.Choice([row.name for row in ROWS]), help="One row.")
@seeds_option
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object per row.")
def main(only: str | None, seeds: Sequence[int], as_json: bool) -> None:
    """Print what the whole way gives for each model."""
    records = (measure_row(row, dataset, seeds) for row, dataset in chosen(ROWS, only))
    print_table(records, COLUMNS, as_json)


if __name__ == "__main__":
    try:
        main()
    except ProtoNNEdgeError as error:
        sys.exit(f"error: {error}")
