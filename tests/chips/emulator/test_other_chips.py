"""Other chips than the Uno's in the emulator: memories, and cycles of interrupts."""

from __future__ import annotations

import pytest
from avr_programs import compile_text
from avr_tools import needs_emulated_avr

from protonn_edge.chips.boards import load_board
from protonn_edge.chips.emulator import EmulatedBoard

pytestmark = needs_emulated_avr

SPANS = r"""
#include <avr/interrupt.h>
#include <avr/io.h>
ISR(TIMER0_OVF_vect, ISR_NAKED) { __asm__ volatile("reti"); }
int main(void) {
    TIMER0_MASK = _BV(TOIE0);
    TCCR0B = _BV(CS00);
    TCNT0 = 0xE8; /* overflows in the last span */
    __asm__ volatile(
        "ldi r24, 1\n"
        "out %0, r24\n out %0, r1\n"
        "out %0, r24\n rcall 1f\n out %0, r1\n"
        "out %0, r24\n sei\n .rept 40\n nop\n .endr\n cli\n out %0, r1\n"
        "rjmp 2f\n"
        "1: ret\n"
        "2:\n" :: "I"(_SFR_IO_ADDR(GPIOR0)) : "r24");
    for (;;) {}
}
"""
STRAY = "int main(void) { *(volatile unsigned char *)ADDRESS = 1; for (;;) {} }"


@pytest.fixture
def compile_for(tmp_path):
    def compile_with(text: str, mcu: str, *flags: str):
        return compile_text(text, tmp_path / f"{mcu}.elf", "-Os", *flags, mcu=mcu)

    return compile_with


def settled(emulated):
    while (stats := emulated.stats()).cycles < 100_000:
        pass
    return stats


@pytest.mark.parametrize(
    ("name", "mask", "call", "interrupt"),
    [
        ("uno", "TIMSK0", 3 + 4, 4 + 3 + 4),  # RCALL and RET; the response, JMP and RETI
        ("mega2560", "TIMSK0", 4 + 5, 5 + 3 + 5),
    ],
)
def test_calls_and_interrupts_take_the_cycles_of_the_chip(compile_for, name, mask, call, interrupt):
    board = load_board(name)
    elf = compile_for(SPANS, board.mcu, f"-DTIMER0_MASK={mask}")
    with EmulatedBoard(elf, board=board) as emulated:
        stats = settled(emulated)
    assert (stats.marked_spans, stats.faults) == (3, ())
    outs, switches_and_nops = 3, 1 + 40 + 1
    assert stats.marked_cycles == outs + call + switches_and_nops + interrupt


def test_a_stray_write_is_one_past_the_chips_own_sram(compile_for):
    board, end = load_board("mega2560"), 0x21FF
    elf = compile_for(STRAY, board.mcu, f"-DADDRESS={end}")
    with EmulatedBoard(elf, board=board) as emulated:
        assert settled(emulated).faults == ()
    elf = compile_for(STRAY, board.mcu, f"-DADDRESS={end + 1}")
    with EmulatedBoard(elf, board=board) as emulated:
        while not (faults := emulated.stats().faults):
            pass
    assert (
        f"writes to address 0x{end + 1:04x}, past the end of the SRAM at 0x{end:04x}" in faults[0]
    )
