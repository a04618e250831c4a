"""Cycles of instructions, and of each way on from them, compared with the emulated chip's."""

from __future__ import annotations

import struct
from pathlib import Path

from avr_programs import compile_text
from avr_tools import needs_emulated_avr
from generated_programs import printed_by_uno

from protonn_edge.chips.avr.paths import Paths, paths_through
from protonn_edge.chips.avr.program import read_program

# A function each, but for its return. Of two ways both are here; the other one has more cycles.
STRAIGHT = (
    "nop\nadd r24, r25\nadc r24, r25\nsub r24, r25\nsubi r24, 3\nsbc r24, r25\nsbci r24, 3",
    "and r24, r25\nandi r24, 3\nor r24, r25\nori r24, 3\neor r24, r25\ncom r24\nneg r24",
    "inc r24\ndec r24\nlsr r24\nror r24\nasr r24\nswap r24\nbset 6\nbclr 6\nbst r24, 1\nbld r24, 2",
    "cp r24, r25\ncpc r24, r25\ncpi r24, 3\nmov r24, r25\nmovw r24, r22\nldi r24, 3\nin r24, 0x3f",
    "adiw r24, 3\nsbiw r24, 3",
    "mul r24, r25\nclr r1",
    "muls r24, r25\nmulsu r20, r21\nfmul r20, r21\nfmuls r20, r21\nfmulsu r20, r21\nclr r1",
    "ldi r30, 0\nldi r31, 2\nld r24, Z\nld r24, Z+\nld r24, -Z\nldd r24, Z+3\nst Z, r24",
    "ldi r26, 0\nldi r27, 2\nld r24, X\nld r24, X+\nld r24, -X\nst X, r24\nst X+, r24\nst -X, r24",
    "lds r24, 0x0200\nsts 0x0200, r24",
    "push r24\npop r24",
    "ldi r30, 0\nldi r31, 0\nlpm\nlpm r24, Z\nlpm r24, Z+\nmov r0, r1",
    "sbi 0x1e, 3\ncbi 0x1e, 3\nout 0x2b, r24",
    "rjmp 1f\nnop\n1: jmp 2f\nnop\n2:",
    "rcall leaf\ncall leaf",
    "rcall .\npop r24\npop r24",
)
SHORTER = (
    "sec\nbrcs 1f\nnop\nnop\nnop\n1:",
    "clz\nbrne 1f\nnop\nnop\nnop\n1:",
    "ldi r24, 2\nsbrc r24, 0\nrcall leaf",
    "ldi r24, 2\nsbrs r24, 1\ncall leaf",
    "ldi r24, 2\nmov r25, r24\ncpse r24, r25\nrcall leaf",
    "cbi 0x1e, 3\nsbic 0x1e, 3\ncall leaf",
    "sbi 0x1e, 3\nsbis 0x1e, 3\nrcall leaf",
)
LONGER = (
    "clc\nbrcs 1f\nnop\nnop\nnop\n1:",
    "sez\nbrne 1f\nnop\nnop\nnop\n1:",
    "ldi r24, 3\nsbrc r24, 0\nrcall leaf",
    "ldi r24, 0\nsbrs r24, 1\ncall leaf",
    "ldi r24, 2\nldi r25, 1\ncpse r24, r25\nrcall leaf",
    "sbi 0x1e, 3\nsbic 0x1e, 3\ncall leaf",
    "cbi 0x1e, 3\nsbis 0x1e, 3\nrcall leaf",
)
PIECES = ("", *STRAIGHT, *SHORTER, *LONGER)  # the first one takes nothing but a return

_MAIN = """
#include <avr/io.h>
#include <stdint.h>
__asm__(".text\\n.global leaf\\n.type leaf, @function\\nleaf: ret\\n.size leaf, .-leaf\\n"
        FUNCTIONS);
static void measure(void (*function)(void))
{
    uint16_t start, end;
    TCCR1B = 1;
    __asm__ volatile("lds %A0, 0x84\\nlds %B0, 0x85\\nicall\\nlds %A1, 0x84\\nlds %B1, 0x85\\n"
                     : "=&l"(start), "=&l"(end)
                     : "z"(function)
                     : "r0", "r20", "r21", "r22", "r23", "r24", "r25", "r26", "r27", "memory");
    end -= start;
    for (uint8_t i = 0; i < 2; ++i) {
        while (!(UCSR0A & 1 << UDRE0)) {
        }
        UDR0 = (uint8_t)(i ? end >> 8 : end);
    }
}
DECLARED
int main(void)
{
    UBRR0 = 0;
    UCSR0B = 1 << TXEN0;
    MEASURED
    for (;;) {
    }
}
"""


def _program(elf: Path, pieces: tuple[str, ...], mcu: str = "atmega328p") -> Path:
    text, numbers = _MAIN, range(len(pieces))
    functions = "\n".join(
        f'"f{n}: {piece}\n ret\n.size f{n}, .-f{n}\n.global f{n}\n.type f{n}, @function\n"'.replace(
            "\n", "\\n"
        )
        for n, piece in enumerate(pieces)
    )
    text = text.replace("FUNCTIONS", functions.replace('"\\n"', '"\n"'))
    text = text.replace("DECLARED", "".join(f"void f{n}(void);\n" for n in numbers))
    text = text.replace("MEASURED", "".join(f"measure(f{n});\n" for n in numbers))
    return compile_text(text, elf, "-O2", mcu=mcu)


def _paths(elf: Path, pieces: tuple[str, ...]) -> list[Paths]:
    program = read_program(elf)
    return [paths_through(program, f"f{n}") for n in range(len(pieces))]


@needs_emulated_avr
def test_cycles_of_every_class_of_instructions_are_the_emulated_chips(tmp_path: Path) -> None:
    elf = _program(tmp_path / "pieces.elf", PIECES)
    measured = struct.unpack(f"<{len(PIECES)}H", printed_by_uno(elf, 2 * len(PIECES)))
    cycles = [each - measured[0] for each in measured[1:]]
    for piece, taken, paths in zip(PIECES[1:], cycles, _paths(elf, PIECES)[1:], strict=True):
        shortest, longest = paths.shortest.cycles - 4, paths.longest.cycles - 4
        assert taken == (shortest if piece in SHORTER else longest), piece
        assert (shortest == longest) == (piece in STRAIGHT), piece
