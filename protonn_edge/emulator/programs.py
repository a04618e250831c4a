"""The programs that emulate a board, the choice between them, and the Uno's bootloader.

Both have the same protocol, described at the top of uno.c: options, a flash image and commands on
stdin, a line of JSON for each command, and the serial line on a TCP port. simavr supports many
chips, sensors and bootloaders and is fast; avr8js runs an Uno's firmware wherever Node.js runs.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from protonn_edge.boards import Board
from protonn_edge.emulator.flash_image import FlashImage, load_image
from protonn_edge.errors import InputError, ProtoNNEdgeError
from protonn_edge.system import shell
from protonn_edge.system.folders import built_once
from protonn_edge.toolchain.javascript import EMULATOR, script_file
from protonn_edge.toolchain.process import relevant_lines, run_within

EMULATORS = ("simavr", "avr8js")
"""Their names, the preferred one first."""

_HERE = Path(__file__).resolve().parent
_SOURCES = ("core.c", "passes.c", "usart.c", "pins.c", "link.c", "uno.c", "sensors.c", "twi.c")
# The functions that simavr calls take more than most of them need.
_FLAGS = ("-std=gnu99", "-D_GNU_SOURCE", "-O2", "-Wall", "-Wextra", "-Wno-unused-parameter")
_PACKAGES = "the Debian packages gcc, libc6-dev and libsimavr-dev"
_CHIP_OF_AVR8JS = ("atmega328p", "usart0")
_DEADLINE_S = 120.0  # of a compiler
_NODE = "Node.js 20 or newer"


@dataclass(frozen=True)
class Program:
    """A program that emulates a board."""

    name: str  # one of `EMULATORS`
    command: tuple[str, ...]  # its command line, to which the board's options are added
    packages: str  # packages that contain it, for a sentence that begins with "install"
    instead: str = ""  # why it is not simavr, if no emulator was named; else empty

    @property
    def remark(self) -> str:
        """A note for users if it is not simavr; else empty."""
        if self.name == "simavr":
            return ""
        why = f", since {self.instead}" if self.instead else ""
        return f"emulated by avr8js under Node.js, several times slower than by simavr{why}"


def find_program(name: str | None, board: Board, extras: Sequence[str] = ()) -> Program:
    """Return a program that emulates a board, one of `EMULATORS`, with features simavr alone has.

    None means simavr if it is installed, else avr8js. Raises `InputError` if the program is not
    installed or lacks a feature; the sentence says what to install.
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
    """Return the program on simavr, compiled once for more flags; `InputError` if it cannot be."""
    flags = (*_FLAGS, *flags)
    ingredients = [(_HERE / name).read_bytes() for name in ("uno.h", *_SOURCES)]
    sources = [str(_HERE / name) for name in _SOURCES]

    def build(product: Path) -> None:
        _compile(["gcc", *flags, "-o", str(product), *sources, "-lsimavr"], _PACKAGES)

    return built_once("uno", [*ingredients, " ".join(flags).encode()], build)


def _compile(command: Sequence[str], packages: str) -> None:
    """Run a compiler that Debian packages have; where it fails, the sentence names them."""
    name, english = command[0], {**os.environ, "LC_ALL": "C"}
    try:
        done = run_within(_DEADLINE_S, command, name=name, environment=english)
    except FileNotFoundError as error:
        raise InputError(f"{name} is missing; install {packages}") from error
    if done.returncode != 0:
        reason = relevant_lines(done.stderr) or "no message"
        raise InputError(f"{name} failed ({reason}); install {packages}")


BOOTLOADER_START = 0x7E00  # where the boot section begins, in bytes; the usable flash ends here

# The .hex file in Debian's package is 532 bytes long, which does not fit the 512 bytes of an
# ATmega328P's smallest boot section; the same source rebuilt with relaxed jumps does.
_OPTIBOOT = Path("/usr/share/arduino/hardware/arduino/avr/bootloaders/optiboot/optiboot.c")
_AVR_PACKAGES = "the Debian packages arduino-core-avr, gcc-avr and avr-libc"
_OPTIBOOT_FLAGS = (
    "-Os -fno-inline-small-functions -fno-split-wide-types -fno-tree-scev-cprop "
    "-fno-move-loop-invariants -std=gnu99 -w -mmcu=atmega328p -DF_CPU=16000000L "
    "-DLED_START_FLASHES=3 -DBAUD_RATE=115200 "
    f"-Wl,--section-start=.text=0x{BOOTLOADER_START:x} -Wl,--section-start=.version=0x7ffe "
    "-Wl,--relax -nostartfiles -nostdlib"
).split()


def load_optiboot() -> FlashImage:
    """Return Optiboot for an Uno, built if need be; `InputError` names the missing packages."""
    try:
        source = _OPTIBOOT.read_bytes()
    except OSError as error:
        raise InputError(f"the source of Optiboot is missing; install {_AVR_PACKAGES}") from error

    def build(product: Path) -> None:
        _compile(["avr-gcc", *_OPTIBOOT_FLAGS, "-o", str(product), str(_OPTIBOOT)], _AVR_PACKAGES)

    return load_image(built_once("optiboot", [source, " ".join(_OPTIBOOT_FLAGS).encode()], build))
