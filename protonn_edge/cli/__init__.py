"""The command line: one thin module per command, which is loaded when it is used."""

from __future__ import annotations

from importlib import import_module

import click

from protonn_edge import __version__

COMMANDS = (
    "demo",
    "data",
    "logger",
    "record",
    "windows",
    "train",
    "tune",
    "convert",
    "calibrate",
    "inspect",
    "build",
    "upload",
    "monitor",
    "export",
    "verify",
    "hil",
    "report",
    "emulate",
    "boards",
)
"""Their names, which are those of their modules, too, in the order of work."""


class _Commands(click.Group):
    """A group that imports a command's module where the command is asked for."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002  (click's signature)
        """Return the names of all commands."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        """Return the command of this name, None if there is none."""
        if cmd_name not in COMMANDS:
            return None
        module = import_module(f"{__name__}.{cmd_name}")
        command: click.Command = getattr(module, f"{cmd_name}_command")
        return command


@click.group(
    cls=_Commands,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.version_option(__version__, prog_name="protonn-edge")
def main() -> None:
    """Train ProtoNN classifiers and run them, measured, on 8-bit microcontrollers.

    Every command takes --json: one object on standard output, text for people on standard error.
    Exit codes: 0 done, 1 a check failed, 2 bad input or usage, 70 a bug of this program (set
    PROTONN_EDGE_TRACEBACK=1 to see where).
    """
