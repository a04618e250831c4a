"""Chips with other return addresses and vectors than the Uno's: stack, interrupts, jumps."""

from __future__ import annotations

import pytest
from avr_programs import compile_text
from avr_tools import needs_avr_gcc
from refusals import refused_by

from protonn_edge.chips.avr.functions import interrupt_handlers
from protonn_edge.chips.avr.instructions import decode
from protonn_edge.chips.avr.interrupts import masked_spans
from protonn_edge.chips.avr.program import read_program
from protonn_edge.chips.avr.stack import worst_case_stack
from protonn_edge.chips.cores import CORES

pytestmark = needs_avr_gcc

NESTED = """
#include <avr/interrupt.h>
#include <avr/io.h>
#define SEPARATE __attribute__((noinline, noclone))
#define NOPS(n) __asm__ volatile(".rept " #n "\\n nop\\n .endr")
SEPARATE void inner(void) { NOPS(10); }
SEPARATE void outer(void) { inner(); NOPS(1); inner(); NOPS(1); }
ISR(TIMER1_OVF_vect, ISR_NAKED) { __asm__ volatile("reti"); }
int main(void) { cli(); outer(); sei(); for (;;) {} }
"""
CHIPS = [("atmega328p", "avr5"), ("atmega2560", "avr6"), ("attiny85", "avr25")]


@pytest.fixture
def compile_for(tmp_path):
    def compile_with(text: str, mcu: str, *flags: str):
        return compile_text(text, tmp_path / f"{mcu}.elf", "-O2", *flags, mcu=mcu)

    return compile_with


@pytest.mark.parametrize(("mcu", "core"), CHIPS)
def test_a_firmware_says_for_what_kind_of_chip_it_is(compile_for, mcu, core):
    program = read_program(compile_for(NESTED, mcu))
    assert program.core is CORES[core]
    assert len(interrupt_handlers(program)) == 1


@pytest.mark.parametrize(("mcu", "core"), CHIPS)
def test_return_addresses_take_their_bytes(compile_for, mcu, core):
    report = worst_case_stack(read_program(compile_for(NESTED, mcu)))
    assert report.path[:3] == ("main", "outer", "inner")
    assert report.bytes == 4 * CORES[core].return_bytes  # of main, outer, inner, the handler


def test_calls_and_handlers_take_longer_with_three_byte_return_addresses(compile_for):
    uno, mega = (
        masked_spans(read_program(compile_for(NESTED, mcu))) for mcu in ("atmega328p", "atmega2560")
    )
    calls = 3  # of outer, and of inner twice
    assert mega.program.cycles == uno.program.cycles + 2 * calls
    (on_uno,), (on_mega,) = uno.handlers.values(), mega.handlers.values()
    assert on_uno.cycles == 4 + 3 + 4  # the response, a JMP, the RETI
    assert on_mega.cycles == on_uno.cycles + 2
    (on_tiny,) = masked_spans(read_program(compile_for(NESTED, "attiny85"))).handlers.values()
    assert on_tiny.cycles == on_uno.cycles - 1


def test_short_jumps_go_on_at_the_other_end_of_a_small_flash(compile_for):
    far = NESTED.replace("int main", "SEPARATE void fill(void) { NOPS(3000); }\nint main")
    far = far.replace("for (;;) {}", "for (;;) fill();")
    assert worst_case_stack(read_program(compile_for(far, "attiny85"))).bytes == 4 * 2
    back = bytes([0xFF, 0xCF])  # rjmp .-2
    assert decode(back, 0).operands["k"] == 0
    farther = bytes([0x00, 0xC8])  # rjmp .-4096
    assert decode(farther, 0).operands["k"] == -4094
    assert decode(farther, 0, 0x2000).operands["k"] == 0x2000 - 4094


def test_a_chip_of_another_kind_is_refused(compile_for):
    elf = compile_for("int main(void) { return 0; }", "atxmega128a1")
    with refused_by("chips.avr.program"):
        read_program(elf)
