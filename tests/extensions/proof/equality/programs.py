"""Linked programs that call a model's ``pnn_predict``."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

from generated_programs import write_c
from laws.conformance.instances import Program

from protonn_edge.chips.avr.program import LinkedProgram, read_program
from protonn_edge.codegen.plan import Plan
from protonn_edge.model.integer_chain import IntegerChain

_MAIN = """
#include "pnn_model.h"
static pnn_input_t features[PNN_FEATURES];
volatile uint8_t answer;
volatile pnn_score_t total;
int main(void)
{
    for (uint16_t i = 0; i < PNN_FEATURES; ++i) {
        features[i] = answer;
    }
    answer = pnn_predict(features);
#ifndef ONCE
    pnn_begin();
    pnn_push_many(features, PNN_FEATURES);
    answer = pnn_finish();
#endif
    for (uint8_t label = 0; label < PNN_CLASSES; ++label) {
        total += pnn_scores()[label];
    }
    return 0;
}
"""
_LARGE = "-Wl,--defsym=__TEXT_REGION_LENGTH__=0x10000"  # more than an Uno has, for many programs


def linked(
    model: IntegerChain,
    plan: Plan,
    folder: Path,
    *flags: str,
    mcu: str = "atmega328p",
    change: Callable[[str], str] = str,
) -> LinkedProgram:
    """Return a program of generated C, perhaps changed, linked with a `main` that calls it."""
    write_c(model, folder, plan)
    source = folder / "pnn_model.c"
    text = change(source.read_text())
    source.write_text(text)
    (folder / "main.c").write_text(_MAIN)
    command = ["avr-gcc", f"-mmcu={mcu}", "-std=gnu99", "-w", *(flags or ("-O2",)), _LARGE]
    command += ["main.c", "pnn_model.c", "-o", "program.elf"]
    subprocess.run(command, check=True, cwd=folder, timeout=120)
    return read_program(folder / "program.elf").attributed("pnn_model.c", text)


def linked_program(program: Program, folder: Path, *flags: str) -> LinkedProgram:
    """Return a program of conformance."""
    return linked(program.instance.model, program.plan, folder, *flags)
