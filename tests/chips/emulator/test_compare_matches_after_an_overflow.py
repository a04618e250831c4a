"""A compare match right after a timer's overflow is not lost, whatever instruction is running.

simavr 1.6 by itself loses it if that instruction ends later than the match.
"""

from __future__ import annotations

from avr_programs import compile_text
from avr_tools import needs_emulated_avr

from protonn_edge.chips.boards import load_board
from protonn_edge.chips.emulator import EmulatedBoard

pytestmark = needs_emulated_avr

LEADS, MATCHES = 7, 4

# A call and its return take 7 cycles, and a lead of 3 cycles more or less shifts them: the overflow
# falls into each of those cycles. A match that came makes a marked span.
COUNTS = f"""
#include <avr/io.h>
#define TIFR TIFR0
int main(void) {{
    TCCR0B = _BV(CS00);
    for (unsigned char lead = 1; lead <= {LEADS}; lead++) {{
        for (unsigned char match = 0; match < {MATCHES}; match++) {{
            unsigned char left = lead;
            TCNT0 = 0xC0;
            OCR0A = match;
            TIFR = _BV(OCF0A);
            __asm__ volatile(
                "1: dec %0\\n brne 1b\\n"
                ".rept 12\\n rcall 2f\\n .endr\\n"
                "rjmp 3f\\n"
                "2: ret\\n"
                "3:\\n" : "+r"(left));
            if (TIFR & _BV(OCF0A)) {{
                GPIOR0 = 1;
                GPIOR0 = 0;
            }}
        }}
    }}
    for (;;) {{}}
}}
"""


def test_no_match_is_passed_over(tmp_path):
    board = load_board("uno")
    elf = compile_text(COUNTS, tmp_path / "counts.elf", "-Os", mcu=board.mcu)
    with EmulatedBoard(elf, board=board) as emulated:
        while (stats := emulated.stats()).cycles < 100_000:
            pass
    assert stats.faults == ()
    assert stats.marked_spans == LEADS * MATCHES
