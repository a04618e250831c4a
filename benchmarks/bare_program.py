"""A classifier alone on the emulated Uno: the same program around the C of any tool.

The program takes the features of a point, in the type that the tool's code takes, over its serial
line, classifies them and answers the class. Only the classification is timed. Flash and SRAM are
what the program takes more than one that neither keeps nor classifies features.
"""

from __future__ import annotations

import functools
import re
import socket
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from columns import Record
from numpy.typing import NDArray

from protonn_edge.chips.avr.program import read_program
from protonn_edge.chips.boards import load_board
from protonn_edge.chips.emulator import EmulatedUno

LEVELS = ("-Os", "-O2")
FLASH, SRAM = load_board("uno").flash_bytes, load_board("uno").sram_bytes

# Those of the Arduino IDE, except for the level.
_FLAGS = ("-mmcu=atmega328p", "-flto", "-ffunction-sections", "-fdata-sections", "-w")
_LANGUAGES = {
    ".c": ("-std=gnu11",),
    ".cpp": ("-std=gnu++11", "-fno-exceptions", "-fno-threadsafe-statics", "-fpermissive"),
}
# Regions are large, to know the size of any program.
_LARGE = "-Wl,--gc-sections,--defsym=__TEXT_REGION_LENGTH__=4M,--defsym=__DATA_REGION_LENGTH__=4M"
_DEADLINE_S = 1_200
_REASON_CHARACTERS = 80

_MAIN = """
#include <avr/io.h>
#include "classify.h"

static feature_t features[FEATURES];
static volatile answer_t answer;

int main(void)
{
    UBRR0 = 0; /* 2 Mbaud */
    UCSR0A = _BV(U2X0);
    UCSR0B = _BV(RXEN0) | _BV(TXEN0);
    for (;;) {
        for (uint16_t i = 0; i < sizeof features; ++i) {
            loop_until_bit_is_set(UCSR0A, RXC0);
            ((uint8_t *)features)[i] = UDR0;
        }
        GPIOR0 = 1;
        answer = classify(features);
        GPIOR0 = 0;
        const answer_t sent = answer;
        for (uint8_t i = 0; i < sizeof sent; ++i) {
            loop_until_bit_is_set(UCSR0A, UDRE0);
            UDR0 = ((const uint8_t *)&sent)[i];
        }
    }
}
"""
_HEADER = """
#include <stdint.h>
#define FEATURES {features}
typedef {type} feature_t;
typedef {answer} answer_t;
#ifdef __cplusplus
extern "C"
#endif
answer_t classify(const feature_t *features);
"""
ANSWERS = {"uint8_t": "u1", "int32_t": "<i4", "float": "<f4"}
"""NumPy's names of the types of answers."""
_NOTHING = '#include "classify.h"\nanswer_t classify(const feature_t *x) { return (answer_t)*x; }'


class DoesNotCompile(Exception):
    """What the compiler prints first."""


class NotThere(Exception):
    """Why a tool cannot be used here."""


class DoesNotFit(Exception):
    """What the program takes, of how much."""


@dataclass(frozen=True, eq=False)
class Source:
    """The files of a tool, one of which defines `classify`, and the points that it takes."""

    mode: str  # which of the tool's options were used
    type: str  # of a feature, in C
    points: NDArray[Any]  # (n, D), of the same type
    files: dict[str, str]
    include: Path | None = field(default=None)  # the tool's own headers
    answer: str = "uint8_t"  # the type of what `classify` returns, in C


@dataclass(frozen=True)
class Program:
    """A linked program, and the bytes that it takes more than one without a classifier."""

    source: Source
    level: str
    elf: Path
    flash_bytes: int
    sram_bytes: int

    def check_size(self, flash: int = FLASH) -> None:
        """Raise `DoesNotFit` if it takes more flash than given, or more SRAM than the Uno has."""
        whole = read_program(self.elf).sections
        if whole.flash_bytes > flash:
            raise DoesNotFit(f"takes {whole.flash_bytes:,} of {flash:,} B of flash")
        if whole.sram_bytes > SRAM:
            raise DoesNotFit(f"takes {whole.sram_bytes:,} of {SRAM:,} B of SRAM")

    def share(self, flash: int = FLASH) -> float:
        """Return how much it takes of the flash given or of the SRAM, whichever is more."""
        whole = read_program(self.elf).sections
        return max(whole.flash_bytes / flash, whole.sram_bytes / SRAM)

    def run(self, n: int | None = None) -> Record:
        """Return the answers for the first n points, their cycles and the deepest stack.

        Raises `DoesNotFit` if the stack does not.
        """
        kind, answers, cycles = np.dtype(ANSWERS[self.source.answer]), list[Any](), []
        with (
            EmulatedUno(self.elf) as uno,
            socket.create_connection(("127.0.0.1", uno.port)) as line,
        ):
            line.settimeout(_DEADLINE_S)
            before = 0
            for point in self.source.points[:n]:
                line.sendall(point.tobytes())
                received = b""
                while len(received) < kind.itemsize:
                    received += line.recv(kind.itemsize - len(received))
                answers.append(np.frombuffer(received, kind)[0])
                stats = uno.stats()
                if stats.faults:
                    raise DoesNotFit(f"is stopped: {stats.faults[0]}")
                cycles.append(stats.marked_cycles - before)
                before = stats.marked_cycles
        return {
            "answers": np.array(answers),
            "cycles": {"mean": float(np.mean(cycles)), "max": max(cycles)},
            "stack_bytes": stats.stack_bytes,
        }


@contextmanager
def linked(source: Source, level: str) -> Iterator[Program]:
    """Yield the program of a tool's files; raises `DoesNotCompile`."""
    with TemporaryDirectory() as folder:
        types = source.type, source.answer
        elf = _elf(source.files, types, source.points.shape[1], level, source.include, folder)
        taken, empty = read_program(elf).sections, _empty(level, source.answer)
        flash, sram = taken.flash_bytes - empty[0], taken.sram_bytes - empty[1]
        yield Program(source, level, elf, flash, sram)


def fastest(sources: Sequence[Source], tried: int, flash: int = FLASH) -> tuple[Source, str]:
    """Return the program with the fewest cycles for the first points, and its level.

    Raises `DoesNotCompile` or `DoesNotFit` with the first reason if none fits.
    """
    rated, reasons = list[tuple[float, Source, str]](), list[Exception]()
    for source in sources:
        for level in LEVELS:
            try:
                with linked(source, level) as program:
                    program.check_size(flash)
                    rated.append((program.run(tried)["cycles"]["mean"], source, level))
            except (DoesNotCompile, DoesNotFit) as error:
                reasons.append(error)
    if not rated:
        raise reasons[0]
    _, best, level = min(rated, key=lambda each: each[0])
    return best, level


@functools.cache
def _empty(level: str, answer: str) -> tuple[int, int]:
    """Return flash and SRAM of the program without a classifier, and without features."""
    with TemporaryDirectory() as folder:
        elf = _elf({"classify.c": _NOTHING}, ("uint8_t", answer), 1, level, None, folder)
        sections = read_program(elf).sections
        return sections.flash_bytes, sections.sram_bytes - 1


def _elf(
    files: dict[str, str],
    types: tuple[str, str],
    features: int,
    level: str,
    include: Path | None,
    folder: str,
) -> Path:
    place = Path(folder)
    header = _HEADER.format(features=features, type=types[0], answer=types[1])
    every = {**files, "main.c": _MAIN, "classify.h": header}
    for name, text in every.items():
        (place / name).write_text(text)
    flags = [*_FLAGS, level, "-I.", *([] if include is None else [f"-I{include}"])]
    objects = []
    for name in every:
        options = _LANGUAGES.get(Path(name).suffix)
        if options is not None:
            objects.append(f"{name}.o")
            _gcc(place, *flags, *options, "-c", name, "-o", objects[-1])
    elf = place / "program.elf"
    _gcc(place, *flags, _LARGE, "-o", str(elf), *objects, "-lm")
    return elf


def _gcc(folder: Path, *words: str) -> None:
    command = ["avr-gcc", *words]
    done = subprocess.run(
        command,
        check=False,
        capture_output=True,
        text=True,
        timeout=_DEADLINE_S,
        cwd=folder,
    )
    if done.returncode:
        reasons = re.findall(r"error: (.*)", done.stderr) or [done.stderr.strip() or "avr-gcc"]
        raise DoesNotCompile(reasons[0][:_REASON_CHARACTERS])
