"""A switch whose cases were not found: a local label of the assembler stood for its function.

Binutils from 2.43 on, those of Debian 13, keep local labels of inline assembly in the symbol table.
Such a label has no size, so the code behind it belonged to no function. Older assemblers keep them
with ``-L``, but not those that stand for the place of an expression.
"""

from __future__ import annotations

from pathlib import Path

from avr_programs import compile_text
from avr_tools import AVR_GCC, skip_without

from protonn_edge.chips.avr.program import read_program
from protonn_edge.chips.avr.stack import worst_case_stack

_FIRMWARE = """
#include <stdint.h>
volatile uint8_t sink;
__attribute__((noinline)) static uint8_t choose(uint8_t which)
{
    __asm__ volatile("1: dec %0\\n brne 1b\\n .Lhere: nop\\n L0_: nop\\n" : "+r"(which));
    switch (which) {
    case 0: sink = 7; return 3;
    case 1: sink = 9; return 1;
    case 2: sink = 2; return 8;
    case 3: sink = 5; return 4;
    case 4: sink = 6; return 9;
    case 5: sink = 1; return 5;
    case 6: sink = 3; return 6;
    case 7: sink = 8; return 2;
    }
    return 0;
}
int main(void) { sink = choose(sink); return 0; }
"""


def test_cases_of_a_switch_behind_a_local_label_are_found(tmp_path: Path) -> None:
    skip_without(*AVR_GCC)
    elf = compile_text(_FIRMWARE, tmp_path / "firmware.elf", "-O2", "-Wa,-L")
    elf.write_bytes(elf.read_bytes().replace(b"\0L0_\0", b"\0L0\x01\0"))  # for `.` in an expression
    assert all(name in elf.read_bytes() for name in (b"\0.Lhere\0", b"\0L0\x01\0"))
    program = read_program(elf)
    assert any(symbol.name == "__tablejump2__" for symbol in program.symbols)
    assert worst_case_stack(program).bytes == 4  # the calls of main() and of choose()
