"""Build exports by the Arduino IDE's recipe, and run what comes out on the emulated Uno."""

from __future__ import annotations

import fcntl
import re
import socket
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path

from avr_tools import EMULATED_AVR, needs

from protonn_edge.chips.avr.program import read_program
from protonn_edge.chips.boards import load_board
from protonn_edge.chips.emulator import EmulatedUno
from protonn_edge.codegen.export import Export, Kind, export
from protonn_edge.model.model import Model

ARDUINO = Path("/usr/share/arduino/hardware/arduino/avr")
CORE, VARIANT = ARDUINO / "cores" / "arduino", ARDUINO / "variants" / "standard"

# Of platform.txt and boards.txt, for the Uno. "All" warnings, and none is let through.
TARGET = ["-mmcu=atmega328p", "-DF_CPU=16000000L", "-DARDUINO=10819", "-DARDUINO_AVR_UNO"]
COMMON = [*TARGET, "-DARDUINO_ARCH_AVR", "-Os", "-flto", "-ffunction-sections", "-fdata-sections"]
C_FLAGS = ["-std=gnu11", "-fno-fat-lto-objects"]
CPP_FLAGS = ["-std=gnu++11", "-fpermissive", "-fno-exceptions", "-fno-threadsafe-statics"]
LINK = [*TARGET, "-Os", "-flto", "-fuse-linker-plugin", "-Wl,--gc-sections"]
WARNINGS = ["-Wall", "-Wextra", "-Werror"]
DEADLINE_S = 90.0

# What a sketch is compiled with.
SKETCHES = ("avr-g++", str(CORE / "Arduino.h"))
needs_arduino_core = needs(*EMULATED_AVR, *SKETCHES)

# Debian's core wants a macro of C++11 that its compiler's <float.h> has for C alone.
FOR_THE_CORE = ["-w", "-DDECIMAL_DIG=__DECIMAL_DIG__"]


def compile_source(source: Path, out: Path, includes: list[Path], *more: str) -> Path:
    """Compile one file as the IDE does: a sketch is C++ that begins with Arduino.h."""
    is_c = source.suffix in {".c", ".S"}
    command: list[object] = ["avr-gcc" if is_c else "avr-g++", "-c", *COMMON, *more]
    command += {".c": C_FLAGS, ".S": ["-x", "assembler-with-cpp"]}.get(source.suffix, CPP_FLAGS)
    command += ["-x", "c++", "-include", "Arduino.h"] if source.suffix == ".ino" else []
    command += [f"-I{folder}" for folder in (CORE, VARIANT, *includes)]
    subprocess.run([*command, source, "-o", out], check=True, timeout=DEADLINE_S)
    return out


def build_core(folder: Path) -> Path:
    """Compile the Arduino core for the Uno into an archive in a folder, once for all processes."""
    archive = folder / "core.a"
    with (folder / "core.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not archive.exists():
            _build_core(folder, archive)
    return archive


def _build_core(folder: Path, archive: Path) -> None:
    objects = [
        compile_source(source, folder / f"{source.name}.o", [], *FOR_THE_CORE)
        for source in sorted(CORE.iterdir())
        if source.suffix in {".c", ".cpp", ".S"}
    ]
    made = folder / "unfinished.a"
    subprocess.run(["avr-gcc-ar", "rcs", made, *objects], check=True, timeout=DEADLINE_S)
    made.replace(archive)


def build_sketch(library: Path, example: str, core: Path, out: Path, *others: Path) -> Path:
    """Build an example of a library to an ELF file in a new folder; no warning is let through.

    `others` are the libraries that it includes beside its own.
    """
    out.mkdir(parents=True)
    return link_sketch(library, example, core, compile_libraries(out, library, *others), *others)


def compile_libraries(out: Path, *libraries: Path) -> list[Path]:
    """Compile the sources of libraries to object files in a folder."""
    folders = [each / "src" for each in libraries]
    return [
        compile_source(source, out / f"{source.name}.o", folders, *WARNINGS)
        for folder in folders
        for source in sorted(folder.glob("*.c*"))
    ]


def link_sketch(
    library: Path, example: str, core: Path, compiled: list[Path], *others: Path
) -> Path:
    """Compile an example of a library, and link it with the object files of its libraries."""
    elf = compiled[0].with_name(f"{example}.elf")
    folders = [each / "src" for each in (library, *others)]
    sketch = library / "examples" / example / f"{example}.ino"
    main = compile_source(sketch, elf.with_suffix(".ino.o"), folders, *WARNINGS)
    link: list[object] = ["avr-gcc", *LINK, "-o", elf, main, *compiled, core, "-lm"]
    subprocess.run(link, check=True, timeout=DEADLINE_S)
    return elf


@dataclass(frozen=True)
class Ran:
    """What a program printed on the emulated Uno, and what it took of it."""

    printed: str
    flash_bytes: int
    sram_bytes: int


def run_on_uno(elf: Path, lines: int = 1) -> Ran:
    """Run a program until it has printed some lines."""
    sections = read_program(elf).sections
    with EmulatedUno(elf) as uno:
        received = b""
        with socket.create_connection(("127.0.0.1", uno.port), timeout=DEADLINE_S) as line:
            end = time.monotonic() + DEADLINE_S
            while received.count(b"\n") < lines and time.monotonic() < end:
                received += line.recv(4096)
        stats = uno.stats()
    assert stats.faults == ()
    used = sections.sram_bytes + stats.stack_bytes
    return Ran(received.decode(), sections.flash_bytes, used)


def assert_within_budget(ran: Ran) -> None:
    board = load_board("uno")
    assert ran.flash_bytes <= board.flash_bytes
    assert ran.sram_bytes <= board.sram_bytes


def export_for_uno(model: Model, kind: Kind, folder: Path, **more: object) -> Export:
    """Export a model for tests that run what was made themselves."""
    options = {"tries": False, **more}
    return export(model, kind, folder, load_board("uno"), **options)  # type: ignore[arg-type]


def spoil_score_of_vector_7(source: Path) -> tuple[int, int]:
    """Change the score of class 0 that vector 7 is expected to have; return both, the right first.

    `source` is an exported self_test.c.
    """
    text = source.read_text()
    row = text.index("/* 7 */", text.index(" scores["))
    found = re.compile(r"-?\d+").search(text, row + len("/* 7 */"))
    assert found is not None
    source.write_text(f"{text[: found.start()]}12345{text[found.end() :]}")
    return int(found[0]), 12345
