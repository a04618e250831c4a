"""The worst case of the stack: exact where there is one, refused where there is none."""

from __future__ import annotations

import dataclasses
import re
import subprocess

import pytest
from avr_tools import needs
from refusals import refused_by

from protonn_edge.chips.avr.functions import function_at
from protonn_edge.chips.avr.program import read_program
from protonn_edge.chips.avr.stack import worst_case_stack
from protonn_edge.system.errors import CheckFailed

PRELUDE = """
#include <avr/interrupt.h>
#include <avr/io.h>
#include <avr/sleep.h>
#include <stdint.h>
#include <stdlib.h>
#define SEPARATE __attribute__((noinline, noclone))
volatile uint8_t sink;
"""
HANDLER = "__vector_16"
CALL = 2  # bytes of return address


def stack_of(elf):
    return worst_case_stack(read_program(elf), elf.parent.glob("*.su"))


def reserve(name, size, then=""):
    """Return C for a function with an array of `size` bytes that is alive during `then`."""
    return f"""
        SEPARATE void {name}(void) {{
            volatile uint8_t array[{size}];
            for (uint16_t i = 0; i < {size}; i++) array[i] = i;
            {then}
            sink = array[3];
        }}
    """


def assembly(code):
    return f'__asm__("{code.replace("; ", chr(92) + "n")}");'


def naked(code):
    """Return C for a function `work` of these instructions alone."""
    return f"{NAKED} {{ {assembly(code)} }} {WORKS}"


NAKED = "__attribute__((naked, noinline)) void work(void)"
LEAF = "SEPARATE void leaf(void) { sink = 1; }"
IDLE = "int main(void) { for (;;) {} }"
WORKS = "int main(void) { work(); for (;;) {} }"
ENDS = "int main(void) { work(); return 0; }"
SUM = (
    "push r28; push r29; ldi r24, 8; push r24; in r28, 0x3d; in r29, 0x3e; std Y+1, r24; "
    "ldd r24, Y+1; {}; in r30, 0x3d; adc r30, r1; sbc r30, r24; pop r0; pop r29; pop r28"
)
NEXT = (
    "void work(void); "
    '__asm__(".global work\\n .type work, @function\\n work: call leaf\\n .size work, . - work\\n"'
    '"next: push r0\\n push r0\\n push r0\\n pop r0\\n pop r0\\n pop r0\\n ret");'
)
# The bytes that are used, and the deepest path.
EXACT = {
    "main calls nothing": ("int main(void) { return 0; }", CALL, "main"),
    **{
        f"an array of {size}": (reserve("work", size) + ENDS, CALL + CALL + 2 + size, "main work")
        for size in (7, 63, 64, 255, 256, 512, 700, 768)
    },
    **{  # by pushes, and by calls to the next instruction
        f"a small array of {size}": (
            f"SEPARATE void work(void) {{ volatile uint8_t a[{size}]; *a = 1; sink = *a; }} {ENDS}",
            CALL + CALL + 2 + size,
            "main work",
        )
        for size in (1, 2, 3, 4, 5)
    },
    "nested calls": (
        LEAF
        + reserve("inner", 10, "leaf();")
        + reserve("other", 50)
        + reserve("outer", 100, "inner();")
        + "int main(void) { other(); outer(); return 0; }",
        CALL + (CALL + 2 + 100) + (CALL + 2 + 10) + CALL,
        "main outer inner leaf",
    ),
    "calls one after the other": (
        reserve("small", 20)
        + reserve("large", 90)
        + "int main(void) { small(); large(); small(); return 0; }",
        CALL + CALL + 2 + 90,
        "main large",
    ),
    "vectors without a handler": ("int main(void) { sei(); for (;;) {} }", CALL, "main"),
    "a naked handler without pushes": (
        "ISR(TIMER0_OVF_vect, ISR_NAKED) { reti(); } int main(void) { sei(); for (;;) {} }",
        CALL + CALL,
        "",
    ),
    "a function that ends in a jump": (  # which takes no second return address
        LEAF
        + reserve("work", 20, "leaf();")
        + "SEPARATE void first(void) { sink = 1; work(); }"
        + "int main(void) { first(); sink = 2; return 0; }",
        CALL + (CALL + 2 + 20) + CALL,
        "main first work leaf",
    ),
    "a call that never returns": (  # after which nothing is followed
        "__attribute__((noreturn, noinline)) void stop(void) { for (;;) sink = 1; }"
        + reserve("work", 20, "if (sink) stop();")
        + reserve("last", 60, "stop();")
        + "SEPARATE void next(void) { sink = 2; }"
        + "int main(void) { work(); next(); last(); return 0; }",
        CALL + (CALL + 2 + 60) + CALL,
        "main last stop",
    ),
    **{  # of two bytes, of which the upper one is not 0 in a larger program
        f"a pointer that is known, after {between} bytes": (
            f"int main(void) {{ {assembly('ldi r30, lo8(gs(far)); ldi r31, hi8(gs(far)); icall')}"
            " return 0; }"
            f'__attribute__((naked)) void filler(void) {{ __asm__(".space {between}"); }}'
            + reserve("far", 20),
            CALL + CALL + 2 + 20,
            "main far",
        )
        for between in (0, 4096)
    },
    **{
        f"a sum with the stack pointer, and {carry}": (
            f"SEPARATE void work(void) {{ {assembly(SUM.format(carry))} }} {WORKS}",
            2 * CALL + 3,
            "",
        )
        for carry in ("sec", "subi r24, 9", "lds r24, sink; lsr r24", "com r24")
    },
    "running into the next function": (f"{LEAF} {NEXT} {WORKS}", CALL + CALL + 3, ""),
}


@pytest.mark.parametrize(("code", "size", "path"), EXACT.values(), ids=EXACT)
def test_the_deepest_stack_is_known_to_the_byte(compile_avr, code, size, path):
    report = stack_of(compile_avr(PRELUDE + code, "-fno-toplevel-reorder"))
    assert report.bytes == size
    assert not path or report.path == tuple(path.split())


def test_arguments_pushed_for_a_call_count_during_the_call(compile_avr):
    names = "abcdefghijk"
    firmware = f"""
        {PRELUDE}
        SEPARATE int many({", ".join(f"int {name}" for name in names)})
        {{ sink = k; return {"+".join(names)}; }}
        int main(void) {{ sink = many(1, 2, 3, 4, 5, 6, 7, 8, 9, sink, sink); for (;;) {{}} }}
    """
    elf = compile_avr(firmware)
    program = read_program(elf)
    called = function_at(program, program.names.address_of("many"))
    assert stack_of(elf).bytes == CALL + 4 + CALL + called.peak.bytes


def test_the_worst_interrupt_handler_comes_on_top(compile_avr):
    firmware = (
        PRELUDE
        + reserve("long_work", 30)
        + reserve("work", 100)
        + """
        ISR(TIMER0_OVF_vect) { sink++; }
        ISR(TIMER1_OVF_vect) { long_work(); }
        int main(void) { sei(); work(); return 0; }
        """
    )
    elf = compile_avr(firmware)
    program = read_program(elf)
    handler = function_at(program, program.names.address_of("__vector_13"))
    report = stack_of(elf)
    assert handler.peak.bytes >= 12  # it saves all that a function may change
    on_top = CALL + handler.peak.bytes + (CALL + 2 + 30)
    assert report.bytes == CALL + (CALL + 2 + 100) + on_top
    assert report.path == ("main", "work", "interrupt __vector_13", "long_work")


def test_a_handler_of_all_other_interrupts_counts(compile_avr):
    firmware = PRELUDE + "ISR(BADISR_vect) { sink++; } int main(void) { sei(); for (;;) {} }"
    assert stack_of(compile_avr(firmware)).bytes > CALL + CALL


def test_the_cases_of_a_switch_are_followed_through_its_jump_table(compile_avr):
    cases = "".join(f"case {i}: f{i}(); return {7 * i};" for i in range(8))
    firmware = (
        PRELUDE
        + "".join(reserve(f"f{i}", 10 + i) for i in range(8))
        + f"SEPARATE int choose(uint8_t which) {{ switch (which) {{ {cases} }} return 0; }}"
        + "int main(void) { sink = choose(sink); return 0; }"
    )
    elf = compile_avr(firmware)
    assert any(symbol.name == "__tablejump2__" for symbol in read_program(elf).symbols)
    report = stack_of(elf)
    assert report.bytes == CALL + CALL + (CALL + 2 + 17)
    assert report.path == ("main", "choose", "f7")


@pytest.mark.parametrize("size", [20, 200, 400])
def test_shared_prologues_of_libgcc_are_followed(compile_avr, size):
    firmware = (
        PRELUDE
        + "SEPARATE uint32_t mix(uint32_t a, uint32_t b) { sink++; return a * b; }"
        + f"""
        SEPARATE uint32_t work(uint32_t a, uint32_t b, uint32_t c) {{
            volatile uint8_t array[{size}];
            for (uint16_t i = 0; i < {size}; i++) array[i] = mix(a, b) + mix(c, a) + mix(b, c);
            return array[3] + mix(a, c);
        }}
        int main(void) {{ sink = work(sink, sink, sink); return 0; }}
        """
    )
    elf = compile_avr(firmware, "-mcall-prologues")
    assert any(symbol.name == "__prologue_saves__" for symbol in read_program(elf).symbols)
    report = stack_of(elf)
    usage = (elf.parent / "firmware.su").read_text()
    frame = int(re.search(r"work\t(\d+)", usage)[1])
    assert report.path[:3] == ("main", "work", "mix")
    assert report.bytes >= CALL + frame + CALL
    assert report.bytes <= CALL + frame + CALL + 16


def test_library_functions_count_though_they_have_no_su_file(compile_avr):
    firmware = PRELUDE + "int main(void) { sink = (float)sink * 1.5f; for (;;) {} }"
    report = stack_of(compile_avr(firmware))
    assert report.bytes > CALL + CALL
    assert report.path[1].startswith("__")


def test_what_the_compiler_says_of_its_functions_includes_the_return_address(compile_avr):
    """The definition in the module's docstring, held against every function of a larger program."""
    firmware = (
        PRELUDE
        + "SEPARATE void leaf(void) { sink = 1; }"
        + "".join(reserve(f"f{size}", size, "leaf();") for size in (1, 6, 63, 64, 300))
        + """
        SEPARATE int32_t arithmetic(int32_t a, int16_t b) { sink++; leaf(); return a * b / 7; }
        SEPARATE float floating(float a, float b) { leaf(); return a * b + a; }
        ISR(TIMER0_OVF_vect) { leaf(); }
        int main(void) {
            f1(); f6(); f63(); f64(); f300();
            sink = arithmetic(sink, sink) + floating(sink, sink);
            for (;;) {}
        }
        """
    )
    elf = compile_avr(firmware)
    program = read_program(elf)
    lines = (elf.parent / "firmware.su").read_text().splitlines()
    assert len(lines) == 10
    for line in lines:
        where, size, kind = line.split("\t")
        assert kind == "static"
        function = function_at(program, program.names.address_of(where.rpartition(":")[2]))
        assert function.peak.bytes + CALL == int(size), where


def test_a_su_file_that_says_more_is_believed(compile_avr):
    elf = compile_avr(PRELUDE + reserve("work", 20) + "int main(void) { work(); return 0; }")
    said = elf.parent / "more.su"
    said.write_text("firmware.c:1:1:work\t124\tstatic\n")
    assert worst_case_stack(read_program(elf), [said]).bytes == CALL + 124


# --- what has no bound ---------------------------------------------------------------------------


def refusal_of(elf):
    with pytest.raises(CheckFailed) as caught:
        stack_of(elf)
    message = str(caught.value)
    assert "\n" not in message
    return message


# What has no bound, and the function that is at fault.
UNBOUNDED = {
    "recursion": (
        (
            "SEPARATE uint8_t even(uint8_t n);"
            "SEPARATE uint8_t odd(uint8_t n) { sink++; return n ? even(n - 1) + 1 : 0; }"
            "SEPARATE uint8_t even(uint8_t n) { sink++; return n ? odd(n - 1) + 2 : 1; }"
            "int main(void) { sink = even(sink); for (;;) {} }"
        ),
        "even",
    ),
    "a call through a pointer": (
        f"void (*volatile action)(void);SEPARATE void work(void) {{ action(); sink = 1; }} {WORKS}",
        "work",
    ),
    "a handler that lets others interrupt it": (
        f"ISR(TIMER0_OVF_vect, ISR_NOBLOCK) {{ sink++; }} {IDLE}",
        "__vector_16",
    ),
    "reti in a function that a handler calls": (
        f"{NAKED} {{ {assembly('reti')} }} ISR(TIMER0_OVF_vect) {{ work(); }} {IDLE}",
        "work",
    ),
    "a handler whose function enables interrupts": (
        (
            "SEPARATE void work(void) { sink++; sei(); sink++; }"
            f"ISR(TIMER0_OVF_vect) {{ work(); }} {WORKS}"
        ),
        "work",
    ),
    "pushing in a loop": (naked("1: push r1; rjmp 1b"), "work"),
    "writing to SREG through an argument": (
        (
            "SEPARATE void set(volatile uint8_t *p, uint8_t bits) { *p |= bits; }"
            f"ISR(TIMER0_OVF_vect) {{ set(&SREG, 0x80); }} {IDLE}"
        ),
        "set",
    ),
    "paths that meet with other depths": (
        naked("sbrs r24, 0; push r0; nop; 1: rjmp 1b"),
        "work",
    ),
    "returning to a pushed address": (
        naked("push r0; push r0; ret"),
        "work",
    ),
    "writing to the return address": (
        naked("in r30, 0x3d; in r31, 0x3e; std Z+2, r24; ret"),
        "work",
    ),
    "running into no instruction": (naked(".word 0xffff"), "0x"),
}

# Each is followed by RETI in a handler without a prologue.
ENABLING = {
    "a bit that is set": "in r24, 0x3f; set; bld r24, 7; out 0x3f, r24",
    "st X": "ldi r26, 0x5f; ldi r27, 0; ldi r24, 0x80; st X, r24",
    "st X+": "ldi r26, 0x5f; ldi r27, 0; ldi r24, 0x80; st X+, r24",
    "st -Y": "ldi r28, 0x60; ldi r29, 0; ldi r24, 0x80; st -Y, r24",
    "std Z+31": "ldi r30, 0x40; ldi r31, 0; ldi r24, 0x80; std Z+31, r24",
    "sts": "lds r24, sink; sts 0x5f, r24",
    "a register by its address": "ldi r24, 0x80; sts 16, r24; out 0x3f, r16",
    "a freed byte": "in r0, 0x3f; push r0; pop r0; rcall .+0; pop r0; pop r24; out 0x3f, r24",
    "a changed copy": "in r0, 0x3f; push r0; in r28, 0x3d; in r29, 0x3e; ldi r24, 0x80; "
    "std Y+1, r24; pop r0; out 0x3f, r0",
    "a register of other code": "out 0x3f, r1",
    "one of two values": "in r24, 0x3f; sbrc r1, 0; lds r24, sink; out 0x3f, r24",
}
WRITES = (
    "SREG |= 0x80",
    "SREG = 0x80",
    "SREG = SREG | sink",
    "SREG = sink",
    "uint8_t kept = sink ? SREG : sink; SREG = kept",
    "uint8_t kept = SREG; kept ^= sink; SREG = kept",
)
BY_HAND = (  # the stack pointer, or the return address
    "in r24, 0x3d; subi r24, 100; out 0x3d, r24; ret",  # one half alone
    "lds r24, sink; out 0x3d, r24; out 0x3e, r24; ret",
    "ldi r26, 0x5e; ldi r27, 0; st X, r25; st -X, r24; ret",
    "ldi r24, 0xff; ldi r25, 2; out 0x3e, r25; out 0x3d, r24; ret",
    "in r24, 0x3d; sbrs r24, 0; out 0x3d, r24; push r0; pop r0; ret",  # on one of two paths
    "pop r24; pop r25; push r25; push r24; ret",
)
BY_POINTER = (
    "volatile uint8_t *p = (volatile uint8_t *)0x5c; p[1] = sink;",
    "volatile uint16_t *p = (volatile uint16_t *)0x5d; *p = sink;",
    "poke(1, &SPL, sink);",
    "memset((void *)0x5d, sink, 2);",
)
POKES = """
    #include <string.h>
    SEPARATE void set(volatile uint8_t *p, uint8_t value) { *p = value; }
    SEPARATE void poke(int a, volatile uint8_t *p, uint8_t value) { sink = a; set(p, value); }
"""
LOCAL = """
    void one(void) { sink = 1; }
    SEPARATE void choose(void (**action)(void)) { if (sink) *action = one; }
    SEPARATE void work(void) { void (*action)(void) = one; choose(&action); action(); }
"""
REFUSED = [
    *((code, function, "-O2") for code, function in UNBOUNDED.values()),
    (LOCAL + WORKS, "work", "-O0"),
    *(
        (f"ISR(TIMER0_OVF_vect, ISR_NAKED) {{ {assembly(f'{how}; reti')} }} {IDLE}", HANDLER, "-O2")
        for how in ENABLING.values()
    ),
    *(
        (f"ISR(TIMER0_OVF_vect) {{ {write}; sink++; }} {IDLE}", HANDLER, level)
        for write in WRITES
        for level in ("-O2", "-O0")  # by OUT, and through a pointer
    ),
    *((naked(code), "work", "-O2") for code in BY_HAND),
    *(
        (f"{POKES} SEPARATE void work(void) {{ {code} }} {WORKS}", "moves the stack pointer", level)
        for code in BY_POINTER
        for level in ("-O0", "-Os")
    ),
]


@pytest.mark.parametrize(("code", "naming", "level"), REFUSED)
def test_what_has_no_bound_is_refused_with_its_function(compile_avr, code, naming, level):
    assert re.search(rf"\b{naming}", refusal_of(compile_avr(PRELUDE + code, level)))


@pytest.mark.parametrize("way", ["uint8_t array[n];", "volatile uint8_t *array = alloca(n);"])
def test_an_array_of_variable_size_is_refused_with_its_function(compile_avr, way):
    firmware = f"""
        {PRELUDE}
        #define alloca __builtin_alloca
        SEPARATE void fill(volatile uint8_t *array, uint8_t n) {{ while (n--) array[n] = n; }}
        SEPARATE void work(uint8_t n) {{ {way} fill(array, n); sink = array[0]; }}
        int main(void) {{ work(sink); for (;;) {{}} }}
    """
    elf = compile_avr(firmware)
    assert "work" in refusal_of(elf).split()
    with refused_by("chips.avr.tracking", kind=CheckFailed):
        worst_case_stack(read_program(elf))  # seen in the code too, without the .su file


@pytest.mark.parametrize("level", ["-O2", "-O0"])
@pytest.mark.parametrize(
    "work",
    [
        "uint8_t kept = SREG; cli(); sink++; SREG = kept; SREG &= 0x7F;",
        "uint8_t kept = SREG; if (sink) { cli(); helper(); } SREG = kept;",
        "uint8_t kept = SREG & sink; helper(); SREG = kept & 0x0F;",
        "volatile uint8_t a[9]; for (uint8_t i = 0; i < sink; i++) a[i] = i; helper();",
    ],
)
def test_a_handler_may_restore_the_flag_of_interrupts(compile_avr, level, work):
    firmware = f"""
        {PRELUDE}
        SEPARATE void helper(void) {{ sink++; }}
        ISR(TIMER0_OVF_vect) {{ {work} }}
        int main(void) {{ for (;;) {{}} }}
    """
    assert worst_case_stack(read_program(compile_avr(firmware, level))).bytes > 0


def test_a_vector_that_does_not_jump_is_a_handler(compile_avr):
    firmware = PRELUDE + "int main(void) { for (;;) {} }"
    program = read_program(compile_avr(firmware))
    code = bytearray(program.code)
    code[4:8] = b"\x18\x95\x18\x95"  # reti
    assert worst_case_stack(dataclasses.replace(program, code=bytes(code))).bytes == 2 * CALL


@pytest.mark.parametrize("level", ["-O0", "-Os"])
def test_numbers_like_the_address_of_the_stack_pointer_are_allowed(compile_avr, level):
    firmware = f"""
        {PRELUDE}
        #include <string.h>
        uint8_t array[200];
        SEPARATE void fill(uint8_t *p, int n) {{ for (int i = 0; i < n; i++) p[i] = n; }}
        SEPARATE void set(volatile uint8_t *p, uint8_t bits) {{ *p |= bits; }}
        int main(void) {{
            for (;;) {{
                int n = 93;
                fill(array, n);
                memset(array, 94, 95);
                set(&PORTB, sink);
                sink = array[n];
            }}
        }}
    """
    assert stack_of(compile_avr(firmware, level)).bytes > CALL


def test_a_long_product_of_libgcc_runs_into_its_other_half(compile_avr):
    firmware = "volatile int a; int main(void) { a = (long)a * 95 / 94; for (;;) {} }"
    program = read_program(compile_avr(firmware, "-Os"))
    product = program.names.address_of("__usmulhisi3")
    assert program.names.address_of("__usmulhisi3_tail") in function_at(program, product).addresses


def test_a_firmware_without_symbols_is_refused(compile_avr):
    elf = compile_avr("int main(void) { return 0; }", "-s")
    with refused_by("chips.avr.stack"):
        worst_case_stack(read_program(elf))


@pytest.mark.parametrize("content", [b"one\ttwo\n", b"a:1:1:f\tmany\tstatic\n", b"\xff\xfe\n"])
def test_a_broken_su_file_is_refused(compile_avr, tmp_path, content):
    elf = compile_avr("int main(void) { return 0; }")
    broken = tmp_path / "broken.su"
    broken.write_bytes(content)
    with refused_by("chips.avr.stack"):
        worst_case_stack(read_program(elf), [broken])


# --- against a running program -------------------------------------------------------------------

MEASURED = """
extern uint8_t _end;
__attribute__((naked, used, section(".init3"))) void paint(void) {
    for (volatile uint8_t *byte = &_end; byte <= (volatile uint8_t *)RAMEND; byte++) *byte = 0xC5;
}
static void write_digit(uint8_t digit) {
    while (!(UCSR0A & _BV(UDRE0))) {}
    UDR0 = digit < 10 ? '0' + digit : 'a' + digit - 10;
}
SEPARATE void wait_for_interrupts(void) {
    for (volatile uint16_t turns = 0; turns < 4000; turns++) {}
}
ISR(TIMER0_OVF_vect) { handle(); }
int main(void) {
    TCCR0B = 1;
    TIMSK0 = 1;
    sei();
    work();
    cli();
    volatile uint8_t *byte = &_end;
    while (*byte == 0xC5) byte++;
    uint16_t used = RAMEND + 1 - (uint16_t)byte;
    UCSR0B = _BV(TXEN0);
    for (int8_t shift = 12; shift >= 0; shift -= 4) write_digit(used >> shift & 15);
    write_digit(15);
    UDR0 = '\\n';
    sleep_mode();
    for (;;) {}
}
"""


@needs("simavr")
def test_the_bound_is_what_a_running_program_uses(compile_avr):
    firmware = (
        PRELUDE
        + "void wait_for_interrupts(void);"
        + reserve("handle", 9)
        + reserve("inner", 40, "wait_for_interrupts();")
        + reserve("work", 300, "inner();")
        + MEASURED
    )
    elf = compile_avr(firmware)
    command = ["simavr", "-m", "atmega328p", "-f", "16000000", elf]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    used = int(re.search(r"([0-9a-f]{4})f", done.stderr)[1], 16)
    assert stack_of(elf).bytes == used
