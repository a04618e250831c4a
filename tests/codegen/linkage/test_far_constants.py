"""Constants that the generated code cannot read are noticed, before the link and after it."""

from __future__ import annotations

from avr_programs import compile_text
from avr_tools import needs_avr_gcc
from model_factory import random_model
from plans import with_first_cost
from refusals import refused_by

from protonn_edge.chips.avr.program import read_program
from protonn_edge.chips.boards import load_board
from protonn_edge.codegen.families.avr.checks import check_constants_within_reach
from protonn_edge.codegen.planner import Limits, make_plan
from protonn_edge.kinds.protonn.head import ProtoNNHead
from protonn_edge.model.quantization import quantize
from protonn_edge.system.errors import CheckFailed

SOURCE = """
#include <avr/io.h>
#include <avr/pgmspace.h>
const char low[32000] PROGMEM = {1};
const char middle[32000] PROGMEM = {2};
const char high[SIZE] PROGMEM = {3};
#define READ(table) pgm_read_byte(&table[PINB])
int main(void) { for (;;) PORTB = READ(low) + READ(middle) + READ(high); }
"""


@needs_avr_gcc
def test_constants_beyond_64_kb_are_refused(tmp_path):
    elf = tmp_path / "far.elf"
    compile_text(SOURCE, elf, "-Os", "-DSIZE=1000", mcu="atmega2560")
    check_constants_within_reach(read_program(elf), ProtoNNHead.remedies)
    compile_text(SOURCE, elf, "-Os", "-DSIZE=2000", mcu="atmega2560")
    with refused_by("codegen.families.avr.checks", kind=CheckFailed):
        check_constants_within_reach(read_program(elf), ProtoNNHead.remedies)


def test_a_plan_with_more_constants_than_can_be_read_does_not_fit():
    limits = Limits.of(load_board("mega2560"))
    plan = make_plan(quantize(random_model()), limits)
    assert limits.hold(plan)
    assert not limits.hold(with_first_cost(plan, tables=64_000))
