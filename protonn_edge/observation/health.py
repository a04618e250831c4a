"""``protonn-edge health``: Check that a board's answers look as expected."""

from __future__ import annotations

from contextlib import closing
from dataclasses import asdict
from pathlib import Path

from protonn_edge.boards import load_board
from protonn_edge.chain.file import load_model
from protonn_edge.cli.command import OUTPUT, Output, command
from protonn_edge.cli.devices import port_to_hear
from protonn_edge.cli.options import BOARD, MODEL_FILE, PORT
from protonn_edge.datasets.naming import NO_CLASS_NAME
from protonn_edge.device.connection import Link
from protonn_edge.evaluation.terminal import fact_table
from protonn_edge.observation.answers import BINS, observed
from protonn_edge.observation.session import read_health
from protonn_edge.quantization import quantize


@command("health", examples=("model.npz", "model.npz --port /dev/ttyACM0 --json"))
def health_command(
    model_file: Path = MODEL_FILE,
    port: str | None = PORT,
    board_name: str = BOARD,
    out: Output = OUTPUT,
) -> None:
    """Show whether a board's answers resemble MODEL's answers for points not used in training.

    The board runs firmware that 'build --observe' made from MODEL, with or without a sensor. The
    board counts its answers from power-on; resets without a loss of power, such as opening the
    port, preserve the counters.
    """
    board, stored = load_board(board_name), load_model(model_file)
    model = observed(quantize(stored), stored)
    assert model.expected is not None
    port = port_to_hear(out, port, board)
    with closing(Link(port, board.baud)) as line, out.status(f"waiting for a board at {port}"):
        health = read_health(line, port, model.expected)
    shares = health.shares((*health.classes, health.unknown))
    rows = [
        (name, f"{count:,}" if health.is_full else f"{count:,} ({100 * share:.3g} %)")
        for name, count, share in zip(
            (*model.classes, NO_CLASS_NAME), (*health.classes, health.unknown), shares, strict=True
        )
    ]
    margins = ", ".join(f"{100 * share:.3g}" for share in health.shares(health.margins))
    expected = f"% of the answers, by margin, smallest first (expected: {100 / BINS:g} % each)"
    if not health.is_full:
        rows.append(("margins", f"{margins} {expected}"))
    if health.cycles:
        most = board.milliseconds(health.cycles)
        rows.append(("longest prediction", f"{health.cycles:,} cycles, {most:.3g} ms"))
    rows.append(("detected drifts", f"{health.alarms} since power-on"))
    out.say(fact_table(rows), str(health))
    out.finish(
        {"port": port, "verdict": health.verdict, "answers": health.answers} | asdict(health)
    )
