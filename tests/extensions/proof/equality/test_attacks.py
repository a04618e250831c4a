"""Programs that random faults do not reach: each was once taken for its model, and must not be."""

from __future__ import annotations

import subprocess
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest
from avr_tools import needs_avr_gcc
from chains import forest_chain, linear_chain
from extensions.proof.equality import programs
from extensions.proof.equality.fuzz import Example, encoded, program_of
from laws.conformance.instances import programs_of

from protonn_edge.chips.avr.program import LinkedProgram, read_program
from protonn_edge.extensions.proof.algebra import Algebra
from protonn_edge.extensions.proof.answers import ProvenAnswers
from protonn_edge.extensions.proof.difference import PredictionProof
from protonn_edge.extensions.proof.exploration import Explorer
from protonn_edge.extensions.proof.forms import (
    Byte,
    Root,
    Unproven,
    constant,
    minus,
    plus,
    scaled,
    single,
    variable,
)
from protonn_edge.extensions.proof.machine import Machine
from protonn_edge.extensions.proof.stages import prototypes
from protonn_edge.extensions.proof.state import ChipState
from protonn_edge.kinds.forest.table import LEAF
from protonn_edge.model.input_quantizer import InputQuantizer

MODEL = linear_chain(
    inputs=InputQuantizer(np.zeros(2), np.full(2, 1 / 63), 63),
    weights=np.array([[3, -2], [-4, 7]], np.int8),
    bias=np.array([10, -20], np.int64),
    accumulator_bits=16,
    score_scale=1 / 1000,
    classes=("a", "b"),
)
SUMS = """
#include <stdint.h>
static int16_t linear_scores[2];
static uint8_t other, held[2];
static uint8_t classify(uint8_t a, uint8_t b, uint8_t more)
{
    linear_scores[0] = 10 + 3 * a - 2 * b + more;
    linear_scores[1] = -20 - 4 * a + 7 * b;
    return linear_scores[1] > linear_scores[0];
}
"""
SCORES = "const int16_t *pnn_scores(void) { return linear_scores; }"
PREDICT = "uint8_t pnn_predict(const uint8_t *x)"
PROVEN = f"{PREDICT} {{ return classify(x[0], x[1], 0); }} {SCORES}"
ASKED = f"""
{PREDICT} {{ return classify(x[0], x[1], other); }}
const int16_t *pnn_scores(void) {{ other = 1; return linear_scores; }}
"""
ASKED_TWICE = f"""
{PREDICT}
{{
    const uint8_t label = classify(x[0], x[1], 0);
    --linear_scores[0];
    return label;
}}
const int16_t *pnn_scores(void)
{{
    ++linear_scores[0];
    return linear_scores;
}}
"""
ASKED_LATER = f"""
static const uint8_t *array;
{PREDICT}
{{
    array = x;
    return classify(x[0], x[1], 0);
}}
const int16_t *pnn_scores(void)
{{
    classify(array[0], array[1], 0);
    return linear_scores;
}}
"""
ABANDONED = f"""
void pnn_begin(void) {{}}
uint8_t pnn_push_many(const uint8_t *x, uint16_t count)
{{
    held[0] = x[0];
    held[1] = x[1];
    if (x[0] == 3) {{
        other = 1;
        return x[1];
    }}
    return x[0];
}}
uint8_t pnn_finish(void)
{{
    const uint8_t a = other ? 3 : held[0];
    other = 0;
    return classify(a, held[1], 0);
}}
{SCORES}
"""
STACK_ELSEWHERE = f"""
{PREDICT}
{{
    other = x[0];
    __asm__ __volatile__(
        "in r24, 0x3f \\n cli \\n in r22, 0x3d \\n in r23, 0x3e \\n"
        "ldi r25, 8 \\n out 0x3e, r25 \\n out 0x3d, r25 \\n" /* all variables are below */
        "out 0x3e, r23 \\n out 0x3d, r22 \\n out 0x3f, r24"
        : : : "r22", "r23", "r24", "r25", "memory");
    const uint8_t was = other;
    other = 0;
    return classify(x[0], x[1], was);
}}
{SCORES}
"""
WAITING = f"""
{PREDICT}
{{
    __asm__ __volatile__("sbic 0x1f, 1 \\n rjmp .-4"); /* until the EEPROM is written */
    return classify(x[0], x[1], 0);
}}
{SCORES}
"""
EEPROM_ADDRESS = f"""
{PREDICT}
{{
    __asm__ __volatile__("out 0x21, r1");
    return classify(x[0], x[1], 0);
}}
{SCORES}
"""
ENDLESS = f"""
{PREDICT}
{{
    while (x[0] == 3) {{
        other = x[1];
        __asm__ __volatile__("" : : : "memory");
    }}
    other = 0;
    return classify(x[0], x[1], 0);
}}
{SCORES}
"""
VERY_LONG = f"""
{PREDICT}
{{
    for (uint32_t left = 1; left; ++left) {{
        __asm__ __volatile__("" : : "r"(left));
    }}
    return classify(x[0], x[1], 0);
}}
{SCORES}
"""
OVERLAP = f"""
{PREDICT}
{{
    uint8_t *place = &other;
    __asm__ __volatile__(".word 0x93ad ; st X+, r26" : "+x"(place) : : "memory");
    return classify(x[0], x[1], other - (uint8_t)(uintptr_t)place);
}}
{SCORES}
"""
TWO_ARRAYS = f"""
extern uint8_t first[2], second[2];
void push(uint16_t count) __asm__("pnn_push_many.constprop.0");
void push(uint16_t count)
{{
    held[other] = other ? second[0] : first[0];
    ++other;
}}
void pnn_begin(void) {{ other = 0; }}
uint8_t pnn_finish(void) {{ return classify(held[0], held[1], 0); }}
{SCORES}
"""


def linked(text: str, folder: Path, mcu: str = "atmega328p") -> LinkedProgram:
    """Return a program of this model, whose `main` calls nothing."""
    (folder / "pnn_model.c").write_text(text)
    (folder / "main.c").write_text("char first[2] = {1}, second[2] = {1}; int main() { return 0; }")
    command = ["avr-gcc", f"-mmcu={mcu}", "-std=gnu99", "-O2", "-w", "main.c", "pnn_model.c"]
    subprocess.run([*command, "-o", "program.elf"], check=True, cwd=folder, timeout=60)
    return read_program(folder / "program.elf")


@needs_avr_gcc
@pytest.mark.parametrize(
    ("text", "parts", "reason"),
    [
        (PROVEN, (), None),
        (ASKED, (), "asking for the scores changes"),
        (ASKED_TWICE, (), "asking for the scores changes"),
        (ASKED_LATER, (), "it reads beyond its arguments"),
        (ABANDONED, (2,), "other is read before it is written"),
        (STACK_ELSEWHERE, (), "the stack is elsewhere"),
        (WAITING, (), "it reads I/O 0x1f"),
        (EEPROM_ADDRESS, (), "it writes I/O 0x21"),
        (ENDLESS, (), "a loop never ends"),
        (VERY_LONG, (), "there is no end after 20,000 steps"),
        (OVERLAP, (), "a pointer that moves"),
        (TWO_ARRAYS, (1, 1), "none of the model's variables"),
        (TWO_ARRAYS.replace("second", "first"), (1, 1), None),
    ],
    ids=[
        "proven",
        "asked",
        "twice",
        "later",
        "abandoned",
        "stack elsewhere",
        "waiting",
        "EEPROM address",
        "endless",
        "very long",
        "overlap",
        "two arrays",
        "one array",
    ],
)
def test_what_a_call_leaves_behind_decides_no_other(
    text: str, parts: tuple[int, ...], reason: str | None, tmp_path: Path
) -> None:
    proof = PredictionProof(linked(SUMS + text, tmp_path), MODEL, most_steps=20_000, parts=parts)
    if reason is None:
        assert proof.proof().features == "first" * len(parts[1:])
        return
    with pytest.raises(Unproven, match=reason):
        proof.proof()


def test_a_branch_to_the_next_instruction_may_take_a_cycle_more() -> None:
    machine = Machine(program_of(encoded("brbs", s=1, k=0) + encoded("ret")))
    start = Example(0).start(machine, [0] * 32)
    (end,) = Explorer(machine).run(start)
    assert end.cycles == (5, 6)


def test_a_loop_over_prototypes_leaves_the_stack_as_it_is() -> None:
    with pytest.raises(Unproven, match="changes another"):
        prototypes.check_unchanged(ChipState(0), {1: 5}, range(0))


def test_an_rbf_is_that_of_the_distance_and_not_of_an_input() -> None:
    root, table = Root("x0", np.arange(4)), np.arange(100, 108)
    stage = SimpleNamespace(distance_limit=8, distance_shift=0, table=table)
    loop = SimpleNamespace(stage=stage, machine=Machine(program_of(b"\0\0")), entry=0)
    state = ChipState(0)
    state.memory[0] = Byte(single(root, table[:4]), 0)  # that of a distance of 0 is 100
    with pytest.raises(Unproven, match="no function of the distance"):
        prototypes._Invariant._check_rbf(cast(Any, loop), state, constant(-8))


@needs_avr_gcc
def test_an_entry_of_the_list_has_no_other_address(tmp_path: Path) -> None:
    """This one is taken off the list, if it is the first one, and was another one before."""
    entry = "".join(f'        "    st    X+, r{number}\\n"\n' for number in (20, 18, 19))
    before, after = (
        '"lds r21, %[list]\\n"\n',
        '"lds r20, %[list]\\n cpse r20, r21\\n subi r26, 3\\n"\n',
    )
    (program,) = (p for p in programs_of("prototypes") if p.instance.name == "32 bits")
    changed = programs.linked(
        program.instance.model,
        program.plan,
        tmp_path,
        change=lambda text: text.replace(entry, before + entry + after),
    )
    with pytest.raises(Unproven, match="none of the model's variables"):
        PredictionProof(changed, program.instance.model).proof()


def test_votes_find_the_largest_rbf_where_the_comparison_left_it() -> None:
    loop = SimpleNamespace(
        head=1,
        heads=[],
        untouched=[],
        stage=SimpleNamespace(gives_nearest=True),
        first=ChipState(0),
    )
    loop.first.registers[29] = 5
    with pytest.raises(Unproven, match="r29"):
        prototypes._Invariant._check_kept(cast(Any, loop), ChipState(0))


def test_a_class_is_a_whole_choice_and_not_a_byte_of_one() -> None:
    a, b = (variable(Root(f"x{k}", np.arange(64))) for k in range(2))
    algebra, state = Algebra(), ChipState(0)
    other = plus(scaled(a, 256), constant(2))
    chosen = algebra.chosen(minus(minus(b, a), constant(1)), constant(1), other)
    upper = next(each for each in chosen.tables if each.part_of and each.part_of[1] == 8)
    # The lowest byte less 1 would be the class.
    state.registers[24] = Byte(minus(variable(upper), constant(1)), 0)
    with pytest.raises(Unproven, match="a part of a choice"):
        ProvenAnswers(algebra, MODEL, [a, b]).check_class(state)


ASSEMBLY = """
#include <stdint.h>
static int16_t linear_scores[2] __attribute__((used));
const int16_t *pnn_scores(void) { return linear_scores; }
__attribute__((naked)) uint8_t pnn_predict(const uint8_t *x)
{
    __asm__ __volatile__(R"(
 .macro more w, x, low, high
    ldi  r22, \\w
    mulsu r22, \\x
    add  \\low, r0
    adc  \\high, r1
 .endm
    movw r26, r24
    mov  r23, r25
    ld   r20, X+
    ld   r21, X+
    ldi  r18, lo8(10)
    ldi  r19, hi8(10)
    more 3, r20, r18, r19
    more -2, r21, r18, r19
    ldi  r30, lo8(-20)
    ldi  r31, hi8(-20)
    more -4, r20, r30, r31
    more 7, r21, r30, r31
    clr  r1
    sts  linear_scores, r18
    sts  linear_scores+1, r19
    sts  linear_scores+2, r30
    sts  linear_scores+3, r31
    ldi  r24, 0
    cp   r18, r30
    cpc  r19, r31
    brge 1f
    ldi  r24, 1
1:
    CHANGED
    ret
)");
}
"""
# If both inputs are not 0, the class becomes 0.
_BOTH = "tst r20 \n breq 2f \n tst r21 \n breq 2f \n ldi r24, 0 \n 2:"
POINTER = f"sbrs r23, 7 \n rjmp 3f \n ret \n 3: {_BOTH}"
RETURN = f"pop r23 \n pop r22 \n push r22 \n push r23 \n cpi r23, 0xff \n breq 2f \n {_BOTH}"
# Products of both inputs are unknown: if the first score is less than one, and another is less than
# the second score, the class becomes 1.
UNKNOWN = """
    mul r20, r21
    ldi r22, 0
    ldi r23, 0x80
    movw r26, r22
    sub r22, r0
    sbc r23, r1
    add r26, r0
    adc r27, r1
    clr r1
    ldi r20, 1
    cp r18, r22
    cpc r19, r23
    brlt 2f
    ldi r20, 0
 2: ldi r21, 1
    cp r26, r30
    cpc r27, r31
    brlt 3f
    ldi r21, 0
 3: and r20, r21
    sbrc r20, 0
    ldi r24, 1
"""


def moved(by: int, behind: str) -> str:
    """Return code that moves the stack pointer, and restores the flags between its bytes."""
    return f"""
    in   r22, 0x3d
    in   r23, 0x3e
    subi r22, lo8({by})
    sbci r23, hi8({by})
    in   r20, 0x3f
    cli
    out  0x3e, r23
    out  0x3f, r20
    {behind}
    out  0x3d, r22
"""


FALSE_RETURN = """
    pop  r20
    pop  r20
    pop  r20
    ldi  r21, 0x80
    push r1
    push r1
    push r21
"""


@needs_avr_gcc
@pytest.mark.parametrize(
    ("changed", "mcu", "reason"),
    [
        (moved(16, "") + moved(-16, ""), "atmega328p", None),
        (POINTER, "atmega328p", "class 0 may have a lower score"),
        (RETURN, "atmega328p", "class 0 may have a lower score"),
        (UNKNOWN, "atmega328p", "the sign of a sum of"),
        (moved(16, "nop") + moved(-16, ""), "atmega328p", "an interrupt may occur"),
        (FALSE_RETURN, "atmega2560", "it returns elsewhere"),
    ],
    ids=["stack moves", "pointer", "return", "unknown", "interrupt between", "no return"],
)
def test_assembly_that_answers_otherwise_for_some_inputs_is_not_proven(
    changed: str, mcu: str, reason: str | None, tmp_path: Path
) -> None:
    proof = PredictionProof(linked(ASSEMBLY.replace("CHANGED", changed), tmp_path, mcu), MODEL)
    if reason is None:
        proof.proof()
        return
    with pytest.raises(Unproven, match=reason):
        proof.proof()


def less(one: int, two: int, three: int, four: int, label: str) -> str:
    """Return code that goes elsewhere if the sum of two inputs is less than that of others."""
    return f"""
    ldd  r18, Z+{one}
    ldd  r22, Z+{two}
    ldi  r19, 0
    add  r18, r22
    adc  r19, r1
    ldd  r26, Z+{three}
    ldd  r22, Z+{four}
    ldi  r27, 0
    add  r26, r22
    adc  r27, r1
    cp   r18, r26
    cpc  r19, r27
    brlo {label}
"""


# Of the inputs that reach the second leaf, there are two states behind 5, which know nothing of the
# comparisons: in sizes, they make up for the third leaf, which has the scores of the others.
OVERLAP_OF_WAYS = f"""
#include <stdint.h>
static int16_t scores[2] __attribute__((used));
static uint8_t other[2] __attribute__((used));
const int16_t *pnn_scores(void) {{ return scores; }}
__attribute__((naked)) {PREDICT}
{{
    __asm__ __volatile__(R"(
    movw r30, r24
    ldi  r20, 0
    ldi  r24, 0
    ldd  r18, Z+0
    cpi  r18, 128
    brlo 5f
    ldd  r18, Z+1
    cpi  r18, 128
    brsh 7f
    {less(2, 3, 4, 5, "1f")}
    {less(2, 5, 3, 4, "2f")}
    rjmp 4f
 1: {less(2, 4, 3, 5, "2f")}
    rjmp 4f
 2: ldi  r20, 1
 4: nop
 5: sts  other, r20
    nop
 7: ldi  r18, 5
    ldi  r19, 3
    sts  scores, r18
    sts  scores+1, r1
    sts  scores+2, r19
    sts  scores+3, r1
    sts  other, r1
    sts  other+1, r1
    ret
)");
}}
"""


@needs_avr_gcc
def test_ways_through_a_tree_are_all_that_there_are(tmp_path: Path) -> None:
    model = forest_chain(
        inputs=InputQuantizer(np.zeros(6), np.full(6, 1 / 255), 255),
        nodes=np.array([0, LEAF, 1, LEAF, LEAF]),
        thresholds=np.array([127, 127], np.uint8),
        leaves=np.array([[5, 3], [5, 3], [1, 9]], np.int8),
        bias=np.zeros(2, np.int64),
        score_scale=1 / 1000,
        classes=("a", "b"),
    )
    proof = PredictionProof(linked(OVERLAP_OF_WAYS, tmp_path), model)
    with pytest.raises(Unproven):
        proof.proof()
