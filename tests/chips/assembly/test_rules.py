"""The rules of assembly notice what is wrong with a statement, and nothing that is right."""

from __future__ import annotations

import pytest
from chips.assembly.rules import faults_of, faults_of_text
from chips.assembly.statements import Statement, statements_in

RIGHT = {
    "a loop whose count may not share a register": """
        uint8_t left = 3;
        __asm__ volatile(
            "1:  add  %[sum], %[step]\\n"
            "    dec  %[left]\\n"
            "    brne 1b\\n"
            : [left] "+&r"(left), [sum] "+&r"(sum) : [step] "r"(step));""",
    "an output that is written last": """
        __asm__("cp %[step], %[other]\\n mov %[sum], %[other]\\n adc %[sum], %[sum]"
            : [sum] "=r"(sum) : [step] "r"(step), [other] "r"(other));""",
    "an output that cannot be where the input is": """
        __asm__("ldi %[sum], 1\\n add %[sum], %[step]" : [sum] "=d"(sum) : [step] "l"(step));""",
    "the frame pointer is restored": """
        __asm__ volatile("push r28\\n movw r14, r28\\n clr r28\\n movw r28, r14\\n"
            " ldi r28, 1\\n pop r28" : : : "r14", "r15");""",
    "r1 is cleared": """
        __asm__("ldi r18, 9\\n mul r18, r18\\n clr __zero_reg__" : : : "r0", "r18");""",
    "a register of a variable": """
        register uint8_t count __asm__("r24") = step;
        __asm__("subi r24, 1" : "+r"(count));""",
    "a pointer that is tied": """
        __asm__("lpm %A0, Z+\\n lpm %B0, Z" : "=r"(wide), "=z"(next) : "1"(next));""",
}

WRONG = {
    "no early clobber": (
        """
        uint8_t left = 3;
        __asm__ volatile(
            "1:  add  %[sum], %[step]\\n"
            "    dec  %[left]\\n"
            "    brne 1b\\n"
            : [left] "+r"(left), [sum] "+&r"(sum) : [step] "r"(step));""",
        "[left] is written in 'dec %[left]' before [step] is read",
    ),
    "no early clobber of an output in front of the last input": (
        """
        __asm__("mov %[sum], %[step]\\n add %[sum], %[other]"
            : [sum] "=r"(sum) : [step] "r"(step), [other] "r"(other));""",
        "[sum] is written in 'mov %[sum], %[step]' before [other] is read",
    ),
    "no early clobber of a pointer": (
        """
        __asm__ volatile("1: ld r18, X+\\n cp r18, %[step]\\n brne 1b"
            : [next] "+x"(next) : [step] "r"(wide) : "memory", "r18");""",
        "[next] is written in 'ld r18, X+' before [step] is read",
    ),
    "a register that only the text names": (
        """
        __asm__ volatile("1: sbiw r24, 1\\n brne 1b" : [wide] "+w"(wide));""",
        "'sbiw r24, 1' reads r24, which nothing has set",
    ),
    "an operand where the text changes a register": (
        """
        __asm__ volatile("movw r14, r28\\n clr r28\\n dec %[sum]\\n movw r28, r14"
            : [sum] "+r"(sum) : : "r14", "r15");""",
        "[sum] may be in r28, which the text changes",
    ),
    "an undeclared clobber": (
        """
        __asm__("mov r18, %[step]\\n lsl r18\\n mov %[sum], r18"
            : [sum] "=r"(sum) : [step] "d"(step));""",
        "r18 is changed and not declared",
    ),
    "an input that changes": (
        """
        __asm__("dec %[step]\\n mov %[sum], %[step]" : [sum] "=r"(sum) : [step] "r"(step));""",
        "[step] is changed and not declared",
    ),
    "a frame pointer that is restored on one way only": (
        """
        __asm__("push r28\\n tst %[sum]\\n breq 1f\\n clr r28\\n1: pop r19\\n"
            : [sum] "+r"(sum) : : "r19");""",
        "r28 is changed and not declared",
    ),
    "ldi to any register": (
        """
        __asm__("ldi %[sum], 5" : [sum] "=r"(sum));""",
        "%[sum] may be another register than r16..r31 in 'ldi %[sum], 5'",
    ),
    "adiw to an upper register": (
        """
        __asm__("adiw %[wide], 5" : [wide] "+d"(wide));""",
        "%[wide] may be another register than r24..r30",
    ),
    "mulsu of any upper register": (
        """
        __asm__("mulsu r16, %[step]\\n clr r1" : : [step] "d"(step) : "r0", "r16");""",
        "%[step] may be another register than r16..r23",
    ),
    "a displacement from X": (
        """
        __asm__("ldd %[sum], %a[next]+1" : [sum] "=r"(sum) : [next] "e"(next) : "memory");""",
        "%a[next]+1 may be no pointer",
    ),
    "the upper byte of a byte": (
        """
        __asm__("clr %B[sum]" : [sum] "=r"(sum));""",
        "%B[sum] has 1 B",
    ),
    "r1 is left": (
        """
        __asm__("mul %[step], %[step]\\n mov %[sum], r0"
            : [sum] "=r"(sum) : [step] "r"(step) : "r0");""",
        "r1 is changed and not declared",
    ),
    "r1 is left on one way": (
        """
        __asm__("tst %[step]\\n breq 1f\\n mul %[step], %[step]\\n1: mov %[sum], r0\\n"
            " brne 2f\\n clr r1\\n2:\\n"
            : [sum] "=r"(sum) : [step] "r"(step) : "r0");""",
        "r1 is changed and not declared",
    ),
    "r1 is taken for 0": (
        """
        __asm__("mul r18, r18\\n adc %[sum], __zero_reg__\\n clr r1"
            : [sum] "+r"(sum) : : "r0", "r18");""",
        "r1 may not be 0",
    ),
    "a carry from nowhere": (
        """
        __asm__("adc %[sum], %[sum]" : [sum] "+r"(sum));""",
        "reads a flag, which nothing has set",
    ),
    "more is pushed than popped": (
        """
        __asm__("push %[step]" : : [step] "r"(step));""",
        "more is pushed than popped",
    ),
    "a loop that pushes": (
        """
        __asm__("1: push %[step]\\n tst %[step]\\n brne 1b" : : [step] "r"(step));""",
        "the stack differs",
    ),
    "a call": (
        """
        __asm__ volatile("call before" : : : "r18", "r19", "r20", "r21", "r22", "r23", "r24",
            "r25", "r26", "r27", "r30", "r31", "memory");""",
        "calls have no place here",
    ),
    "memory that is not declared": (
        """
        __asm__ volatile("st X, %[step]" : : "x"(next), [step] "r"(step));""",
        "memory is touched and not declared",
    ),
    "an effect that may be left out": (
        """
        __asm__("st X, %[step]" : [sum] "=r"(sum) : "x"(next), [step] "r"(step) : "memory");""",
        "what has an effect is not volatile",
    ),
    "interrupts within": (
        """
        __asm__ volatile("cli\\n nop" : : : "memory");""",
        "interrupts and returns have no place here",
    ),
    "a value of a register that is computed": (
        """
        register uint16_t count __asm__("r24") = wide / step;
        __asm__("sbiw r24, 1" : "+r"(count));""",
        "variables with registers are not set right in front",
    ),
    "a division behind a register's value": (
        """
        register uint16_t count __asm__("r24") = wide;
        uint8_t least = wide / step;
        __asm__("sbiw r24, 1" : "+r"(count) : "r"(least));""",
        "variables with registers are not set right in front",
    ),
    "an instruction that no rule is for": (
        """
        __asm__("des r16" : : : "r0", "r1");""",
        "unknown: the instruction 'des'",
    ),
    "a directive that the rules do not follow": (
        """
        __asm__(".rept 3\\n inc %0\\n.endr" : "+r"(sum));""",
        "unknown: the directive .rept",
    ),
}

FUNCTION = """
typedef uint16_t wide_t;
static void before(void)
{
    return;
}
static uint8_t function(uint8_t step, const uint8_t *next, uint8_t other, wide_t wide)
{
    uint8_t sum = 0;
    %s
"""


def statement_of(text: str) -> Statement:
    statement = list(statements_in(FUNCTION % text))[-1]
    assert isinstance(statement, Statement)
    return statement


@pytest.mark.parametrize("name", RIGHT)
def test_what_is_right(name: str) -> None:
    assert not faults_of(statement_of(RIGHT[name]))


@pytest.mark.parametrize("name", WRONG)
def test_what_is_wrong(name: str) -> None:
    text, fault = WRONG[name]
    faults = faults_of(statement_of(text))
    assert any(fault in each for each in faults), faults


HANDLER = "push r24\nin r24, 0x3F\npush r24\ninc r24\n%s\npop r24\nout 0x3F, r24\npop r24\nreti\n"


@pytest.mark.parametrize(
    ("within", "faults"),
    [
        ("nop", []),
        ("ldi r25, 1", ["r25 is changed and not declared"]),
        ("push r25", ["more is pushed than popped"]),
        ("clr r1", ["r1 is changed and not declared"]),
    ],
)
def test_handlers_restore_what_they_change(within: str, faults: list[str]) -> None:
    found = faults_of_text(HANDLER % within)
    assert set(faults) <= set(found)
    assert bool(found) == bool(faults)


def test_a_handler_that_changes_flags() -> None:
    assert faults_of_text("push r24\ninc r24\npop r24\nreti\n") == [
        "a flag is changed and not declared"
    ]


@pytest.mark.parametrize(
    ("text", "faults"),
    [
        ("ldi r24, 1\nsts 0x60, r24\n", []),
        ("ldi r16, 1\n", ["r16 is changed and not declared"]),
        ("call function\n", []),
    ],
)
def test_parts_of_the_start_change_what_calls_may_change(text: str, faults: list[str]) -> None:
    assert faults_of_text(text) == faults
