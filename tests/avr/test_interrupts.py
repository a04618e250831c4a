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


def test_straight_code_takes_what_its_instructions_take(compile_avr):
    spans = spans_of(compile_avr, "int main(void) { cli(); NOPS(100); sei(); for (;;) {} }")
    assert spans.program.where == "main"
    assert spans.program.cycles == 100 + CLI_AND_SEI + ONE_MORE
    assert spans.handlers == {}


def test_the_longest_branch_counts(compile_avr):
    spans = spans_of(
        compile_avr,
        """
        int main(void) {
            cli();
            if (sink) { NOPS(50); } else { NOPS(200); }
            sei();
            for (;;) {}
        }
        """,
    )
    assert 200 < spans.program.cycles < 220


def test_calls_count_with_what_they_call(compile_avr):
    spans = spans_of(
        compile_avr,
        """
        SEPARATE void inner(void) { NOPS(70); }
        SEPARATE void outer(void) { inner(); NOPS(30); inner(); }
        int main(void) { cli(); outer(); sei(); for (;;) {} }
        """,
    )
    assert 170 < spans.program.cycles < 210


def test_a_handler_counts_with_the_chips_response(compile_avr):
    spans = spans_of(
        compile_avr,
        "ISR(TIMER1_OVF_vect, ISR_NAKED) { NOPS(9); reti(); } int main(void) { for (;;) {} }",
    )
    response, jump, reti = 4, 3, 4
    assert spans.handlers[13].cycles == response + jump + 9 + reti
    assert spans.worst_delay == spans.handlers[13].cycles + spans.program.cycles


def test_writing_back_the_flag_ends_a_span_only_if_it_was_on(compile_avr):
    spans = spans_of(
        compile_avr,
        """
        SEPARATE void count(void) { ATOMIC_BLOCK(ATOMIC_RESTORESTATE) { sink++; } }
        SEPARATE void alone(void) { ATOMIC_BLOCK(ATOMIC_RESTORESTATE) { sink++; NOPS(20); } }
        int main(void) {
            alone();
            cli(); count(); NOPS(300); sei();
            for (;;) {}
        }
        """,
    )
    assert 300 < spans.program.cycles < 340


NO_CLI = "SREG &= 0x7F;", "SREG = 0;", "SREG = sink;", "SREG = SREG & sink;"


@pytest.mark.parametrize("off", NO_CLI)
def test_a_span_begins_where_sreg_is_written_too(compile_avr, off):
    text = f"int main(void) {{ sei(); {off} NOPS(200); sei(); for (;;) {{}} }}"
    assert 200 < spans_of(compile_avr, text).program.cycles < 210


@pytest.mark.parametrize("off", NO_CLI)
def test_a_function_that_may_leave_interrupts_off_by_sreg_is_refused(compile_avr, off):
    text = f"SEPARATE void stop(void) {{ {off} }} int main(void) {{ stop(); sei(); for (;;) {{}} }}"
    with refused_by("chips.avr.interrupts", kind=CheckFailed):
        spans_of(compile_avr, text)


@pytest.mark.parametrize(
    "write",
    [
        "SREG = 0;",
        "SREG = sink;",
        "uint8_t kept = SREG; SREG = kept;",
        '__asm__ volatile("in r24, 0x3f\\n mov r18, r24\\n out 0x3f, r18" ::: "r18", "r24");',
    ],
)
def test_a_write_that_may_leave_interrupts_off_ends_no_span(compile_avr, write):
    text = f"int main(void) {{ cli(); NOPS(90); {write} NOPS(90); sei(); for (;;) {{}} }}"
    assert 180 < spans_of(compile_avr, text).program.cycles < 200


def test_a_handler_that_ends_by_ret_or_never_is_no_surprise(compile_avr):
    naked = "ISR(TIMER1_OVF_vect, ISR_NAKED) {{ __asm__({}); }} int main(void) {{ for (;;) {{}} }}"
    with pytest.raises(CheckFailed, match="__vector_13 returns while they are disabled"):
        spans_of(compile_avr, naked.format('"ret"'))
    assert spans_of(compile_avr, naked.format('"1: rjmp 1b"')).handlers[13].cycles > 0


def test_a_loop_with_interrupts_off_is_refused_by_its_functions_name(compile_avr):
    with refused_by("chips.avr.interrupts", kind=CheckFailed, naming="main runs a loop"):
        spans_of(compile_avr, "int main(void) { cli(); while (sink) {} sei(); for (;;) {} }")


def test_a_function_that_leaves_interrupts_off_is_refused(compile_avr):
    with refused_by("chips.avr.interrupts", kind=CheckFailed):
        spans_of(
            compile_avr,
            """
            SEPARATE void stop(void) { cli(); sink = 1; }
            int main(void) { stop(); sei(); for (;;) {} }
            """,
        )
