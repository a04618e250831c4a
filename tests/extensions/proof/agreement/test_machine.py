"""The interpreter does with registers, flags and memory what simavr does, for every instruction.

One program has a function per instruction, which loads registers and flags from a record, executes
it and stores them again. The emulated chip runs all of them on random records and sends what they
become; the interpreter runs the same machine code on the same records, a lane each.
"""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from avr_programs import compile_text
from avr_tools import needs_emulated_avr
from checkout import CHECKOUT
from extensions.proof.agreement.actions import ACTIONS
from extensions.proof.agreement.agreement import Call, To, run
from extensions.proof.agreement.lanes import END, UNTOUCHED, LaneWorld, lane_memory
from extensions.proof.agreement.linked import Linked
from extensions.proof.agreement.machine import Machine
from extensions.proof.agreement.values import Lanes
from generated_programs import printed_by_uno

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
ldi r30,pm_lo8(1f)\\n ldi r31,pm_hi8(1f)\\n ijmp\\n ldi r18,1\\n1:; in r24,0x3d\\n in r25,0x3e
out 0x3f,r16; nop
""".strip()
INSTRUCTIONS = [text.strip() for text in re.split(r";|\n", TEXTS) if text.strip()]
REGISTERS = (0, 1, 16, 17, 18, 19, 24, 25, 26, 27, 30, 31)
RECORD = 1 + len(REGISTERS)
RECORDS = 24

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


def _records() -> np.ndarray:
    rng = np.random.default_rng(0)
    corners = rng.choice([0, 1, 127, 128, 255], (RECORDS, RECORD))
    records = np.where(
        rng.random((RECORDS, RECORD)) < 0.4, corners, rng.integers(0, 256, corners.shape)
    )
    records[:, 0] &= 0x7F  # interrupts stay off
    return records


@pytest.fixture(scope="module")
def sent(tmp_path_factory: pytest.TempPathFactory) -> tuple[Linked, np.ndarray, np.ndarray]:
    """The program, the records, and what simavr makes of them, (instructions, records, bytes)."""
    records = _records()
    elf = compile_text(_program(records), tmp_path_factory.mktemp("all") / "all.elf", "-O1")
    shape = len(INSTRUCTIONS), RECORDS, 1 + RECORD
    received = printed_by_uno(elf, int(np.prod(shape)))
    return Linked(elf), records, np.frombuffer(received, np.uint8).reshape(shape)[:, :, 1:]


@needs_emulated_avr
@pytest.mark.parametrize("number", range(len(INSTRUCTIONS)), ids=INSTRUCTIONS)
def test_an_instruction(number: int, sent: tuple[Linked, np.ndarray, np.ndarray]) -> None:
    linked, records, expected = sent
    call = Call(f"run_{number}", [(To("record"), 2)], buffers={"record": RECORD})
    data = np.full((END, RECORDS), UNTOUCHED)
    for at, (name, offset) in call.places(linked).items():
        data[at] = records[:, offset] if name == "record" else 0

    def start() -> tuple[list[object], object]:
        registers = call.registers(linked, lambda _: np.arange(RECORDS))
        return registers, lane_memory(linked, data, {})

    outcome = run(linked, call, Machine(linked.code, Lanes()), LaneWorld(), start)
    first = call.address(linked, To("record"))
    found = outcome.state.memory.all_lanes.data[first : first + RECORD].T
    wanted = expected[number].astype(np.int64)
    if "in r24,0x3d" in INSTRUCTIONS[number]:  # the stack is elsewhere
        found[:, 7:9] = wanted[:, 7:9]
    assert (found == wanted).all()


def test_every_instruction_that_occurs_is_compared(tmp_path: Path) -> None:
    """All that the interpreter knows is among those above."""
    linked = Linked(compile_text(_program(_records()), tmp_path / "all.elf", "-O1"))
    machine, named = Machine(linked.code, Lanes()), set()
    ends = sorted(linked.functions.values())
    for number in range(len(INSTRUCTIONS)):
        place = linked.functions[f"run_{number}"]
        end = next(each for each in [*ends, len(linked.code)] if each > place)
        while place < end:
            each = machine.instruction(place)
            named.add(each.name)
            place = each.end
    assert set(ACTIONS) <= named
