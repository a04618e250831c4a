"""The instructions of an AVR: what they do to registers that they name, their cycles and words.

It serves listings (`protonn_edge.codegen.kernels.listing`) and the analysis of linked programs.
Cycles are of data sheet 8271, chapter 31; the rest follows the AVR Instruction Set Manual
(DS40002198).
"""

from __future__ import annotations

from typing import NamedTuple


class Effect(NamedTuple):
    """A line of the table."""

    # a letter for each operand: a register that is read (r), written (w) or both (u), in capitals a
    # pair of registers; an address through a pointer (p); anything else (-)
    operands: str
    cycles: int  # if it goes on to the next instruction, or always goes elsewhere
    words: int


# Names, operands, cycles, and words if there are two.
_TABLE = """
add sub and or eor adc sbc       ur 1
cp cpc cpse                      rr 1
mul muls mulsu fmul fmuls fmulsu rr 2
com neg inc dec lsr asr ror swap u  1
subi andi ori sbci bld           u- 1
cpi bst sbrc sbrs                r- 1
ldi in                           w- 1
lds                              w- 2 2
push                             r  2
pop                              w  2
out                              -r 1
sts                              -r 2 2
ld ldd                           wp 2
lpm elpm                         wp 3
st std                           pr 2
mov                              wr 1
movw                             WR 1
adiw sbiw                        U- 2
bset bclr                        -  1
nop wdr sleep break spm          .  1
sbi cbi                          -- 2
sbic sbis brbs brbc              -- 1
jmp                              -  3 2
rjmp                             -  2
ijmp eijmp                       .  2
call                             -  4 2
rcall                            -  3
icall eicall                     .  3
ret reti                         .  4
"""


def _lines() -> dict[str, Effect]:
    effects: dict[str, Effect] = {}
    for line in _TABLE.strip().splitlines():
        cells = line.split()
        words = int(cells.pop()) if cells[-2].isdigit() else 1
        *names, operands, cycles = cells
        effects |= dict.fromkeys(names, Effect(operands.strip("."), int(cycles), words))
    return effects


EFFECTS = _lines()
"""The effects of instructions, by name."""

PRODUCTS = frozenset({"mul", "muls", "mulsu", "fmul", "fmuls", "fmulsu"})
"""Instructions whose result is in r1:r0."""

JUMPS = frozenset({"jmp", "rjmp"})
CALLS = frozenset({"call", "rcall"})
BRANCHES = frozenset({"brbs", "brbc"})
SKIPS = frozenset({"cpse", "sbrc", "sbrs", "sbic", "sbis"})
RETURNS = frozenset({"ret", "reti"})
WITH_RETURN_ADDRESS = frozenset({"rcall", "icall", "eicall", "call", "ret", "reti"})

TAKEN_BRANCH = 1
"""Extra cycles of a taken branch. A skip takes a cycle per skipped word."""

EEPROM_CYCLES = {0: 4, 1: 2}
"""How long the CPU stops after the bits EERE and EEPE of EECR are set (data sheets 8271, 8.4, and
2586, 5.3)."""

KEPT_BY_CALLEE = range(2, 18)
"""Registers that a function must save before it changes them, besides the pointer Y."""
