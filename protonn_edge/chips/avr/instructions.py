"""Decode AVR machine code for control flow, the stack pointer and cycles.

The stack analysis thus needs no disassembler, which PlatformIO does not put on PATH. The encodings
come from the AVR Instruction Set Manual, without instructions that chips like the ATmega328P lack.
Cycles are in `instruction_set` (AVRe+; AVRe lacks the products and otherwise takes the same). With
return addresses of 3 bytes, an instruction that pushes or pops one takes a cycle
more (data sheet 2549, chapter 34).
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import NamedTuple

from protonn_edge.chips.avr.instruction_set import (
    EEPROM_CYCLES,
    EFFECTS,
    PRODUCTS,
    WITH_RETURN_ADDRESS,
)
from protonn_edge.chips.cores import Core

_EEPROM_CONTROL = (0x1C, 0x1F)
"""EECR, which is at one of two addresses."""

# One line per instruction: its name and its bits. A letter is a bit of an operand: d and r are
# registers, K is a constant, k an address or a distance, A an I/O register, b and s a bit number, q
# an offset. A third column names the pointer that the instruction moves: 26 is X, 28 Y, 30 Z; it is
# negative if the pointer is decremented before its use.
_ENCODINGS = """
nop    0000000000000000
movw   00000001ddddrrrr
muls   00000010ddddrrrr
mulsu  000000110ddd0rrr
fmul   000000110ddd1rrr
fmuls  000000111ddd0rrr
fmulsu 000000111ddd1rrr
cpc    000001rdddddrrrr
sbc    000010rdddddrrrr
add    000011rdddddrrrr
cpse   000100rdddddrrrr
cp     000101rdddddrrrr
sub    000110rdddddrrrr
adc    000111rdddddrrrr
and    001000rdddddrrrr
eor    001001rdddddrrrr
or     001010rdddddrrrr
mov    001011rdddddrrrr
cpi    0011KKKKddddKKKK
sbci   0100KKKKddddKKKK
subi   0101KKKKddddKKKK
ori    0110KKKKddddKKKK
andi   0111KKKKddddKKKK
ldd    10q0qq0dddddyqqq
std    10q0qq1dddddyqqq
lds    1001000ddddd0000
ld     1001000ddddd0001 30
ld     1001000ddddd0010 -30
lpm    1001000ddddd0100
lpm    1001000ddddd0101 30
elpm   1001000ddddd0110
elpm   1001000ddddd0111 30
ld     1001000ddddd1001 28
ld     1001000ddddd1010 -28
ld     1001000ddddd1100
ld     1001000ddddd1101 26
ld     1001000ddddd1110 -26
pop    1001000ddddd1111
sts    1001001ddddd0000
st     1001001ddddd0001 30
st     1001001ddddd0010 -30
st     1001001ddddd1001 28
st     1001001ddddd1010 -28
st     1001001ddddd1100
st     1001001ddddd1101 26
st     1001001ddddd1110 -26
push   1001001ddddd1111
com    1001010ddddd0000
neg    1001010ddddd0001
swap   1001010ddddd0010
inc    1001010ddddd0011
asr    1001010ddddd0101
lsr    1001010ddddd0110
ror    1001010ddddd0111
bset   100101000sss1000
bclr   100101001sss1000
dec    1001010ddddd1010
ijmp   1001010000001001
icall  1001010100001001
eijmp  1001010000011001
eicall 1001010100011001
ret    1001010100001000
reti   1001010100011000
sleep  1001010110001000
break  1001010110011000
wdr    1001010110101000
lpm    1001010111001000
elpm   1001010111011000
spm    1001010111101000
spm    1001010111111000
jmp    1001010kkkkk110k
call   1001010kkkkk111k
adiw   10010110KKddKKKK
sbiw   10010111KKddKKKK
cbi    10011000AAAAAbbb
sbic   10011001AAAAAbbb
sbi    10011010AAAAAbbb
sbis   10011011AAAAAbbb
mul    100111rdddddrrrr
in     10110AAdddddAAAA
out    10111AArrrrrAAAA
rjmp   1100kkkkkkkkkkkk
rcall  1101kkkkkkkkkkkk
ldi    1110KKKKddddKKKK
brbs   111100kkkkkkksss
brbc   111101kkkkkkksss
bld    1111100ddddd0bbb
bst    1111101ddddd0bbb
sbrc   1111110ddddd0bbb
sbrs   1111111ddddd0bbb
"""


class Decoded(NamedTuple):
    """One instruction."""

    name: str  # in lower case; conditional branches are ``brbs`` and ``brbc``, ``sei`` is ``bset``
    # in bytes
    address: int
    size: int
    # by the letters of the manual: register numbers as they are, `k` as the byte address of the
    # target or of the data, all else as encoded
    operands: Mapping[str, int]
    moved: int | None = None  # the lower register of the pointer that it increments or decrements
    decrements: bool = False  # before its use
    pointer: int | None = None  # the lower register of the pointer that it uses

    @property
    def end(self) -> int:
        """The address of the next instruction."""
        return self.address + self.size

    def cycles_on(self, core: Core) -> int:
        """Return its cycles if it goes on to the next instruction, or always goes elsewhere."""
        longer = core.return_bytes - 2 if self.name in WITH_RETURN_ADDRESS else 0
        return EFFECTS[self.name].cycles + longer

    @property
    def stops_cycles(self) -> int:
        """How long the CPU may stop after it, if a chip has the EEPROM's control register there."""
        writes = self.name == "sbi" and self.operands["A"] in _EEPROM_CONTROL
        return EEPROM_CYCLES.get(self.operands["b"], 0) if writes else 0


def written_by(here: Decoded) -> set[int]:
    """Return the registers that an instruction writes, also those of a pointer that it moves."""
    writes = registers_of(here)[1] | (0 if here.moved is None else 3 << here.moved)
    return {number for number in range(writes.bit_length()) if writes >> number & 1}


def registers_of(here: Decoded) -> tuple[int, int]:
    """Return the registers that an instruction reads and those that it writes, as bits.

    A pointer that it moves is only read: it stays the address that it is.
    """
    reads = writes = 0
    operands = here.operands
    for letter, how in zip("dr" if "d" in operands else "r", _letters(here), strict=False):
        if letter in operands:
            width = 3 if how.isupper() else 1
            reads |= (width << operands[letter]) * (how in "ruRU")
            writes |= (width << operands[letter]) * (how in "uwUW")
    if here.name in PRODUCTS:
        writes |= 3
    if here.name in {"lpm", "elpm"} and "d" not in operands:
        writes |= 1
    if here.name == "sbc" and operands["d"] == operands["r"]:
        reads = 0
    if here.name in {"eor", "sub"} and operands["d"] == operands["r"]:
        reads = 0
    if here.moved is not None:
        reads |= 3 << here.moved
    return reads, writes


def _letters(here: Decoded) -> str:
    """Return how the operands d and r are used, in this order."""
    letters = EFFECTS[here.name].operands
    if here.name in {"st", "std", "sts", "push"}:
        return "r"
    return letters.replace("-", "") if here.name == "out" else letters


@functools.lru_cache(maxsize=1 << 14)  # checks follow many paths through the same code
def decode(code: bytes, address: int, wraps_at: int = 0) -> Decoded | None:
    """Return the instruction at a byte address, or None; short jumps may wrap at `wraps_at`."""
    first = _word(code, address)
    encoding = None if first is None else _encoding(first)
    if first is None or encoding is None:
        return None
    name = encoding.name
    operands = _operands(first)
    if EFFECTS[name].words == 1:
        if name in _DISTANCE_BITS:
            bits = _DISTANCE_BITS[name]
            distance = operands["k"] - (operands["k"] >> (bits - 1) << bits)
            target = address + 2 + 2 * distance
            operands = {**operands, "k": target % wraps_at if wraps_at else target}
        moved = encoding.moved and abs(encoding.moved)
        pointer = moved or _pointer(name, operands)
        return Decoded(name, address, 2, operands, moved, (encoding.moved or 0) < 0, pointer)
    second = _word(code, address + 2)
    if second is None:
        return None
    if name in {"jmp", "call"}:
        second = 2 * (operands["k"] << 16 | second)
    operands = {**operands, "k": second}
    return Decoded(name, address, 4, operands)


def _pointer(name: str, operands: Mapping[str, int]) -> int | None:
    """Return the lower register of the pointer that an instruction uses and does not move."""
    if "y" in operands:
        return 28 if operands["y"] else 30
    return {"ld": 26, "st": 26}.get(name, 30 if name in _THROUGH_Z else None)


_THROUGH_Z = frozenset({"lpm", "elpm", "ijmp", "icall", "eijmp", "eicall"})
_DISTANCE_BITS = {"rjmp": 12, "rcall": 12, "brbs": 7, "brbc": 7}


def _word(code: bytes, address: int) -> int | None:
    """Return the 16 bits at a byte address, or None outside of the code."""
    if address % 2 or not 0 <= address <= len(code) - 2:
        return None
    return int.from_bytes(code[address : address + 2], "little")


class _Encoding(NamedTuple):
    """One line of the table."""

    name: str
    pattern: str
    mask: int
    value: int
    moved: int | None  # negative if it is decremented


def _parsed(line: str) -> _Encoding:
    """Return a line of the table as masks."""
    name, pattern, *moved = line.split()
    mask = int("".join("1" if bit in "01" else "0" for bit in pattern), 2)
    value = int("".join(bit if bit in "01" else "0" for bit in pattern), 2)
    return _Encoding(name, pattern, mask, value, int(moved[0]) if moved else None)


_TABLE = [_parsed(line) for line in _ENCODINGS.strip().splitlines()]


@functools.cache
def _encoding(word: int) -> _Encoding | None:
    """Return the line of the table that a first word fits."""
    return next((line for line in _TABLE if word & line.mask == line.value), None)


@functools.cache
def _operands(word: int) -> Mapping[str, int]:
    """Return the fields of the first word of an instruction, registers by their numbers."""
    encoding = _encoding(word)
    assert encoding is not None
    operands: dict[str, int] = {}
    for letter, bit in zip(encoding.pattern, f"{word:016b}", strict=True):
        if letter not in "01":
            operands[letter] = operands.get(letter, 0) << 1 | int(bit)
    values = fields(encoding.name)
    return {letter: values[letter][number] for letter, number in operands.items()}


@functools.cache
def fields(name: str) -> Mapping[str, range]:
    """Return the values that each operand of an instruction may have, by its letter."""
    pattern = next(line.pattern for line in _TABLE if line.name == name)
    values = {letter: range(1 << pattern.count(letter)) for letter in pattern if letter not in "01"}
    step, start = _REGISTERS.get(name, (1, 0))
    for letter in values.keys() & {"d", "r"}:
        values[letter] = range(start, start + step * len(values[letter]), step)
    return values


# How a register field counts that is too short for all 32: its step, and the register that 0 means.
_REGISTERS = {
    "movw": (2, 0),
    "adiw": (2, 24),
    "sbiw": (2, 24),
    **dict.fromkeys(("cpi", "sbci", "subi", "ori", "andi", "ldi"), (1, 16)),
    **dict.fromkeys(("muls", "mulsu", "fmul", "fmuls", "fmulsu"), (1, 16)),
}
