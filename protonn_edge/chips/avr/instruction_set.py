"""The instructions of an AVR: what they do to operands and flags, their cycles and their words.

The table has the names of decoded instructions and those that only assembly has, such as ``clr``.
It serves listings (`protonn_edge.codegen.kernels.listing`), the analysis of linked programs, and
the tests of assembly. Cycles are of data sheet 8271, chapter 31; the rest follows the AVR
Instruction Set Manual (DS40002198).
"""

from __future__ import annotations

from typing import NamedTuple


class Effect(NamedTuple):
    """A line of the table."""

    # a letter for each operand: a register that is read (r), written (w) or both (u), in capitals a
    # pair of registers; an address through a pointer (p); anything else (-)
    operands: str
    cycles: int  # if it goes on to the next instruction, or always goes elsewhere
    reads_flags: bool
    sets_flags: bool
    words: int

    @property
    def writes_operand(self) -> bool:
        """Whether it changes a register that it names."""
        return not {*self.operands}.isdisjoint("uwUW")


# Names, operands, cycles, and whether flags are read (r) or set (s); two words are marked with 2.
_TABLE = """
add sub and or eor                    ur 1 s
adc sbc                               ur 1 rs
cp                                    rr 1 s
cpc                                   rr 1 rs
cpse                                  rr 1 .
mul muls mulsu fmul fmuls fmulsu      rr 2 s
com neg inc dec lsl lsr asr           u  1 s
rol ror                               u  1 rs
swap                                  u  1 .
subi andi ori                         u- 1 s
sbci                                  u- 1 rs
bld                                   u- 1 .
tst                                   r  1 s
cpi                                   r- 1 s
bst sbrc sbrs                         r- 1 .
clr                                   w  1 s
ser                                   w  1 .
ldi in                                w- 1 .
lds                                   w- 2 . 2
push                                  r  2 .
pop                                   w  2 .
out                                   -r 1 .
sts                                   -r 2 . 2
ld ldd                                wp 2 .
lpm elpm                              wp 3 .
st std                                pr 2 .
mov                                   wr 1 .
movw                                  WR 1 .
adiw sbiw                             U- 2 s
bset bclr                             -  1 s
set clt cli sei nop wdr sleep break spm . 1 .
sbi cbi                               -- 2 .
sbic sbis                             -- 1 .
brbs brbc                             -- 1 r
jmp                                   -  3 . 2
rjmp                                  -  2 .
ijmp eijmp                            .  2 .
call                                  -  4 . 2
rcall                                 -  3 .
icall eicall                          .  3 .
ret reti                              .  4 .
"""


def _lines() -> dict[str, Effect]:
    effects: dict[str, Effect] = {}
    for line in _TABLE.strip().splitlines():
        cells = line.split()
        words = int(cells.pop()) if cells[-1].isdigit() else 1
        *names, operands, cycles, flags = cells
        of_all = Effect(operands.strip("."), int(cycles), "r" in flags, "s" in flags, words)
        effects |= dict.fromkeys(names, of_all)
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
