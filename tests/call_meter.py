"""Calls of functions of AVR programs, measured by ``call_meter.c``: cycles and stack.

It shares no code with the package, whose bounds it checks: ``avr-nm`` reads symbols,
``avr-objcopy`` reads flash, and its own code on simavr's core follows interrupts and the EEPROM.
"""

from __future__ import annotations

import atexit
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

EEPROM_CYCLES = 5_000
"""How long the chip is busy after it writes a byte: shorter than real, and so are runs."""

_SOURCE = Path(__file__).with_suffix(".c")
_HZ = 16_000_000
_DEADLINE_S = 60
_CONTROL = {"attiny85": 0x1C}  # where the EEPROM's control register is
_CONTROL_ELSEWHERE = 0x1F


@dataclass(frozen=True)
class Calls:
    """All calls of a function that a run has completed."""

    count: int
    least: int  # cycles, without interrupts
    most: int
    stack: int  # the most bytes, with the return address, without interrupts


@dataclass(frozen=True)
class Run:
    """What a run of a program has shown."""

    calls: dict[str, Calls]  # by function
    stack: int  # the most bytes of stack since main() began, with interrupts
    interrupts: int


def functions_of(elf: Path) -> dict[str, int]:
    """Return the addresses of a program's code symbols by name."""
    lines = _output("avr-nm", elf).splitlines()
    code = (line.split() for line in lines if line[9:11] in {"t ", "T "})
    return {name: int(address, 16) for address, _, name in code}


def measured_calls(elf: Path, mcu: str, names: Sequence[str], cycles: int) -> Run:
    """Run a program for so many cycles, and return the calls of these functions."""
    image, addresses = elf.with_suffix(".image"), functions_of(elf)
    _output("avr-objcopy", "-O", "binary", "-j", ".text", "-j", ".data", elf, image)
    control = _CONTROL.get(mcu, _CONTROL_ELSEWHERE)
    places = [addresses[name] for name in ("main", *names)]
    *lines, last = _output(
        _meter(), image, mcu, _HZ, cycles, control, EEPROM_CYCLES, *places
    ).splitlines()
    calls = {name: Calls(*map(int, line.split())) for name, line in zip(names, lines, strict=True)}
    return Run(calls, *map(int, last.split()))


@cache
def _meter() -> Path:
    folder = TemporaryDirectory(prefix="protonn-edge-meter-")
    atexit.register(folder.cleanup)
    program = Path(folder.name) / "call_meter"
    _output("gcc", "-O2", "-Wall", "-Wextra", "-Werror", "-o", program, _SOURCE, "-lsimavr")
    return program


def _output(*command: object) -> str:
    words = [str(word) for word in command]
    done = subprocess.run(words, capture_output=True, text=True, timeout=_DEADLINE_S, check=False)
    assert done.returncode == 0, f"{' '.join(words)}: {done.stderr}"
    return done.stdout
