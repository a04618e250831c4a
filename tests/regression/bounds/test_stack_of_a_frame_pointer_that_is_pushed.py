"""The stack is bounded where assembly pushes the frame pointer, uses it and pops it again."""

from __future__ import annotations

from pathlib import Path

from avr_programs import compile_text
from avr_tools import needs_avr_gcc

from protonn_edge.chips.avr.program import read_program
from protonn_edge.chips.avr.stack import worst_case_stack

PROGRAM = """
#include <avr/io.h>
static __attribute__((noinline)) void fill(volatile uint8_t *bytes) { bytes[PINB & 7] = 1; }
int main(void)
{
    volatile uint8_t local[8];
    fill(local);
    __asm__ volatile("push r28\\n push r29\\n clr r28\\n ldi r29, 7\\n pop r29\\n pop r28\\n");
    return local[PINC & 7];
}
"""


@needs_avr_gcc
def test_the_frame_is_known_after_the_pops(tmp_path: Path) -> None:
    report = worst_case_stack(read_program(compile_text(PROGRAM, tmp_path / "program.elf", "-O2")))
    assert 8 + 2 + 2 <= report.bytes <= 24
