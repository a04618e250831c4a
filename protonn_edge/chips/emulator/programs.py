"""The programs that emulate a board, what its flash holds, and the Uno's bootloader.

Both have the same protocol, described at the top of uno.c: options, a flash image and commands on
stdin, a line of JSON for each command, and the serial line on a TCP port. simavr supports many
chips, sensors and bootloaders and is fast; avr8js runs an Uno's firmware wherever Node.js runs.

The flash comes from an ELF file, which also has the end of .bss and the function at each address,
or from an Intel HEX file, which holds only the bytes.
"""

from __future__ import annotations

import binascii
import os
import shutil
from collections.abc import Iterable, Iterator, Sequence
from itertools import takewhile
from pathlib import Path

from protonn_edge.chips.avr.program import read_program
from protonn_edge.chips.boards import Board
from protonn_edge.chips.emulator.board import Program
from protonn_edge.chips.emulator.image import FlashImage
from protonn_edge.chips.toolchain.javascript import EMULATOR, script_file
from protonn_edge.chips.toolchain.process import relevant_lines, run_within
from protonn_edge.system import shell
from protonn_edge.system.checks import check, check_range
from protonn_edge.system.errors import InputError, InvalidValue, ProtoNNEdgeError
from protonn_edge.system.extensions import folders_in_packages
from protonn_edge.system.files import read_file
from protonn_edge.system.folders import built_once

EMULATORS = ("simavr", "avr8js")
"""Their names, the preferred one first."""

_HERE = Path(__file__).resolve().parent
_SOURCES = ("core.c", "passes.c", "usart.c", "pins.c", "link.c", "uno.c")
# The functions that simavr calls take more than most of them need.
_FLAGS = ("-std=gnu99", "-D_GNU_SOURCE", "-O2", "-Wall", "-Wextra", "-Wno-unused-parameter")
_PACKAGES = "the Debian packages gcc, libc6-dev and libsimavr-dev"
_CHIP_OF_AVR8JS = ("atmega328p", "usart0")
_DEADLINE_S = 120.0  # of a compiler
_NODE = "Node.js 20 or newer"


def find_program(name: str | None, board: Board, extras: Sequence[str] = ()) -> Program:
    """Return the emulator of this name in `EMULATORS`, with all required features.

    Without a name, it is simavr if installed, else avr8js. Raises `InputError` if the program is
    not installed or lacks a feature that only simavr has; the sentence names the package.
    """
    program = _any_program(name)
    chip = (board.mcu, board.serial)
    rare = extras if chip == _CHIP_OF_AVR8JS else [f"{board.name} ({', '.join(chip)})", *extras]
    if rare and program.name != "simavr":
        why = program.instead or "choose --emulator simavr"
        raise InvalidValue(rare[0], "not emulated without simavr", why)
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
        raise InputError(f"{missing}; alternatively, for avr8js: {error}") from None


def _simavr() -> Program:
    if not shell.LINUX:
        place = "WSL" if shell.WINDOWS else "a container"
        raise InvalidValue(
            "simavr", "it needs Linux", f"run it in {place}, or use --port with a real board"
        )
    return Program("simavr", (str(build_simavr()),), _PACKAGES)


def _avr8js(instead: str = "") -> Program:
    node = shutil.which("node")
    if node is None:
        raise InvalidValue("node", "not on PATH", f"install {_NODE}")
    why = f"; simavr is not used because {instead}" if instead else ""
    remark = f"emulated by avr8js under Node.js, several times slower than by simavr{why}"
    return Program("avr8js", (node, str(script_file(EMULATOR))), _NODE, instead, remark)


def build_simavr(*flags: str) -> Path:
    """Return the program on simavr, compiled once for more flags; `InputError` if it cannot be."""
    added = [folder for _, folder in folders_in_packages("emulator")]
    flags = (*_FLAGS, *flags)
    sources = [*(_HERE / name for name in _SOURCES), *_files(added, "*.c")]
    ingredients = [each.read_bytes() for each in (_HERE / "uno.h", *_files(added, "*.h"), *sources)]

    def build(product: Path) -> None:
        own = [f"-I{_HERE}", "-o", str(product), *map(str, sources), "-lsimavr"]
        _compile(["gcc", *flags, *own], _PACKAGES)

    return built_once("uno", [*ingredients, " ".join(flags).encode()], build)


def _files(folders: Iterable[Path], pattern: str) -> list[Path]:
    """Return the files of some folders in order."""
    return [path for folder in folders for path in sorted(folder.glob(pattern))]


def _compile(command: Sequence[str], packages: str) -> None:
    """Run a compiler that Debian packages have; where it fails, the sentence names them."""
    name, english = command[0], {**os.environ, "LC_ALL": "C"}
    try:
        done = run_within(_DEADLINE_S, command, name=name, environment=english)
    except FileNotFoundError as error:
        raise InvalidValue(name, "not on PATH", f"install {packages}") from error
    if done.returncode != 0:
        reason = relevant_lines(done.stderr) or "no message"
        raise InvalidValue(name, f"it failed ({reason})", f"install {packages}")


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
        raise InvalidValue(_OPTIBOOT, "no such file", f"install {_AVR_PACKAGES}") from error

    def build(product: Path) -> None:
        _compile(["avr-gcc", *_OPTIBOOT_FLAGS, "-o", str(product), str(_OPTIBOOT)], _AVR_PACKAGES)

    return load_image(built_once("optiboot", [source, " ".join(_OPTIBOOT_FLAGS).encode()], build))


# --- what the flash holds ------------------------------------------------------------------------

FLASH_BYTES = 0x8000  # flash of an ATmega328P, with the bootloader's section
_FILE_LIMIT_BYTES = 16 << 20


def empty_image(flash_bytes: int = FLASH_BYTES) -> FlashImage:
    """Return the image of an erased chip."""
    return FlashImage(b"\xff" * flash_bytes)


def load_image(path: Path, flash_bytes: int = FLASH_BYTES, mcu: str = "atmega328p") -> FlashImage:
    """Read an ELF or an Intel HEX file for a chip, by default an ATmega328P.

    Raises `InputError` if it is neither, damaged, for another chip, or too large. A HEX file does
    not name its chip, but its interrupt vectors may show one.
    """
    content = read_file(path, limit_bytes=_FILE_LIMIT_BYTES, remedy="build the firmware first")
    if content.startswith(b"\x7fELF"):
        program = read_program(path)
        # Letters at the end stand for other voltages or packages of a chip.
        if program.chip and program.chip.rstrip("abp") != mcu.rstrip("abp"):
            raise InvalidValue(
                str(path),
                f"compiled for an {program.chip}, not for an {mcu}",
                "give the firmware of this board, or name its board with --board",
            )
        flash = _placed([(0, program.code)], path, flash_bytes, mcu)
        return FlashImage(flash, program.data_end, program.symbols)
    if content.lstrip().startswith(b":"):
        flash = _placed(hex_chunks(content, path), path, flash_bytes, mcu)
        _check_vectors(flash, path, mcu)
        return FlashImage(flash)
    raise InvalidValue(str(path), "neither an ELF nor an Intel HEX file")


def _placed(chunks: Iterable[tuple[int, bytes]], path: Path, flash_bytes: int, mcu: str) -> bytes:
    """Return the flash with each chunk at its address."""
    flash = bytearray(b"\xff" * flash_bytes)
    is_empty = True
    for address, chunk in chunks:
        end = address + len(chunk)
        check_range(f"end of {path} in the flash of an {mcu}", end, 0, flash_bytes)
        flash[address:end] = chunk
        is_empty = is_empty and not chunk
    check(not is_empty, str(path), "no program", "one")
    return bytes(flash)


_VECTORS = {"atmega328p": 26, "atmega1284p": 35, "atmega32u4": 43, "atmega2560": 57}
"""The jumps at the beginning of a program of avr-gcc's: one for each interrupt of its chip."""


def _check_vectors(flash: bytes, path: Path, mcu: str) -> None:
    """Raise `InputError` if a program begins with as many vectors as another chip has."""
    words = [low | high << 8 for low, high in zip(flash[::2], flash[1::2], strict=True)]
    jumps = sum(1 for _ in takewhile(lambda word: word & 0xFE0E == 0x940C, words[::2]))
    short_jumps = sum(1 for _ in takewhile(lambda word: word & 0xF000 == 0xC000, words))
    found = jumps or short_jumps
    others = [name for name, count in _VECTORS.items() if count == found]
    if others and mcu in _VECTORS and mcu not in others:
        raise InvalidValue(
            str(path),
            f"its {found} interrupt vectors are those of an {others[0]}, not of an {mcu}",
            "give the firmware of this board, or name its board with --board",
        )


def hex_chunks(content: bytes, path: Path) -> Iterator[tuple[int, bytes]]:
    """Yield address and bytes of each data record; `InputError` if one is damaged or missing."""
    base = 0
    for number, kind, offset, data in _records(content, path):
        if kind == 0x00:
            yield base + offset, data
        elif kind == 0x01:
            return
        elif kind in (0x02, 0x04) and len(data) == 2:
            base = int.from_bytes(data, "big") << (4 if kind == 0x02 else 16)
        elif kind not in (0x03, 0x05):  # those two name a start address, which an AVR does not have
            raise _damaged(path, number)
    raise InvalidValue(str(path), "no end record, so it must be truncated")


def _records(content: bytes, path: Path) -> Iterator[tuple[int, int, int, bytes]]:
    """Yield (line number, type, offset, data) of each record; the checksums are right."""
    for number, line in enumerate(content.split(b"\n"), start=1):
        text = line.strip()
        if not text:
            continue
        try:
            record = binascii.unhexlify(text[1:])
        except binascii.Error:
            record = b""
        whole = text[:1] == b":" and len(record) >= 5 and len(record) == record[0] + 5
        if not whole or sum(record) & 0xFF:
            raise _damaged(path, number)
        yield number, record[3], int.from_bytes(record[1:3], "big"), record[4:-1]


def _damaged(path: Path, number: int) -> InputError:
    return InvalidValue(f"{path}:{number}", "no record of Intel HEX")
