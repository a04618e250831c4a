"""Upload a project by PlatformIO, to a serial port or through a programmer."""

from __future__ import annotations

import configparser
import re
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Self

from protonn_edge.chips.boards import Board, board_names, load_board
from protonn_edge.chips.toolchain.platformio import run_pio
from protonn_edge.chips.toolchain.ports import find_port
from protonn_edge.system.errors import InputError, lacking

_SETTINGS = "platformio.ini"
_SOURCES = "src"  # PlatformIO's, unless platformio.ini names another folder
_DEADLINE_S = 600.0  # the first upload on a new machine downloads a compiler
_NO_END = "if the board no longer answers, reset it, and upload again"
_OVER_SERIAL_LINE = "arduino"  # avrdude's name of the bootloaders' protocol
_BAUD_RATE = re.compile("[0-9]{1,8}")
_OVER_TCP = "socket://"  # pyserial's form; avrdude uses net:


@dataclass(frozen=True)
class PlatformIOUpload:
    """An upload that is about to begin."""

    folder: Path
    environment: str
    where: str | None  # the port; None with a programmer
    why: str
    shown: str  # where, for people

    @classmethod
    def of(cls, folder: Path, port: str | None, environment: str | None) -> Self:
        """Return the upload of a project; `InputError` if it is unknown how to upload it."""
        default = _default_environment(folder)
        environment = environment or default
        board = _board_of(folder, environment, port)
        if board.upload_baud == 0 and board.upload_protocol == _OVER_SERIAL_LINE:
            raise InputError(
                f"the baud rate for uploads to {environment} is unknown; add a line such as "
                "upload_baud = 115_200 to the board's file, and build the project again"
            )
        _check_sources(folder)
        if board.upload_baud == 0:
            where, why = None, f"with the programmer {board.upload_protocol}"
        elif port is None:
            where, why = find_port(board)
        else:
            where, why = port, "given by --port"
        return cls(folder, environment, where, why, where or board.title)

    def run(self) -> None:
        """Compile the project, and write its program to the board."""
        where = self.where
        named = [] if where is None else ["--upload-port", where.replace(_OVER_TCP, "net:", 1)]
        words = ["run", "--environment", self.environment, "-t", "upload", *named]
        run_pio(self.folder, *words, deadline_s=_DEADLINE_S, remedy=_NO_END)


def _board_of(folder: Path, environment: str, port: str | None) -> Board:
    """Return the board of an environment: one of the list, or its section's upload settings."""
    if environment in board_names():
        return load_board(environment)
    settings, section = _settings_of(folder), f"env:{environment}"
    if not settings.has_section(section):
        raise lacking(
            folder / _SETTINGS,
            f"section [{section}]",
            f"name one of {', '.join(dict.fromkeys(environments(folder)))} with --environment",
        )
    protocol = settings.get(section, "upload_protocol", fallback="")
    speed = settings.get(section, "upload_speed", fallback="0")
    usb_ids = settings.get(section, "custom_usb_ids", fallback="").replace(",", " ").split()
    if not protocol and port is not None:  # of someone's own, with a bootloader
        protocol, speed = _OVER_SERIAL_LINE, "115200"
    if not protocol or not _BAUD_RATE.fullmatch(speed):
        raise InputError(
            f"{folder / _SETTINGS} does not state how to upload to {environment}; name the board's "
            "port with --port, or build the project again"
        )
    return replace(
        load_board("uno"),
        name=environment,
        title=environment,
        upload_protocol=protocol,
        upload_baud=int(speed),
        usb_ids=tuple(usb_ids),
    )


def _default_environment(folder: Path) -> str:
    known = environments(folder)
    if not known:
        raise lacking(folder / _SETTINGS, "section [env:NAME]", "build the project again")
    return known[0]


def _check_sources(folder: Path) -> None:
    """Refuse a project without sources, before the upload is announced."""
    named = _settings_of(folder).get("platformio", "src_dir", fallback=_SOURCES)
    sources = folder / named
    if "$" in named:  # PlatformIO's own substitution
        return
    if not (sources.is_dir() and any(sources.iterdir())):
        raise InputError(f"{sources} contains no sources to compile; write the project again")


def environments(folder: Path) -> list[str]:
    """Return the environments of a project, the default one first."""
    settings = _settings_of(folder)
    default = settings.get("platformio", "default_envs", fallback="").replace(",", " ").split()
    sections = [name.removeprefix("env:") for name in settings.sections() if name[:4] == "env:"]
    return [*default[:1], *sections]


def _settings_of(folder: Path) -> configparser.ConfigParser:
    settings = configparser.ConfigParser(
        interpolation=None, strict=False, inline_comment_prefixes=(";",)
    )
    try:
        settings.read(folder / _SETTINGS, encoding="utf-8")
    except (configparser.Error, UnicodeDecodeError, OSError) as error:
        raise InputError(f"{folder / _SETTINGS} cannot be read; build the project again") from error
    return settings
