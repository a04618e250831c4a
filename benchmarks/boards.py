"""The digits on every board: train once, build for each, classify every test point, emulated.

    python benchmarks/boards.py [--only NAME] [--json]

prints the table of figures in docs/boards.md, one row a board; with --json one object a row. NAME
may be the path of a board's file.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import click
from rows import Row

from protonn_edge.boards import Board, board_names, load_board
from protonn_edge.datasets import Dataset
from protonn_edge.errors import ProtoNNEdgeError
from protonn_edge.measurement import measure
from protonn_edge.model import ProtoNNModel
from protonn_edge.project import Project, build, build_for_host
from protonn_edge.quantization import quantize
from protonn_edge.verification import verify_host

DIGITS = Row("digits", None, {"n_projections": 10, "n_prototypes": 40, "batch_size": 64})
COLUMNS = [
    ("board", lambda r: r["board"]),
    ("chip, MHz", lambda r: r["chip"]),
    ("plan", lambda r: r["kernel"]),
    ("points", lambda r: f"{r['n']:,}"),
    ("mismatches", lambda r: f"{r['mismatches'] + r['lost']}"),
    ("cycles mean (max)", lambda r: f"{r['cycles']['mean']:,.0f} ({r['cycles']['max']:,})"),
    ("bound", lambda r: r["bound"]),
    ("ms", lambda r: f"{r['latency_ms']['mean']:.2f}"),
    ("flash B", lambda r: f"{r['flash_bytes']:,}"),
    ("SRAM + stack B", lambda r: f"{r['sram_bytes']} + {r['stack_bytes']}"),
]


def measure_board(board: Board, model: ProtoNNModel, dataset: Dataset) -> dict[str, Any]:
    """Build for a board and let the emulated one classify every test point."""
    with TemporaryDirectory() as folder:
        project = Project(Path(folder))
        plan = build(model, board, project.folder).plan
        measured = measure(project, (dataset.X_test, dataset.y_test), board)
    planned = plan.to_json()
    about = "about " if planned["estimated"] else ""
    return {
        **measured.to_json(),
        "chip": f"{board.mcu}, {board.clock_hz / 1e6:g}",
        "kernel": planned["kernel"],
        "bound": f"{about}{planned['cycles']['worst']:,}",
    }


def measure_host(board: Board, model: ProtoNNModel, dataset: Dataset) -> dict[str, Any]:
    """Build for this computer, and compare the same C with NumPy."""
    with TemporaryDirectory() as folder:
        build_for_host(model, board, Path(folder))
    reference = quantize(model)
    agreement = verify_host(reference, reference.quantize(dataset.X_test))
    return {"board": board.name, "n": agreement.n, "mismatches": agreement.mismatches}


@click.command()
@click.option("--only", metavar="NAME", help="One board.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object a row.")
def main(only: str | None, as_json: bool) -> None:
    """Print what each board makes of the digits."""
    dataset = DIGITS.dataset()
    assert dataset is not None
    model, _ = DIGITS.train(dataset, 0)
    if not as_json:
        click.echo("| " + " | ".join(heading for heading, _ in COLUMNS) + " |")
        click.echo("|" + "---|" * len(COLUMNS))
    for board in map(load_board, [only] if only else board_names()):
        record = (measure_board if board.is_chip else measure_host)(board, model, dataset)
        click.echo(json.dumps(record) if as_json else _table_row(record))


def _table_row(record: dict[str, Any]) -> str:
    if "cycles" not in record:
        empty = " | -" * (len(COLUMNS) - 5)
        return f"| {record['board']} | - | - | {record['n']} | {record['mismatches']}{empty} |"
    return "| " + " | ".join(cell(record) for _, cell in COLUMNS) + " |"


if __name__ == "__main__":
    try:
        main()
    except ProtoNNEdgeError as error:
        sys.exit(f"error: {error}")
