"""``protonn-edge mcp``: Offer the commands to an agent, in one folder and with limits."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from protonn_edge.cli.command import argument, command, is_terminal, option
from protonn_edge.cli.options import FOLDER, FiniteRange
from protonn_edge.extensions.agents.confinement import Confinement
from protonn_edge.extensions.agents.server import Allowed, Server
from protonn_edge.system.errors import InputError


@command("mcp", examples=("", "gestures --uploads 2"))
def mcp_command(
    folder: Path = argument(FOLDER, default=Path()),
    uploads: int = option(
        "How many times the agent may write firmware to a board.",
        click.IntRange(0, 1000),
        shown=0,
    ),
    port: str | None = option(
        "The port of a board that the agent may measure, and upload to.  [default: none is "
        "measured; uploads detect it by its USB identity]"
    ),
    limit_s: float = option(
        "The most seconds that a command may take.",
        FiniteRange(1, 86_400),
        flag="--timeout",
        shown=600.0,
    ),
) -> None:
    """Serve tools for FOLDER by the Model Context Protocol, on standard input and output.

    Agents start this command themselves; docs/agents.md shows how to register it. They can examine
    data, train, build, verify, measure on the emulated board, and export, one command at a time,
    with files in FOLDER alone. They can upload firmware only with --uploads.
    """
    if not folder.is_dir():
        raise InputError(f"{folder} is not a folder; name the folder with your data")
    if is_terminal(sys.stdin):
        click.echo("waiting for the messages of an agent; press Ctrl-C to end", err=True)
    allowed = Allowed(limit_s, uploads, port)
    Server(Confinement(folder), allowed, sys.stdin.buffer, sys.stdout.buffer).serve()
