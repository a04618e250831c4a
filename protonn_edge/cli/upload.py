"""``protonn-edge upload``: put a project's firmware on a board."""

from __future__ import annotations

import configparser
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import click

from protonn_edge.boards import Board, board_names, load_board
from protonn_edge.cli.command import Command, Output, json_option
from protonn_edge.errors import InputError
from protonn_edge.system.shell import command_line
from protonn_edge.toolchain.platformio import run_pio
from protonn_edge.toolchain.ports import find_port

_F = TypeVar("_F", bound=Callable[..., Any])

_DEADLINE_S = 600.0  # the first upload on a new machine downloads a compiler
_OVER_TCP = "socket://"  # as pyserial has it; avrdude says net:

port_option = click.option(
    "--port",
    help="The board's serial port, such as /dev/ttyACM0 or COM3.  [default: found by its USB "
    "identity]",
)
upload_option = click.option(
    "--upload", "uploads", is_flag=True, help="Put it on the board at once, as 'upload' does."
)


def check_source(ports: bool, emulate: bool) -> None:
    """Raise `click.UsageError` where a board at a port and the emulated one are both asked for."""
    if ports and emulate:
        raise click.UsageError("--port and --emulate exclude each other; give one of them")


@click.command("upload", cls=Command)
@click.argument("folder", type=click.Path(path_type=Path, file_okay=False), default=Path())
@port_option
@click.option(
    "--environment",
    metavar="NAME",
    help="A section [env:NAME] of platformio.ini.  [default: its default_envs]",
)
@json_option
def upload_command(folder: Path, port: str | None, environment: str | None, as_json: bool) -> None:
    """Compile the project in FOLDER and put it on the board.

    FOLDER is the current one, if none is given; 'build' and 'logger' write such projects. The port
    is found by what is plugged in, and PlatformIO does the work: it brings its own compiler, or
    drives the one that is there. An emulated board with a bootloader takes it, too.
    """
    out = Output(as_json)
    out.finish(upload(out, folder, port, environment).to_json())


@dataclass(frozen=True)
class Upload:
    """What was uploaded, where to, and why there."""

    folder: Path
    environment: str
    port: str | None
    why: str

    def to_json(self) -> dict[str, Any]:
        """Return it under the names of this command's JSON."""
        return {
            "folder": str(self.folder),
            "environment": self.environment,
            "port": self.port,
            "why": self.why,
        }


def upload(
    out: Output, folder: Path, port: str | None = None, environment: str | None = None
) -> Upload:
    """Upload a project, and say where to.

    Raises
    ------
    InputError
        If the folder has no project, or no board is plugged in.
    CheckFailed
        If PlatformIO fails.
    """
    environment = environment or _default_environment(folder)
    board = _board_of(environment)
    if board.upload_baud == 0:
        where, why = None, f"by its programmer, {board.upload_protocol}"
    elif port is None:
        found = find_port(board)
        where, why = found.device, found.why
    else:
        where, why = port, "as --port says"
    shown = where or board.title
    out.say(f"uploading {folder} to {shown}: {why}")
    named = [] if where is None else ["--upload-port", _as_avrdude_has_it(where)]
    words = ["run", "--environment", environment, "-t", "upload", *named]
    with out.status(f"uploading to {shown}"):
        run_pio(folder, *words, deadline_s=_DEADLINE_S)
    out.say("uploaded")
    return Upload(folder, environment, where, why)


def upload_line(folder: Path, environment: str) -> str:
    """Return the command that uploads a project, for people to copy."""
    words = ["protonn-edge", "upload", *([] if folder == Path() else [str(folder)])]
    settings = folder / "platformio.ini"
    if settings.is_file() and environment not in _environments(folder)[:1]:
        words += ["--environment", environment]
    return command_line(words)


def _as_avrdude_has_it(port: str) -> str:
    return f"net:{port.removeprefix(_OVER_TCP)}" if port.startswith(_OVER_TCP) else port


def _board_of(environment: str) -> Board:
    """Return the board of an environment; for one of your own, a board with a serial port."""
    return load_board(environment if environment in board_names() else "uno")


def _default_environment(folder: Path) -> str:
    if not (folder / "platformio.ini").is_file():
        raise InputError(
            f"{folder} has no platformio.ini; name the folder that 'build' or 'logger' wrote"
        )
    environments = _environments(folder)
    if not environments:
        raise InputError(f"{folder / 'platformio.ini'} has no section [env:NAME]; build it again")
    return environments[0]


def _environments(folder: Path) -> list[str]:
    """Return the environments of a project, the default one first."""
    settings = configparser.ConfigParser(
        interpolation=None, strict=False, inline_comment_prefixes=(";",)
    )
    try:
        settings.read(folder / "platformio.ini", encoding="utf-8")
    except (configparser.Error, UnicodeDecodeError, OSError) as error:
        raise InputError(f"{folder / 'platformio.ini'} cannot be read; build it again") from error
    default = settings.get("platformio", "default_envs", fallback="").replace(",", " ").split()
    sections = [name.removeprefix("env:") for name in settings.sections() if name[:4] == "env:"]
    return [*default[:1], *sections]
