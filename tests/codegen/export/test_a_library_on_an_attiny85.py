"""A library answers on a chip without a multiplier or a USART, for which there is no firmware.

The compiler copied the biases of wide layers from SRAM there.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from avr_programs import compile_text
from avr_tools import needs_emulated_avr
from call_meter import measured_calls
from convolution_factory import random_convolution
from convolution_factory import random_model as random_network
from generated_programs import write_c
from model_factory import random_inputs, random_model

from protonn_edge.chips.boards import load_export_board
from protonn_edge.codegen.planner import Limits, make_plan
from protonn_edge.features.convolution.making import layered
from protonn_edge.model.model import Model
from protonn_edge.model.quantization import quantize

pytestmark = needs_emulated_avr

PROGRAM = """
#include "pnn_model.h"
#include <avr/pgmspace.h>

static const pnn_input_t points[{n}][PNN_FEATURES] PROGMEM = {{ {points} }};
static const uint8_t classes[{n}] PROGMEM = {{ {classes} }};
static const int16_t scores[{n}] PROGMEM = {{ {scores} }}; /* of the first class */

__attribute__((noinline)) void right(void) {{ __asm__ volatile(""); }}
__attribute__((noinline)) void wrong(void) {{ __asm__ volatile("nop"); }}

int main(void)
{{
    static pnn_input_t point[PNN_FEATURES];
    for (uint8_t i = 0; i < {n}; ++i) {{
        memcpy_P(point, points[i], PNN_FEATURES);
        if (pnn_predict(point) == pgm_read_byte(&classes[i]) &&
            (int16_t)pnn_scores()[0] == (int16_t)pgm_read_word(&scores[i])) {{
            right();
        }} else {{
            wrong();
        }}
    }}
    for (;;) {{}}
}}
"""


@pytest.mark.parametrize(
    "model",
    [random_model(), random_network(layered((random_convolution(0, (5, 5, 1), 11),)))],
    ids=["protonn", "eleven channels"],
)
def test_it_gives_the_reference_answers(model: Model, tmp_path: Path) -> None:
    chain, n = quantize(model), 12
    Q = random_inputs(1, n, chain)
    classes, scores = chain.answers(Q)
    firsts = scores[:, 0].astype(np.int16).tolist()
    assert len(set(firsts)) > 1
    rows = ", ".join("{" + ", ".join(map(str, row)) + "}" for row in Q.tolist())
    listed = (", ".join(map(str, each)) for each in (classes.tolist(), firsts))
    text = PROGRAM.format(n=n, points=rows, **dict(zip(("classes", "scores"), listed, strict=True)))
    write_c(chain, tmp_path, make_plan(chain, Limits.of(load_export_board("attiny85"))))
    elf = compile_text(text, tmp_path / "program.elf", "-Os", "pnn_model.c", mcu="attiny85")
    calls = measured_calls(elf, "attiny85", ["right", "wrong"], 8_000_000).calls
    assert (calls["right"].count, calls["wrong"].count) == (n, 0)
