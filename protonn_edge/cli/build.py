"""``protonn-edge build``: from a model to a project whose firmware fits the board."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from protonn_edge.boards import load_board
from protonn_edge.cli.command import Command, FiniteRange, Output, board_option, json_option
from protonn_edge.datasets import load_points
from protonn_edge.errors import CheckFailed
from protonn_edge.model import ProtoNNModel, load_model
from protonn_edge.project import build
from protonn_edge.quantization import quantize
from protonn_edge.report.accuracy import accuracy
from protonn_edge.report.terminal import budget_facts, fact_table
from protonn_edge.toolchain.platformio import upload_command


@click.command("build", cls=Command)
@click.argument("model_file", metavar="MODEL", type=click.Path(path_type=Path))
@board_option
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path, file_okay=False),
    default=Path(),
    help="The project's folder; what is missing there is written.  [default: the current folder]",
)
@click.option(
    "--data", type=click.Path(path_type=Path), help="Points to compare float and integers on."
)
@click.option(
    "--max-drop",
    type=FiniteRange(0),
    help="Fail if the integers lose more than this many percentage points; needs --data.",
)
@json_option
def build_command(
    model_file: Path,
    board_name: str,
    output: Path,
    data: Path | None,
    max_drop: float | None,
    as_json: bool,
) -> None:
    """Build the firmware of MODEL and check that it fits the board.

    'pio run -t upload' in the same folder then puts it on the board.
    """
    if max_drop is not None and data is None:
        raise click.UsageError("--max-drop compares accuracies on --data, which is not given")
    out = Output(as_json)
    model, board = load_model(model_file), load_board(board_name)
    lost = _accuracy_lost(model, data, max_drop) if data is not None else {}
    with out.status(f"building for {board.name}"):
        integer_model, usage = build(model, board, output)
    facts = [*_accuracy_facts(lost), *budget_facts(usage, board)]
    out.say(f"firmware for {board.name}:", fact_table(facts))
    out.say("next, with the board on USB:", f"  {upload_command(output)}")
    out.finish(
        {
            **lost,
            **usage.to_json(),
            "board": board.name,
            "model_bytes": integer_model.model_bytes,
            "model_sha256": integer_model.model_sha256,
        }
    )


def _accuracy_lost(model: ProtoNNModel, data: Path, max_drop: float | None) -> dict[str, Any]:
    """Return both accuracies on the points in `data`; raise `CheckFailed` beyond `max_drop`."""
    X, y = load_points(data, classes=model.classes, n_features=model.n_features)
    integer_model = quantize(model)
    in_float = accuracy(model.predict(X), y) or 0.0
    in_integers = accuracy(integer_model.predict(integer_model.quantize(X)), y) or 0.0
    drop = 100 * (in_float - in_integers)
    if max_drop is not None and drop > max_drop:
        raise CheckFailed(
            f"integers lose {drop:.2f} points of accuracy ({100 * in_float:.2f} % to "
            f"{100 * in_integers:.2f} %), --max-drop allows {max_drop:g}; train with more "
            "--prototypes or a larger --projection-dim"
        )
    return {"n": len(y), "float_accuracy": in_float, "accuracy": in_integers}


def _accuracy_facts(lost: dict[str, Any]) -> list[tuple[str, str]]:
    if not lost:
        return []
    return [
        ("accuracy, float", f"{100 * lost['float_accuracy']:.2f} % of {lost['n']:,} points"),
        ("accuracy, integers", f"{100 * lost['accuracy']:.2f} %"),
    ]
