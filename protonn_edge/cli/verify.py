"""``protonn-edge verify``: the same integers in every execution."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import asdict
from pathlib import Path

import click
import numpy as np
from numpy.typing import NDArray
from rich import box
from rich.table import Table
from rich.text import Text

from protonn_edge import shell
from protonn_edge.boards import Board, load_board
from protonn_edge.cli.command import Command, Output, board_option, json_option, precision_option
from protonn_edge.cli.hil import say_agreement
from protonn_edge.cli.library import library_check
from protonn_edge.datasets import load_points
from protonn_edge.emulator import EmulatedBoard
from protonn_edge.model import load_model
from protonn_edge.project import Wishes, trial_build
from protonn_edge.quantization import DeviceModel, device_model
from protonn_edge.report.terminal import saturation_fact
from protonn_edge.verification import (
    Agreement,
    disagreement,
    open_session,
    verify_device,
    verify_host,
)


@click.command("verify", cls=Command)
@click.argument("model_file", metavar="MODEL", type=click.Path(path_type=Path))
@click.argument("data", type=click.Path(path_type=Path))
@board_option
@click.option("--port", help="A board that holds this model's firmware, for example /dev/ttyACM0.")
@precision_option
@json_option
def verify_command(
    model_file: Path, data: Path, board_name: str, port: str | None, precision: str, as_json: bool
) -> None:
    """Compare the scores of NumPy, host C, the emulated board and, with --port, a real one.

    With --board host there is no emulated one.

    The points are the test part of DATA, or all of it if it has none. One difference is a failure
    (with --precision float32, one that rounding does not explain). The points also go the way that
    a sketch sends them, through the exported library's pnn_quantize; if accuracy is more than half
    a point lower there, that is a failure, too.
    """
    out = Output(as_json)
    model, board = load_model(model_file), load_board(board_name)
    reference = device_model(model, precision)
    X, y = load_points(data, classes=model.classes, n_features=model.n_features)
    Q = reference.quantize(X)

    if port is not None:
        with open_session(port, reference, _baud(board)):
            pass  # a board that is not there or has another model shows before minutes are spent
    with out.status("host C"):
        agreements = [verify_host(reference, Q)]
    plan = None
    with ExitStack() as stack:
        if board.is_chip and not shell.WINDOWS:  # which has no emulator
            with out.status(f"building for {board.name}"):
                trial = stack.enter_context(
                    trial_build(model, board, wishes=Wishes(precision=precision))
                )
            plan = trial.plan
            emulated = stack.enter_context(EmulatedBoard(trial.elf, board=board))
            name = f"emulated {board.name}"
            agreements.append(_verify_device(out, name, emulated.url, board, reference, Q))
    if port is not None:
        agreements.append(_verify_device(out, port, port, board, reference, Q))

    out.say("scores against the NumPy model:", _table(agreements))
    say_agreement(agreements, out, reference.score_tolerance)
    library = library_check(out, model, reference, plan, board, (X, y))
    saturations = reference.features.saturations(X)
    if saturations:
        out.say(": ".join(saturation_fact(saturations, X.size)))
    out.finish(
        {
            "n": len(Q),
            "mismatches": sum(agreement.mismatches for agreement in agreements),
            "lost": sum(agreement.lost for agreement in agreements),
            "saturations": saturations,
            "executions": [asdict(agreement) for agreement in agreements],
            "model_sha256": reference.model_sha256,
            "accuracy": library.accuracy,
            **library.to_json(),
        },
        failure=disagreement(agreements) or library.failure,
    )


def _verify_device(
    out: Output,
    name: str,
    url: str,
    board: Board,
    reference: DeviceModel,
    Q: NDArray[np.uint8],
) -> Agreement:
    with out.progress(name, len(Q)) as bar:
        agreement, _ = verify_device(
            name, url, reference, Q, sink=lambda _: bar.advance(), baud=_baud(board)
        )
    return agreement


def _baud(board: Board) -> int | None:
    return board.baud or None


def _table(agreements: list[Agreement]) -> Table:
    table = Table(box=box.SIMPLE)
    table.add_column("execution")
    for heading in ("points", "mismatches", "unanswered"):
        table.add_column(heading, justify="right")
    table.add_column("first mismatch")
    for agreement in agreements:
        table.add_row(
            Text(agreement.execution),
            f"{agreement.n:,}",
            f"{agreement.mismatches:,}",
            f"{agreement.lost:,}",
            str(agreement.first or "-"),
        )
    return table
