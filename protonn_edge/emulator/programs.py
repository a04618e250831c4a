"""The programs that emulate a board, and the choice between them.

Both have the same protocol, described at the top of uno.c: options, a flash image and commands on
stdin, a line of JSON for each command, and the serial line on a TCP port. simavr supports many
chips, sensors and bootloaders and is fast; avr8js runs an Uno's firmware wherever Node.js runs.
"""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from protonn_edge.boards import Board
from protonn_edge.emulator.compiler import run_compiler
from protonn_edge.errors import InputError, ProtoNNEdgeError
from protonn_edge.system import shell
from protonn_edge.system.cache import built_once
from protonn_edge.toolchain.javascript import EMULATOR, script_file

EMULATORS = ("simavr", "avr8js")
"""Their names, the preferred one first."""

_HERE = Path(__file__).resolve().parent
_HEADERS = ("uno.h", "link.h", "sensors.h")
_SOURCES = (
    *("core.c", "usart.c", "pins.c", "wire.c", "link.c", "tcp.c", "pty.c", "uno.c"),
    *("sensors.c", "sensor_adc.c", "sensor_twi.c", "twi.c"),
)
_FLAGS = ("-std=gnu99", "-D_GNU_SOURCE", "-O2", "-Wall", "-Wextra")
_PACKAGES = "the Debian packages gcc, libc6-dev and libsimavr-dev"
_CHIP_OF_AVR8JS = ("atmega328p", "usart0")
_NODE = "Node.js 20 or newer"


@dataclass(frozen=True)
class Program:
    """A program that emulates a board.

    Attributes
    ----------
    name : str
        One of `EMULATORS`.
    command : tuple of str
        Its command line, to which the board's options are added.
    packages : str
        Packages that contain it, for a sentence that begins with "install".
    instead : str
        Why it is not simavr, if no emulator was named; else empty.
    """

    name: str
    command: tuple[str, ...]
    packages: str
    instead: str = ""

    @property
    def remark(self) -> str:
        """A note for users if it is not simavr; else empty."""
        if self.name == "simavr":
            return ""
        why = f", since {self.instead}" if self.instead else ""
        return f"emulated by avr8js under Node.js, several times slower than by simavr{why}"


def find_program(name: str | None, board: Board, extras: Sequence[str] = ()) -> Program:
    """Return a program that emulates a board.

    Parameters
    ----------
    name : str or None
        One of `EMULATORS`; None means simavr if it is installed, else avr8js.
    board : Board
        What to emulate.
    extras : sequence of str
        Requested features that only simavr has.

    Raises
    ------
    InputError
        If it is not installed or lacks a feature; the sentence says what to install.
    """
    program = _any_program(name)
    chip = (board.mcu, board.serial)
    rare = extras if chip == _CHIP_OF_AVR8JS else [f"{board.name} ({', '.join(chip)})", *extras]
    if rare and program.name != "simavr":
        why = program.instead or "do not ask for avr8js"
        raise InputError(f"{rare[0]} cannot be emulated without simavr: {why}")
    return program


def _any_program(name: str | None) -> Program:
    if name == "avr8js":
        return _avr8js()
    try:
        return _simavr()
    except InputError as error:
        if name == "simavr":
            raise
        missing = error
    try:
        return _avr8js(instead=str(missing))
    except ProtoNNEdgeError as error:
        raise InputError(f"{missing}; or use avr8js: {error}") from None


def _simavr() -> Program:
    if not shell.LINUX:
        place = "WSL" if shell.WINDOWS else "a container"
        raise InputError(f"simavr needs Linux; run it in {place}, or name a board with --port")
    return Program("simavr", (str(build_simavr()),), _PACKAGES)


def _avr8js(instead: str = "") -> Program:
    node = shutil.which("node")
    if node is None:
        raise InputError(f"node is not on PATH; install {_NODE}")
    return Program("avr8js", (node, str(script_file(EMULATOR))), _NODE, instead)


def build_simavr(*flags: str) -> Path:
    """Return the program on simavr, compiled once for these additional flags.

    Raises
    ------
    InputError
        If it cannot be compiled.
    """
    names = (*_HEADERS, *_SOURCES)
    flags = (*_FLAGS, *flags)
    ingredients = [(_HERE / name).read_bytes() for name in names] + [" ".join(flags).encode()]
    sources = [str(_HERE / name) for name in _SOURCES]

    def build(product: Path) -> None:
        run_compiler(["gcc", *flags, "-o", str(product), *sources, "-lsimavr"], _PACKAGES)

    return built_once("uno", ingredients, build)
