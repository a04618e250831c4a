"""How long interrupts can be off: to the cycle in straight code, refused where nobody knows."""

from __future__ import annotations

import pytest
from refusals import refused_by

from protonn_edge.chips.avr.interrupts import masked_spans
from protonn_edge.chips.avr.program import read_program
from protonn_edge.system.errors import CheckFailed

PRELUDE = """
#include <avr/interrupt.h>
#include <avr/io.h>
#include <util/atomic.h>
#include <stdint.h>
#define SEPARATE __attribute__((noinline, noclone))
#define NOPS(n) __asm__ volatile(".rept " #n "\\n nop\\n .endr")
volatile uint8_t sink;
"""
CLI_AND_SEI = 2
ONE_MORE = 4  # the longest instruction that may still run after SEI


def spans_of(compile_avr, text):
    return masked_spans(read_program(compile_avr(PRELUDE + text)))


def main_of(*statements):
    return f"int main(void) {{ {' '.join(statements)} for (;;) {{}} }}"


NO_CLI = "SREG &= 0x7F;", "SREG = 0;", "SREG = sink;", "SREG = SREG & sink;"
WRITES = (  # which may leave interrupts off
    "SREG = 0;",
    "SREG = sink;",
    "uint8_t kept = SREG; SREG = kept;",
    '__asm__ volatile("in r24, 0x3f\\n mov r18, r24\\n out 0x3f, r18" ::: "r18", "r24");',
)
ATOMIC = """
    SEPARATE void count(void) { ATOMIC_BLOCK(ATOMIC_RESTORESTATE) { sink++; } }
    SEPARATE void alone(void) { ATOMIC_BLOCK(ATOMIC_RESTORESTATE) { sink++; NOPS(20); } }
"""
CALLS = """
    SEPARATE void inner(void) { NOPS(70); }
    SEPARATE void outer(void) { inner(); NOPS(30); inner(); }
"""
SPANS = {
    "the longest branch": (
        main_of("cli(); if (sink) { NOPS(50); } else { NOPS(200); } sei();"),
        range(201, 220),
    ),
    "calls and what they call": (CALLS + main_of("cli(); outer(); sei();"), range(171, 210)),
    "writing back the flag, which ends a span only if it was on": (
        ATOMIC + main_of("alone(); cli(); count(); NOPS(300); sei();"),
        range(301, 340),
    ),
    **{
        f"begun by {off}": (main_of(f"sei(); {off} NOPS(200); sei();"), range(201, 210))
        for off in NO_CLI
    },
    **{
        f"not ended by {write}": (
            main_of(f"cli(); NOPS(90); {write} NOPS(90); sei();"),
            range(181, 200),
        )
        for write in WRITES
    },
}


def test_straight_code_takes_what_its_instructions_take(compile_avr):
    spans = spans_of(compile_avr, main_of("cli(); NOPS(100); sei();"))
    assert spans.program.where == "main"
    assert spans.program.cycles == 100 + CLI_AND_SEI + ONE_MORE
    assert spans.handlers == {}


@pytest.mark.parametrize(("text", "cycles"), SPANS.values(), ids=SPANS)
def test_the_longest_way_with_interrupts_off_counts(compile_avr, text, cycles):
    assert spans_of(compile_avr, text).program.cycles in cycles


@pytest.mark.parametrize(
    ("text", "named"),
    [
        (main_of("cli(); while (sink) {} sei();"), "main runs a loop"),
        *(
            (f"SEPARATE void stop(void) {{ {off} }} {main_of('stop(); sei();')}", "")
            for off in (*NO_CLI, "cli(); sink = 1;")
        ),
    ],
)
def test_what_nobody_knows_to_end_is_refused(compile_avr, text, named):
    with refused_by("chips.avr.interrupts", kind=CheckFailed, naming=named):
        spans_of(compile_avr, text)


def test_a_handler_counts_with_the_chips_response(compile_avr):
    spans = spans_of(
        compile_avr,
        "ISR(TIMER1_OVF_vect, ISR_NAKED) { NOPS(9); reti(); } int main(void) { for (;;) {} }",
    )
    response, jump, reti = 4, 3, 4
    assert spans.handlers[13].cycles == response + jump + 9 + reti
    assert spans.worst_delay == spans.handlers[13].cycles + spans.program.cycles


def test_a_handler_that_ends_by_ret_or_never_is_no_surprise(compile_avr):
    naked = "ISR(TIMER1_OVF_vect, ISR_NAKED) {{ __asm__({}); }} int main(void) {{ for (;;) {{}} }}"
    with pytest.raises(CheckFailed, match="__vector_13 returns while they are disabled"):
        spans_of(compile_avr, naked.format('"ret"'))
    assert spans_of(compile_avr, naked.format('"1: rjmp 1b"')).handlers[13].cycles > 0
