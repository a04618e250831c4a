"""What teaching takes of an Uno, compiled as a sketch is, beside the same model without it."""

from __future__ import annotations

from pathlib import Path

from avr_programs import compile_text
from avr_tools import needs_avr_gcc
from chains import replace as with_numbers
from generated_programs import write_c
from model_factory import random_model

from protonn_edge.chips.avr.program import read_program
from protonn_edge.model.quantization import quantize

SIZES = {"projections": 12, "features": 14, "classes": 6}
FLASH, SRAM = 1_256, 64

_SKETCH = """
#include "pnn_model.h"
volatile uint8_t in;
int main(void)
{
    static pnn_input_t features[PNN_FEATURES];
#ifdef PNN_TEACHABLE
    in = pnn_recall();
#endif
    for (;;) {
        features[0] = in;
        in = pnn_predict(features);
#ifdef PNN_TEACHABLE
        pnn_learn(in);
        pnn_forget(in);
        pnn_forget_all();
        in = pnn_taught();
#endif
    }
}
"""


@needs_avr_gcc
def test_39_examples_of_12_coordinates_take_little_flash_and_sram(tmp_path: Path) -> None:
    found = []
    for room in (0, 39):
        folder = tmp_path / str(room)
        folder.mkdir()
        write_c(quantize(with_numbers(random_model(**SIZES), teachable=room)), folder)
        flags = ("-Os", "-flto", "-ffunction-sections", "-fdata-sections", "-Wl,--gc-sections")
        elf = compile_text(_SKETCH, folder / "sketch.elf", *flags, "-I.", "pnn_model.c")
        found.append(read_program(elf).sections)
    without, with_teaching = found
    assert with_teaching.flash_bytes - without.flash_bytes <= FLASH
    point = SIZES["projections"]
    assert with_teaching.sram_bytes - without.sram_bytes - point <= SRAM
