"""What pnn_begin takes: the check of the time without interrupts counts on a bound."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from avr_tools import needs_emulated_avr
from model_factory import random_model, random_reduced_model

from protonn_edge.codegen import render_c
from protonn_edge.emulator import EmulatedUno
from protonn_edge.linkage import begin_cycles
from protonn_edge.quantization import device_model
from protonn_edge.reduction import Reduction

pytestmark = needs_emulated_avr

BEGIN = """
#include <avr/io.h>
#include "pnn_model.h"
int main(void)
{
    GPIOR0 = 1;
    pnn_begin();
    GPIOR0 = 0;
    for (;;) {
    }
}
"""
MODELS = {
    "one output": (random_model(projections=1), "int8"),
    "many outputs": (random_model(projections=40), "int8"),
    "wide sums": (random_model(features=100, projections=20, gamma_numerator=25.0), "int8"),
    "image": (random_reduced_model(Reduction((28, 28), (24, 24), (12, 12))), "int8"),
    "wide image": (random_reduced_model(Reduction((40, 200), (40, 200), (20, 100))), "int8"),
    "floats": (random_model(), "float32"),
}


@pytest.mark.parametrize("name", MODELS)
def test_beginning_stays_within_its_bound(tmp_path: Path, name: str) -> None:
    model = device_model(*MODELS[name])
    for file, text in {**render_c(model), "begin.c": BEGIN}.items():
        (tmp_path / file).write_text(text)
    elf = tmp_path / "begin.elf"
    sources = [tmp_path / "begin.c", tmp_path / "pnn_model.c"]
    command = ["avr-gcc", "-mmcu=atmega328p", "-std=gnu99", "-O2", "-o", elf, *sources, "-lm"]
    subprocess.run(command, check=True, timeout=60)
    with EmulatedUno(elf) as uno:
        while (stats := uno.stats()).marked_spans == 0:
            assert stats.cycles < 16_000_000, stats
    assert 0 < stats.marked_cycles <= begin_cycles(model)
