"""The option of `monitor` that shows whether a board's answers look as expected."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import closing
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import ClassVar

from protonn_edge.chips.boards import Board
from protonn_edge.cli.command import Output, option
from protonn_edge.cli.options import PATH
from protonn_edge.data.naming import NO_CLASS_NAME
from protonn_edge.device.connection import Link
from protonn_edge.extensions.observation.answers import BINS, observed
from protonn_edge.extensions.observation.session import read_health
from protonn_edge.extensions.sensing.commands.monitor_additions import MonitorAddition
from protonn_edge.extensions.sensing.commands.source import port_to_hear
from protonn_edge.learn.evaluation.terminal import fact_table
from protonn_edge.model.file import load_model
from protonn_edge.model.model import Model
from protonn_edge.model.quantization import quantize

_HEALTH = option(
    "Instead of classes, show whether the board's answers since power-on resemble the answers "
    "of MODEL for points not used in training. The board runs firmware that 'build --observe' "
    "made from MODEL, with or without a sensor.",
    PATH,
    metavar="MODEL",
)


@dataclass(frozen=True)
class HealthOptions(MonitorAddition):
    """The option of `monitor`, in place of the classes."""

    APART: ClassVar[Mapping[str, str]] = {"--health": "--emulate --seconds"}

    health: Path | None = _HEALTH

    def shown(self, out: Output, board: Board, port: str | None) -> bool:
        """Show them if they are asked for; return whether they are."""
        if self.health is None:
            return False
        _show(out, load_model(self.health), board, port)
        return True


def _show(out: Output, stored: Model, board: Board, port: str | None) -> None:
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
