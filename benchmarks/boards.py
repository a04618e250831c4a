"""The digits on every emulated board: train once, build for each, classify every test point.

    python benchmarks/boards.py [--only NAME] [--json]

prints the table of figures in docs/boards.md, one row per board; with --json, one object per row.
NAME may be the path of a board's file.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import rounding  # noqa: F401 - before NumPy
import click
from printing import Record, print_table
from rows import Row

from protonn_edge.chips.boards import Board, board_names, load_board
from protonn_edge.codegen.projects.folder import Project
from protonn_edge.codegen.projects.project import build
from protonn_edge.data.dataset import Dataset
from protonn_edge.learn.evaluation.measurement import measure
from protonn_edge.model.model import Model
from protonn_edge.system.errors import ProtoNNEdgeError

DIGITS = Row("digits", None, {"n_projections": 10, "n_prototypes": 40, "batch_size": 64})


def _of_a_chip(cell: Callable[[Record], str]) -> Callable[[Record], str]:
    """Return a cell that is empty for this computer, which counts no cycles."""
    return lambda record: cell(record) if "cycles" in record else "-"


COLUMNS = [
    ("board", lambda r: r["board"]),
    ("chip, MHz", _of_a_chip(lambda r: r["chip"])),
    ("plan", _of_a_chip(lambda r: r["kernel"])),
    ("points", lambda r: f"{r['n']:,}"),
    ("mismatches", lambda r: f"{r['mismatches'] + r.get('lost', 0)}"),
    (
        "cycles mean (max)",
        _of_a_chip(lambda r: f"{r['cycles']['mean']:,.0f} ({r['cycles']['max']:,})"),
    ),
    ("bound", _of_a_chip(lambda r: r["bound"])),
    ("ms", _of_a_chip(lambda r: f"{r['latency_ms']['mean']:.2f}")),
    ("flash B", _of_a_chip(lambda r: f"{r['flash_bytes']:,}")),
    ("SRAM + stack B", _of_a_chip(lambda r: f"{r['sram_bytes']} + {r['stack_bytes']}")),
]


def measure_board(board: Board, model: Model, dataset: Dataset) -> dict[str, Any]:
    """Build for a board and let the emulated one classify every test point."""
    with TemporaryDirectory() as folder:
        project = Project(Path(folder))
        built = build(model, board, project.folder)
        measured = measure(project, (dataset.X_test, dataset.y_test), board)
    return {
        **measured.to_json(),
        "chip": f"{board.mcu}, {board.clock_hz / 1e6:g}",
        "kernel": built.plan.kernel,
        "bound": f"{built.possible.most:,}" if built.possible.proven else "-",
    }


@click.command()
@click.option("--only", metavar="NAME", help="One board.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object per row.")
def main(only: str | None, as_json: bool) -> None:
    """Print what each board makes of the digits."""
    dataset = DIGITS.dataset()
    assert dataset is not None
    model, _ = DIGITS.train(dataset, 0)
    boards = map(load_board, [only] if only else board_names())
    records = (measure_board(board, model, dataset) for board in boards)
    print_table(records, COLUMNS, as_json)


if __name__ == "__main__":
    try:
        main()
    except ProtoNNEdgeError as error:
        sys.exit(f"error: {error}")
