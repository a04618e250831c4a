"""Compile C for a chip as the Arduino IDE does, without PlatformIO's start-up time."""

from __future__ import annotations

import os
import shutil
from collections.abc import Sequence
from pathlib import Path

from platformio.project.options import get_default_core_dir

from protonn_edge.boards import Board
from protonn_edge.errors import CheckFailed, InputError
from protonn_edge.toolchain.process import relevant_lines, run_within

IDE_FLAGS = ("-Os", "-flto")
"""The Arduino IDE's optimizations, and PlatformIO's unless a platformio.ini changes them."""

_FLAGS = ("-std=gnu11", "-ffunction-sections", "-fdata-sections", "-Wl,--gc-sections")
# Link what is too large, too, so that its size can be compared with the board's.
_ANY_SIZE = (
    "-Wl,--defsym=__TEXT_REGION_LENGTH__=0x80000",
    "-Wl,--defsym=__DATA_REGION_LENGTH__=0x8000",
)
_PACKAGE = "packages/toolchain-atmelavr/bin"
_DEADLINE_S = 120.0


def link_for_chip(sources: Sequence[Path], include: Path, board: Board, elf: Path) -> Path:
    """Compile and link C sources with the IDE's flags; return `elf`, of any size.

    Raises
    ------
    InputError
        If there is no avr-gcc on PATH or among PlatformIO's packages.
    CheckFailed
        If it refuses the sources; the message has its words.
    """
    target = (f"-mmcu={board.mcu}", f"-DF_CPU={board.clock_hz}L", f"-I{include}")
    command = [_avr_gcc(), *target, *IDE_FLAGS, *_FLAGS, *_ANY_SIZE, *map(str, sources)]
    english = {**os.environ, "LC_ALL": "C"}
    done = run_within(
        _DEADLINE_S, [*command, "-o", str(elf), "-lm"], name="avr-gcc", environment=english
    )
    if done.returncode != 0:
        names = ", ".join(source.name for source in sources)
        raise CheckFailed(f"avr-gcc refused {names}: {relevant_lines(done.stderr)}")
    return elf


def _avr_gcc() -> str:
    core = Path(os.environ.get("PLATFORMIO_CORE_DIR") or get_default_core_dir())
    path = shutil.which("avr-gcc") or shutil.which("avr-gcc", path=str(core / _PACKAGE))
    if path is None:
        raise InputError("there is no avr-gcc on PATH; install gcc-avr and avr-libc")
    return path
