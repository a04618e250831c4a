"""The longest and the shortest path through functions, by the facts that labels state."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from avr_programs import compile_text
from avr_tools import needs_avr_gcc, needs_emulated_avr
from generated_programs import marked_cycles
from refusals import refused_by

from protonn_edge.chips.avr.facts import span_labels
from protonn_edge.chips.avr.paths import Times, longest_part, paths_through
from protonn_edge.chips.avr.program import read_program
from protonn_edge.system.errors import CheckFailed, InputError, ProtoNNEdgeError

pytestmark = needs_avr_gcc

LEVELS = ("-O1", "-O2", "-O3", "-Os", "-Os -flto")

FACTS = """
#include <stdint.h>
#define FACT(label) __asm__ volatile(label ".%=:\\n" : :)
#define PASSED(name, most, least) FACT("pnn_passed." #name "." #most "." #least)
#define EACH(name, other, most, least) FACT("pnn_each." #name "." #other "." #most "." #least)
volatile uint8_t in, out;
"""
MAIN = "int main(void) { for (;;) { pnn_predict(); } }\n"

Compile = Callable[..., Path]


def _straight(loop: str) -> str:
    return f"{FACTS}__attribute__((noinline)) void pnn_predict(void) {{ {loop} }}\n{MAIN}"


def test_a_loop_is_passed_as_often_as_its_fact_says(compile_avr: Compile) -> None:
    loop = "for (uint8_t i = 10; i > 0; --i) { PASSED(loop, MOST, 4); out = i; }"
    lengths = []
    for most in ("10", "11"):
        text = _straight(loop.replace("MOST", most))
        program = read_program(compile_avr(text, "-fno-unroll-loops"))
        paths = paths_through(program, "pnn_predict")
        assert paths.longest.passes == {"loop": int(most)}
        assert paths.shortest.passes == {"loop": 4}
        lengths.append(paths.longest.cycles)
    assert lengths[1] - lengths[0] == 5  # sts, dec or subi, brne


def test_code_that_waits_where_nothing_ever_passes_is_left_out(compile_avr: Compile) -> None:
    for most, refused in (("0", False), ("1", True)):
        text = _straight("out = 1; while (in == 3) { PASSED(never, MOST, 0); for (;;) {} }")
        program = read_program(compile_avr(text.replace("MOST", most)))
        if refused:
            with pytest.raises(CheckFailed, match="waits or never returns"):
                paths_through(program, "pnn_predict")
        else:
            assert paths_through(program, "pnn_predict").longest.cycles < 30


def test_a_branch_back_to_where_nothing_ever_passes_is_no_loop(compile_avr: Compile) -> None:
    never = "rjmp 2f\\n 1: pnn_passed.never.0.0.1: nop\\n nop\\n 2: tst %0\\n brne 1b\\n"
    text = _straight(f'uint8_t x = in; __asm__ volatile("{never}" : "+r"(x)); out = x;')
    assert paths_through(read_program(compile_avr(text)), "pnn_predict").longest.cycles < 30


def test_copies_that_the_compiler_makes_of_a_function_are_all_followed(
    compile_avr: Compile,
) -> None:
    body = "for (uint8_t i = MOST; i > 0; --i) {{ PASSED(l{0}, {0}, {0}); out = i; }}"
    copies = "".join(
        f'__attribute__((noinline)) void copy{most}(void) __asm__("pnn_predict.constprop.{most}");'
        f"void copy{most}(void) {{ {body.format(most).replace('MOST', most)} }}"
        for most in ("9", "4")
    )
    main = "int main(void) { for (;;) { copy9(); copy4(); } }"
    program = read_program(compile_avr(f"{FACTS}{copies}{main}", "-fno-unroll-loops"))
    paths = paths_through(program, "pnn_predict")
    assert (paths.longest.passes, paths.shortest.passes) == ({"l9": 9}, {"l4": 4})


def test_places_of_one_name_are_passed_so_often_together(compile_avr: Compile) -> None:
    either = "if (in) {{ PASSED(either, 1, 0); {0} }} "
    slow = "out = 1; " * 8
    text = _straight(either.format(slow) + either.format(slow) + "else out = 2;")
    path = paths_through(read_program(compile_avr(text)), "pnn_predict").longest
    free = paths_through(read_program(compile_avr(text.replace(", 1, 0", ", 2, 0"))), "pnn_predict")
    assert path.passes == {"either": 1}
    assert free.longest.passes == {"either": 2}
    assert path.cycles < free.longest.cycles


def test_a_part_of_a_prediction_begins_and_ends_at_labels(compile_avr: Compile) -> None:
    text = f"""{FACTS}
        int main(void)
        {{
            for (;;) {{
                FACT("pnn_span.turn");
                if (in) {{ FACT("pnn_span.sent"); while (in) {{ }} }}
                for (uint8_t i = in; i > 0; --i) {{ PASSED(loop, 9, 9); out = i; }}
                FACT("pnn_span.turned");
            }}
        }}"""
    program = read_program(compile_avr(text))
    places = span_labels(program)
    once, ends = {places["turn"][0]: Times(1, 1)}, [*places["turned"], *places["sent"]]
    lengths = [longest_part(program, once, ends, {"loop": most}).cycles for most in (3, 4)]
    assert lengths[1] - lengths[0] == 5
    assert longest_part(program, once, ends).passes["loop"] == 9
    assert longest_part(program, once, ends, {"loop": 0}).passes["loop"] == 0
    with pytest.raises(CheckFailed, match="main loops"):
        longest_part(program, once)


def test_a_fact_may_hold_for_each_time_that_another_place_is_passed(compile_avr: Compile) -> None:
    text = _straight("""
        for (uint8_t i = 5; i > 0; --i) {
            PASSED(outer, 5, 5);
            for (uint8_t j = in; j > 0; --j) { EACH(inner, outer, 3, 2); out = j; }
            out = i;
        }""")
    paths = paths_through(read_program(compile_avr(text)), "pnn_predict")
    assert paths.longest.passes == {"outer": 5, "inner": 15}
    assert paths.shortest.passes == {"outer": 5, "inner": 10}


def test_a_fact_about_another_place_may_allow_a_few_more(compile_avr: Compile) -> None:
    text = _straight("""
        for (uint8_t i = 5; i > 0; --i) {
            PASSED(outer, 5, 5);
            for (uint8_t j = in; j > 0; --j) {
                FACT("pnn_each.inner.outer.3.0.2"); PASSED(inner, 99, 0); out = j;
            }
        }""")
    paths = paths_through(read_program(compile_avr(text)), "pnn_predict")
    assert paths.longest.passes["inner"] == 5 * 3 + 2


def test_a_pass_of_a_place_may_count_several_times(compile_avr: Compile) -> None:
    text = _straight("""
        for (uint8_t i = in; i > 0; --i) {
            if (in) { FACT("pnn_passed.sum.12.0.3"); out = 1; out = 2; out = 3; }
            else { PASSED(sum, 12, 0); out = 4; }
        }""")
    path = paths_through(read_program(compile_avr(text)), "pnn_predict").longest
    assert path.passes == {"sum": 12}


def test_two_labels_at_one_address_are_passed_twice(compile_avr: Compile) -> None:
    text = _straight(
        "for (uint8_t i = in; i > 0; --i) { PASSED(a, 8, 0); PASSED(a, 8, 0); out = i; }"
    )
    program = read_program(compile_avr(text))
    assert paths_through(program, "pnn_predict").longest.passes["a"] == 8
    assert len({mark.address for mark in program.marks}) == 1


WIDE = "volatile uint32_t wide;"
RETURN = 4


def _instructions(code: str) -> str:
    used = "r0", "r24", "r25", "r26", "r27"
    clobbers = ", ".join(f'"{each}"' for each in used)
    return _straight(f'__asm__ volatile("{code}" : : : {clobbers});'.replace("; ", "\\n "))


def _with(global_code: str, body: str) -> str:
    return _straight(body).replace(FACTS, f"{FACTS}{global_code}\n")


Refused = tuple[str, str, type[ProtoNNEdgeError], str]


def _refused(
    text: str, kind: type[ProtoNNEdgeError] = CheckFailed, place: str = "paths", named: str = ""
) -> Refused:
    """Return a program, what refuses it in which module, and what is named."""
    return text, f"chips.avr.{place}", kind, named


REFUSED: dict[str, Refused] = {
    "a loop without a fact, with its line": _refused(
        _straight("\nfor (uint8_t i = in; i > 0; --i)\n out = 1;\n"), named="(firmware.c:"
    ),
    "recursion": _refused(
        _with(
            "__attribute__((noinline)) uint8_t again(uint8_t n)"
            "{ return n ? in + again(n - in) : n; }",
            "out = again(in);",
        )
    ),
    "a call through a pointer": _refused(
        _straight("void (*volatile called)(void) = 0; called();"), place="functions"
    ),
    "facts that no path keeps": _refused(_straight("PASSED(twice, 3, 2); out = 1;")),
    "facts that contradict each other": _refused(
        _straight("PASSED(once, 1, 1); out = 1; PASSED(once, 2, 1); out = 2;"), InputError, "facts"
    ),
    "a function that is not there": _refused("int main(void) { return 0; }", InputError),
    **{
        f"unknown passes: {start}": _refused(_instructions(f"{start}; 1: asr r0; lsr r1; brne 1b"))
        for start in ("lpm r1, Z", "mul r24, r24", "in r1, 0x3f")
    },
    "a loop that writes its counter": _refused(
        _instructions("ldi r26, 9; 1: ld r0, X+; dec r26; brne 1b")
    ),
    "a shift by a variable": _refused(_with(WIDE, "wide = wide >> in;")),
    "a loop that is also called": _refused(
        _instructions("rcall 1f; ldi r24, 3; 1: dec r24; brne 1b; ret").replace(
            "((noinline", "((naked, noinline"
        )
    ),
}


@pytest.mark.parametrize(("text", "place", "kind", "named"), REFUSED.values(), ids=REFUSED)
def test_what_has_no_longest_path_is_refused(
    compile_avr: Compile, text: str, place: str, kind: type[ProtoNNEdgeError], named: str
) -> None:
    program = read_program(compile_avr(text, "-gdwarf-2", "-fno-optimize-sibling-calls"))
    with refused_by(place, kind=kind, naming=named):
        paths_through(program, "pnn_predict")


def _counted(counter: str) -> str:
    return _instructions(f"{counter}; 1: dec r24; brne 1b")


WITHOUT_A_FACT: dict[str, tuple[str, str, range]] = {
    "a long shift": (_with(WIDE, "wide = wide >> 5;"), "-Os", range(21, 200)),
    "a copy": (
        _with(
            "struct wide { uint8_t bytes[50]; }; struct wide one, *volatile to = &one;",
            "*to = one;",
        ),
        "-O1",
        range(351, 2_000),
    ),
    **{
        name: (text, "-O2", range(cycles + RETURN, cycles + RETURN + 1))
        for name, text, cycles in (
            (
                "a long shift that counts with a bit",
                _instructions("set; bld r1, 4; 1: asr r0; lsr r1; brne 1b"),
                1 + 1 + 5 * (1 + 1 + 2) - 1,
            ),
            ("subi", _counted("ldi r24, 9; subi r24, 2"), 2 + 3 * 7 - 1),
            ("lsl", _counted("ldi r24, 3; mov r25, r24; lsl r25; add r24, r25"), 4 + 3 * 9 - 1),
            (
                "sbiw",
                _counted("ldi r26, 4; ldi r27, 1; sbiw r26, 5; movw r24, r26"),
                5 + 3 * 255 - 1,
            ),
            ("clr", _counted("clr r24"), 1 + 3 * 256 - 1),
        )
    },
}
"""A program whose passes are in its code, the level of optimization, and its cycles."""


@pytest.mark.parametrize(("text", "level", "cycles"), WITHOUT_A_FACT.values(), ids=WITHOUT_A_FACT)
def test_loops_whose_passes_are_in_the_code_need_no_fact(
    compile_avr: Compile, text: str, level: str, cycles: range
) -> None:
    paths = paths_through(read_program(compile_avr(text, level)), "pnn_predict")
    assert paths.shortest.cycles == paths.longest.cycles
    assert paths.longest.cycles in cycles


def test_a_fact_about_another_place_that_is_gone_says_nothing(compile_avr: Compile) -> None:
    facts = "PASSED(loop, 7, 0); EACH(loop, gone, 1, 0);"
    text = _straight(f"for (uint8_t i = in; i > 0; --i) {{ {facts} out = i; }}")
    paths = paths_through(read_program(compile_avr(text)), "pnn_predict")
    assert paths.longest.passes["loop"] == 7


def test_labels_of_facts_take_no_memory_and_name_no_code(compile_avr: Compile) -> None:
    loop = "for (uint8_t i = 10; i > 0; --i) {{ {0} out = i; }}"
    plain = read_program(compile_avr(_straight(loop.format('__asm__ volatile("");'))))
    noted = read_program(compile_avr(_straight(loop.format("PASSED(loop, 10, 10);"))))
    assert noted.code == plain.code
    assert noted.sections == plain.sections
    assert noted.symbols == plain.symbols
    (label, *_) = noted.marks
    symbol = noted.names.at(label.address)
    assert symbol is not None
    assert symbol.name == "pnn_predict"


# ---- random structured programs ----------------------------------------------------------------


class _Writer:
    """Writes statements: loops with facts, choices by what the program draws, calls, writes."""

    def __init__(self, rng: np.random.Generator) -> None:
        self._rng = rng
        self._loops = 0
        self.functions: list[str] = []

    def body(self, most: int, least: int, depth: int) -> str:
        """Return statements that a prediction passes so often."""
        return "".join(self._one(most, least, depth) for _ in range(self._rng.integers(1, 4)))

    def _one(self, most: int, least: int, depth: int) -> str:
        kind = self._rng.choice(["write", "loop", "choice", "call"] if depth else ["write"])
        if kind == "loop":
            times, self._loops = int(self._rng.integers(1, 6)), self._loops + 1
            fact = f"PASSED(loop{self._loops}, {times * most}, {times * least});"
            inside = self.body(times * most, times * least, depth - 1)
            return f"for (uint8_t i = 0; i < {times}; ++i) {{ {fact} {inside} }}\n"
        if kind == "choice":
            one, other = self.body(most, 0, depth - 1), self.body(most, 0, depth - 1)
            return f"if (drawn() & {self._rng.integers(1, 4)}) {{ {one} }} else {{ {other} }}\n"
        if kind == "call":
            body = self.body(most, least, depth - 1)
            name = f"called{len(self.functions)}"
            inlined = self._rng.choice(["__attribute__((noinline))", "static inline"])
            self.functions.append(f"{inlined} void {name}(void) {{ {body} }}\n")
            return f"{name}();\n"
        return f"out = in {self._rng.choice(['+', '*', '>>', '/'])} {self._rng.integers(1, 9)};\n"


def _random_program(seed: int) -> str:
    writer = _Writer(np.random.default_rng(seed))
    body = writer.body(1, 1, 4)
    return f"""{FACTS}
        static uint8_t state = {seed % 251 + 1};
        static inline uint8_t drawn(void)
        {{
            state = state & 1 ? state >> 1 ^ 0xb8 : state >> 1;
            return state;
        }}
        {"".join(writer.functions)}
        __attribute__((noinline)) void pnn_predict(void) {{ {body} }}
        int main(void)
        {{
            for (uint8_t n = 0; n < 4; ++n) {{
                *(volatile uint8_t *)0x3e = 1;
                __asm__ volatile("call %x0" :: "i"(pnn_predict) : "r0", "r18", "r19", "r20",
                    "r21", "r22", "r23", "r24", "r25", "r26", "r27", "r30", "r31", "memory");
                *(volatile uint8_t *)0x3e = 0;
            }}
            for (;;) {{
            }}
        }}
        """


@needs_emulated_avr
@pytest.mark.parametrize("seed", range(10))
def test_random_programs_stay_between_their_paths(tmp_path: Path, seed: int) -> None:
    level = LEVELS[seed % len(LEVELS)]
    elf = compile_text(_random_program(seed), tmp_path / "program.elf", *level.split())
    paths = paths_through(read_program(elf), "pnn_predict")
    around = 4 * (1 + 4)  # the OUT that begins a span, and the call
    taken = marked_cycles(elf, spans=4) - around
    assert 4 * paths.shortest.cycles <= taken <= 4 * paths.longest.cycles
    for path in (paths.longest, paths.shortest):
        assert path.cycles == sum(own for _, own in path.functions.values())
