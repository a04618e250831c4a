"""Predictions on the emulated Uno, measured by the firmware's own sources, one after the other.

A small program around `firmware/prediction.c` and the generated model takes the place of the
firmware: points come over the serial line as they do there, in chunks if the plan says so, but
without frames. All is compiled with the flags of the firmware, because what the compiler makes of
the model is part of what is measured.
"""

from __future__ import annotations

import atexit
import socket
import subprocess
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from byte_programs import answer_on
from checkout import CHECKOUT
from generated_programs import write_c

from protonn_edge.chips.emulator import EmulatedUno
from protonn_edge.codegen.families.avr.paths import StatedFacts
from protonn_edge.codegen.plan import Plan
from protonn_edge.model.integer_chain import IntegerChain

OWN_LEVEL = "-O2"
"""The level of optimization in `platformio.ini`."""

FLAGS = (
    *("-mmcu=atmega328p", "-std=gnu99", OWN_LEVEL, "-Wall", "-Wextra", "-Wpedantic"),
    *("-ffunction-sections", "-fdata-sections", "-DF_CPU=16000000L", "-Werror"),
)
"""Those of `platformio.ini`, with what PlatformIO adds; a later level replaces the first one.

No warning is let through: what the checks of `conformance` run is every kernel of every kind.
"""

OTHER_LEVELS = ("-Os -flto", "-Os", "-O1", "-O3")
"""Those of other projects that a model may be compiled in; the first is the Arduino IDE's."""

# What is too large is linked all the same, as the firmware is, so that its size can be looked at.
_LINKING = ("-Wl,--gc-sections", "-Wl,--defsym=__TEXT_REGION_LENGTH__=0x10000")

_MAIN = """
#include "cycle_counter.h"
#include "prediction.h"
#include "uart.h"
#include "watchdog.h"
#include <avr/interrupt.h>

static void send(const void *bytes, uint8_t count)
{
    for (const uint8_t *next = bytes; count-- > 0;) {
        uart_send(*next++);
    }
}

int main(void)
{
    watchdog_start();
    cycle_counter_start();
    uart_start();
    sei();
    for (;;) {
        prediction_begin();
        for (uint16_t i = 0; i < PNN_FEATURES; ++i) {
            prediction_push(uart_receive());
        }
        const uint8_t label = prediction_finish(1);
        const uint32_t cycles = prediction_cycles();
        send(&label, 1);
        send(&cycles, sizeof cycles);
        for (uint16_t l = 0; l < PNN_CLASSES; ++l) {
            send(pnn_scores() + l, sizeof(pnn_score_t));
        }
#ifdef PNN_VALUE_DECIMALS
        const int32_t value = pnn_value();
        send(&value, sizeof value);
#endif
    }
}
"""

_FIRMWARE = CHECKOUT / "firmware"
_SOURCES = ("cycle_counter.c", "uart.c", "watchdog.c")
"""What is the same for all models; `prediction.c` is not."""

_OBJECTS = TemporaryDirectory(prefix="protonn-edge-objects-")
atexit.register(_OBJECTS.cleanup)
_DEADLINE_S = 90.0


@dataclass(frozen=True)
class Measured:
    """What the program says of n points: labels, cycles and perhaps values (n,), scores (n, L)."""

    labels: np.ndarray
    cycles: np.ndarray
    scores: np.ndarray
    stack_bytes: int  # the deepest stack
    values: np.ndarray | None = None  # of a model that predicts a number


def build_program(model: IntegerChain, plan: Plan, folder: Path, level: str = OWN_LEVEL) -> Path:
    """Compile the program of a model with a plan at a level of optimization."""
    generated = folder / "generated"
    generated.mkdir(parents=True, exist_ok=True)
    write_c(model, generated, plan)
    (folder / "main.c").write_text(_MAIN)
    elf, compiled = folder / "program.elf", model_object(folder)
    _compile(level, "-c", generated / "pnn_model.c", "-o", compiled, folder=folder)
    around = [_FIRMWARE / "prediction.c", folder / "main.c", *_objects()]
    _compile(level, *_LINKING, f"-I{folder}", *around, compiled, "-o", elf, folder=folder)
    return elf


def model_object(folder: Path) -> Path:
    """Return the object file of the model alone, which `build_program` leaves in its folder."""
    return folder / "pnn_model.o"


@cache
def _objects() -> list[Path]:
    """Compile what is the same for all models once; their interrupt handlers are no sketch's."""
    folder = Path(_OBJECTS.name)
    _compile(OWN_LEVEL, "-c", *(_FIRMWARE / name for name in _SOURCES), folder=folder)
    return [folder / Path(name).with_suffix(".o") for name in _SOURCES]


def _compile(level: str, *arguments: str | Path, folder: Path) -> None:
    command = ["avr-gcc", *FLAGS, *level.split(), f"-I{_FIRMWARE}", *arguments]
    subprocess.run(command, check=True, timeout=60, cwd=folder)


def measure(
    elf: Path, model: IntegerChain, Q: np.ndarray, facts: StatedFacts | None = None
) -> Measured:
    """Return what a program answers to points (n, features) uint8, sent one at a time.

    Its labels' facts are checked, if they are given.
    """
    answer = np.dtype(
        [
            ("label", "u1"),
            ("cycles", "<u4"),
            ("scores", f"<i{model.own_stages[-1].output.bits // 8}", model.n_classes),
            *([("value", "<i4")] if model.policy.predicts == "value" else []),
        ]
    )
    received = b""
    facts = facts or StatedFacts()
    with (
        EmulatedUno(elf, watch=facts.watch) as uno,
        socket.create_connection(("127.0.0.1", uno.port)) as line,
    ):
        line.settimeout(_DEADLINE_S)
        for point in Q:
            line.sendall(point.tobytes())
            received += answer_on(line, answer.itemsize)
        stats = uno.stats()
        assert (stats.faults, stats.overruns) == ((), 0)
        assert len(stats.passes) == len(facts.sums)
        facts.check(stats)
    answers = np.frombuffer(received, answer)
    scores = answers["scores"].reshape(len(Q), model.n_classes)
    cycles = answers["cycles"].astype(np.int64)
    values = answers["value"] if model.policy.predicts == "value" else None
    return Measured(answers["label"], cycles, scores, stats.stack_bytes, values)
