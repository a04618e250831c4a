"""Builds of exports as their users make them: by the Arduino IDE's recipe, and on the emulated Uno."""

from __future__ import annotations

import shutil
import socket
import subprocess
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from protonn_edge.boards import load_board
from protonn_edge.emulator import EmulatedUno
from protonn_edge.export import Export, Kind, export
from protonn_edge.model import ProtoNNModel
from protonn_edge.toolchain.elf import read_sections

ARDUINO = Path("/usr/share/arduino/hardware/arduino/avr")
CORE, VARIANT = ARDUINO / "cores" / "arduino", ARDUINO / "variants" / "standard"

# Of platform.txt and boards.txt, for the Uno. "All" warnings, and none is let through.
TARGET = ["-mmcu=atmega328p", "-DF_CPU=16000000L", "-DARDUINO=10819", "-DARDUINO_AVR_UNO"]
COMMON = [*TARGET, "-DARDUINO_ARCH_AVR", "-Os", "-flto", "-ffunction-sections", "-fdata-sections"]
C_FLAGS = ["-std=gnu11", "-fno-fat-lto-objects"]
CPP_FLAGS = ["-std=gnu++11", "-fpermissive", "-fno-exceptions", "-fno-threadsafe-statics"]
LINK = [*TARGET, "-Os", "-flto", "-fuse-linker-plugin", "-Wl,--gc-sections"]
WARNINGS = ["-Wall", "-Wextra", "-Werror"]
DEADLINE_S = 60.0


def compile_source(source: Path, out: Path, includes: list[Path], *more: str) -> Path:
    """Compile one file as the IDE does: a sketch is C++ that begins with Arduino.h."""
    is_c = source.suffix in {".c", ".S"}
    command: list[object] = ["avr-gcc" if is_c else "avr-g++", "-c", *COMMON, *more]
    command += {".c": C_FLAGS, ".S": ["-x", "assembler-with-cpp"]}.get(source.suffix, CPP_FLAGS)
    command += ["-x", "c++", "-include", "Arduino.h"] if source.suffix == ".ino" else []
    command += [f"-I{folder}" for folder in (CORE, VARIANT, *includes)]
    subprocess.run([*command, source, "-o", out], check=True, timeout=DEADLINE_S)
    return out


@pytest.fixture(scope="session")
def arduino_core(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the Arduino core for the Uno, compiled; skip where it or the compiler is missing."""
    if not CORE.is_dir() or not shutil.which("avr-g++"):
        pytest.skip(
            "needs the Debian packages gcc-avr avr-libc arduino-core-avr; to run: make setup"
        )
    folder = tmp_path_factory.mktemp("core")
    objects = [
        compile_source(source, folder / f"{source.name}.o", [], "-w")
        for source in sorted(CORE.iterdir())
        if source.suffix in {".c", ".cpp", ".S"}
    ]
    archive = folder / "core.a"
    subprocess.run(["avr-gcc-ar", "rcs", archive, *objects], check=True, timeout=DEADLINE_S)
    return archive


@pytest.fixture
def build_sketch(arduino_core: Path, tmp_path: Path) -> Callable[[Path, str], Path]:
    """Return a function that builds an example of a library to an ELF file."""

    def build(library: Path, example: str) -> Path:
        src, out = library / "src", tmp_path / example
        out.mkdir()
        sources = [library / "examples" / example / f"{example}.ino", *sorted(src.glob("*.c"))]
        objects = [
            compile_source(source, out / f"{source.name}.o", [src], *WARNINGS) for source in sources
        ]
        elf = out / f"{example}.elf"
        link = ["avr-gcc", *LINK, "-o", elf, *objects, arduino_core, "-lm"]
        subprocess.run(link, check=True, timeout=DEADLINE_S)
        return elf

    return build


@dataclass(frozen=True)
class Ran:
    """What a program printed on the emulated Uno, and what it took of it."""

    printed: str
    flash_bytes: int
    sram_bytes: int


def run_on_uno(elf: Path, lines: int = 1) -> Ran:
    """Run a program until it has printed some lines."""
    sections = read_sections(elf)
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


def export_for_uno(model: ProtoNNModel, kind: Kind, folder: Path, **more: object) -> Export:
    return export(model, kind, folder, load_board("uno"), **more)  # type: ignore[arg-type]
