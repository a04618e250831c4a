"""What commands share that use a board at a serial port."""

from __future__ import annotations

import click

from protonn_edge.boards import Board
from protonn_edge.cli.command import Output
from protonn_edge.toolchain.ports import find_port

port_option = click.option(
    "--port",
    help="The board's serial port, such as /dev/ttyACM0 or COM3.  [default: detected by its USB "
    "identity]",
)


def check_source(ports: bool, emulate: bool) -> None:
    """Raise `click.UsageError` if both a port and the emulated board are given."""
    if ports and emulate:
        raise click.UsageError("--port and --emulate exclude each other; give one of them")


def port_to_hear(out: Output, port: str | None, board: Board) -> str:
    """Return the port that is given, else the one that a board is most likely at, and say so."""
    if port is not None:
        return port
    found = find_port(board)
    out.say(f"listening to {found.device}: {found.why}")
    return found.device
