"""Compare the instructions of proofs with simavr, over registers and all flags.

    PYTHONPATH=tests python -m extensions.proof.equality.instructions [STATES]

One program has a function per instruction, which loads registers and flags from a record, executes
it and stores them again. The emulated chip runs all of them on random records and sends what they
become. For the proof all records are one input, and an instruction is executed once for all.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import click
import numpy as np
from avr_programs import compile_text
from checkout import CHECKOUT
from generated_programs import printed_by_uno

from protonn_edge.chips.avr.program import LinkedProgram, read_program
from protonn_edge.chips.avr.semantics import ACTIONS
from protonn_edge.extensions.proof.equality import initial_bytes
from protonn_edge.extensions.proof.exploration import Explorer
from protonn_edge.extensions.proof.forms import Bit, Byte, Root, Unproven, single, variable
from protonn_edge.extensions.proof.machine import Machine
from protonn_edge.extensions.proof.state import ChipState, Status

# On the registers of a record: r0, r1, r16..r19, r24..r27, r30, r31, behind the flags. What follows
# an instruction that may skip it is a mark.
TEXTS = """
add r16,r17; adc r16,r17; adc r16,r16; sub r16,r17; sbc r16,r17; sbc r16,r16; sub r16,r16
subi r16,200; sbci r16,57; cp r16,r17; cpc r16,r17; cpc r16,r16; cpi r16,128; and r16,r17
andi r16,0x0f; or r16,r17; ori r16,0x90; eor r16,r17; eor r16,r16; com r16; neg r16; inc r16
dec r16; tst r16; lsl r16; rol r16; lsr r16; ror r16; asr r16; swap r16; mul r16,r17
mul r16,r16; muls r16,r17; mulsu r16,r17; mulsu r17,r17; adiw r24,37; sbiw r24,63; adiw r26,1
sbiw r30,1; mov r16,r18; movw r16,r18; movw r26,r24; ldi r16,77; bst r16,3; bld r17,6; set; clt
sec; clc; sbrc r16,3 @; sbrs r16,7 @; cpse r16,r17 @; cpse r16,r16 @; brcs 1f @; brcc 1f @
breq 1f @; brne 1f @; brlt 1f @; brge 1f @; brmi 1f @; brpl 1f @; brts 1f @; brtc 1f @
brvs 1f @; rjmp 1f @; jmp 1f @; in r16,0x3f; push r16\\n pop r17; cp r16,r17\\n cpc r18,r19
sub r16,r17\\n sbci r18,1
ldi r30,lo8(table)\\n ldi r31,hi8(table)\\n lpm r16,Z+\\n lpm r17,Z\\n lpm
ldi r26,lo8(space)\\n ldi r27,hi8(space)\\n st X+,r16\\n st X,r17\\n ld r18,-X\\n ld r0,X
ldi r30,lo8(space)\\n ldi r31,hi8(space)\\n std Z+3,r16\\n st Z+,r17\\n ldd r18,Z+2\\n st -Z,r0
ldi r28,lo8(space)\\n ldi r29,hi8(space)\\n std Y+5,r16\\n ldd r18,Y+5\\n st Y+,r17\\n ld r19,-Y
sts space+1,r16\\n lds r17,space+1
rcall 1f\\n mov r17,r16\\n rjmp 2f\\n1: mov r18,r16\\n ret\\n2:
call 1f\\n rjmp 2f\\n1: ldi r18,9\\n ret\\n2:
ldi r30,pm_lo8(1f)\\n ldi r31,pm_hi8(1f)\\n ijmp\\n ldi r18,1\\n1:
ldi r30,lo8(space)\\n ldi r31,hi8(space)\\n {at} sts space,r24\\n sts space+1,r25\\n {both}
ldi r30,lo8(table)\\n ldi r31,hi8(table)\\n {at} lpm r18,Z
out 0x3f,r16; nop
""".strip().format(
    at="andi r16,1\\\\n clr r17\\\\n add r30,r16\\\\n adc r31,r17\\\\n",
    both="st Z,r18\\\\n ld r19,Z\\\\n lds r26,space\\\\n lds r27,space+1",
)
INSTRUCTIONS = [text.strip() for text in re.split(r";|\n", TEXTS) if text.strip()]
REGISTERS = (0, 1, 16, 17, 18, 19, 24, 25, 26, 27, 30, 31)
RECORD = 1 + len(REGISTERS)

_FUNCTION = """
__attribute__((naked, noinline)) void run_{number}(uint8_t *record)
{{
    __asm__ volatile(
        "push r28\\n push r29\\n push r16\\n push r17\\n movw r28, r24\\n"
        "ld r2, Y\\n out 0x3f, r2\\n{loads}"
        "push r28\\n push r29\\n"
        "{text}\\n{mark}"
        "pop r29\\n pop r28\\n"
        "in r2, 0x3f\\n st Y, r2\\n{stores}"
        "clr r1\\n pop r17\\n pop r16\\n pop r29\\n pop r28\\n ret\\n");
}}
"""
_MAIN = """
#include "{output}"
uint8_t space[8];
const uint8_t table[] PROGMEM = {{11, 200, 37, 91}};
static const uint8_t records[] PROGMEM = {{{records}}};
{functions}
static void (*const all[])(uint8_t *) = {{{names}}};
int main(void)
{{
    static uint8_t record[{size}];
    begin();
    for (uint8_t i = 0; i < sizeof all / sizeof *all; ++i) {{
        for (uint8_t k = 0; k < {count}; ++k) {{
            for (uint8_t at = 0; at < {size}; ++at) {{
                record[at] = pgm_read_byte(&records[k * {size} + at]);
            }}
            all[i](record);
            send(0, record, {size});
        }}
    }}
    end();
}}
"""

OTHERS = {"sbi", "cbi", "sbic", "sbis", "icall", "reti"}
"""Bits of I/O registers, and what no proof follows."""


def _program(records: np.ndarray) -> str:
    loads = "".join(f"ldd r{r}, Y+{1 + at}\\n" for at, r in enumerate(REGISTERS))
    stores = "".join(f"std Y+{1 + at}, r{r}\\n" for at, r in enumerate(REGISTERS))
    each = [
        _FUNCTION.format(number=number, loads=loads, stores=stores,
                         text=text.rstrip(" @").replace("\\\\n", "\\n"),
                         mark="ldi r19, 99\\n1:\\n" if text.endswith("@") else "")
        for number, text in enumerate(INSTRUCTIONS)
    ]  # fmt: skip
    return _MAIN.format(
        output=CHECKOUT / "tests/codegen/output.h",
        records=", ".join(map(str, records.ravel())),
        functions="".join(each),
        names=", ".join(f"run_{number}" for number in range(len(each))),
        size=RECORD,
        count=len(records),
    )


def records(seed: int, count: int) -> np.ndarray:
    """Return random records, with many values at the ends."""
    rng = np.random.default_rng(seed)
    corners = rng.choice([0, 1, 127, 128, 255], (count, RECORD))
    drawn = np.where(
        rng.random((count, RECORD)) < 0.4, corners, rng.integers(0, 256, corners.shape)
    )
    drawn[:, 0] &= 0x7F  # interrupts stay off
    return drawn


def emulated(drawn: np.ndarray, folder: Path) -> tuple[LinkedProgram, np.ndarray]:
    """Return the program, and what simavr makes of records: (instructions, records, bytes)."""
    elf = compile_text(_program(drawn), folder / "all.elf", "-O1")
    shape = len(INSTRUCTIONS), len(drawn), 1 + RECORD
    received = printed_by_uno(elf, int(np.prod(shape)))
    answers = np.frombuffer(received, np.uint8).reshape(shape)[:, :, 1:].copy()
    answers[:, :, 0] &= 0x7F  # proofs have no interrupts
    return read_program(elf), answers


def executed(program: LinkedProgram, number: int, drawn: np.ndarray) -> tuple[np.ndarray, set[str]]:
    """Return what a proof makes of records, (records, bytes), and the instructions it executed."""
    initial = initial_bytes(program, program.variables)
    machine = Machine(program, initial)
    which = Root("record", np.arange(len(drawn)))
    state = ChipState(0)
    state.stack = machine.stack()
    state.registers = [
        Byte(variable(Root(f"r{k}", np.arange(256))), 0) if k != 1 else 0 for k in range(32)
    ]
    place = next(each.address for each in program.variables if each.name.startswith("record."))
    state.registers[24:26] = place & 255, place >> 8
    for at in range(RECORD):
        form = single(which, drawn[:, at])
        state.memory[place + at] = Byte(form, 0) if form.tables else form.constant
    entry = program.names.address_of(f"run_{number}")
    assert entry is not None
    machine.enter(state, entry)
    found = np.full(drawn.shape, -1)
    for end in Explorer(machine).run(state):
        lanes = end.masks.get(which, np.full(len(drawn), fill_value=True))
        assert end.masks.keys() <= {which}
        for at in range(RECORD):
            found[lanes, at] = _over(end.memory[place + at], machine, len(drawn))[lanes]
    return found, {here.name for _, here in machine.executed.values()}


def _over(value: Any, machine: Machine, lanes: int) -> np.ndarray:
    """Return a byte's values for all records."""
    if isinstance(value, Status):
        bits = [machine.arithmetic.bit(each) if each is not None else 0 for each in value.flags[:7]]
        masks = [each.mask if isinstance(each, Bit) else np.full(lanes, each) for each in bits]
        return sum(mask.astype(np.int64) << k for k, mask in enumerate(masks))
    return np.full(lanes, value) if isinstance(value, int) else value.array()


def compare(seed: int, count: int) -> int:
    """Compare instructions on as many records each; return the number of states."""
    drawn, named = records(seed, count), set[str]()
    with TemporaryDirectory() as folder:
        program, expected = emulated(drawn, Path(folder))
    for number, text in enumerate(INSTRUCTIONS):
        try:
            found, names = executed(program, number, drawn)
        except Unproven as unproven:
            raise AssertionError(f"{text}: {unproven}") from unproven
        named |= names
        for record, wanted, made in zip(drawn, expected[number], found, strict=True):
            assert (made == wanted).all(), (text, record, made, wanted)
    assert ACTIONS.keys() - OTHERS <= named
    return len(INSTRUCTIONS) * count


if __name__ == "__main__":
    wanted, compared, seed = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000, 0, 1
    while compared < wanted:
        compared += compare(seed, 250)
        seed += 1
        click.echo(f"{compared:,} states of {len(INSTRUCTIONS)} instructions are equal")
