"""Random sketches around generated C: predictions made whole, in parts, twice, or never ended.

A sketch knows which conditions of claims it keeps, so that only claims are tried that state it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

Rng = np.random.Generator

_HEAD = """
#include "pnn_model.h"
#include <avr/eeprom.h>
#include <avr/interrupt.h>
#include <avr/io.h>
#include <string.h>

#define NOINLINE __attribute__((noinline, noclone))
#ifdef __AVR_HAVE_MUL__
#define MUL "mul r20, r21\\n "
#else
#define MUL "nop\\n "
#endif

/* A label that limits a loop to so many passes. */
#define LOOP(name, most) LABEL(name, most)
#define LABEL(name, most) __asm__ volatile("pnn_passed." #name "." #most ".0.%=:\\n" : :)

static pnn_input_t x[PNN_FEATURES];
static volatile uint8_t answer, narrow;
static volatile uint16_t wide;
static volatile uint32_t widest;
static struct { uint8_t bytes[40]; } one, other;
static uint16_t state = SEED;

static NOINLINE uint16_t drawn(void)
{
    state ^= state << 7;
    state ^= state >> 9;
    state ^= state << 8;
    return state;
}

static NOINLINE void draw_features(void)
{
    const uint8_t mask = (uint8_t)(drawn() | drawn());
    for (uint16_t i = 0; i < PNN_FEATURES; ++i) {
        const uint8_t value = (uint8_t)drawn() & mask;
        x[i] = value > PNN_INPUT_MAXIMUM ? PNN_INPUT_MAXIMUM : value;
    }
}
"""


@dataclass
class Function:
    """A function of a sketch: what it does, and what it does to predictions."""

    name: str
    body: list[str] = field(default_factory=list)
    begins: int = 0  # predictions, at most
    continues: bool = False  # it may first work on one that was begun elsewhere
    is_inline: bool = False

    @property
    def text(self) -> str:
        """Its definition."""
        kind = "static inline __attribute__((always_inline))" if self.is_inline else "NOINLINE"
        body = "\n".join(f"    {line}" for line in self.body)
        return f"{kind} uint8_t {self.name}(void)\n{{\n{body}\n    return answer;\n}}\n"

    @property
    def is_single(self) -> bool:
        """Whether each call works on a single prediction."""
        return self.begins + self.continues <= 1


@dataclass
class Sketch:
    """A program, and the conditions that it keeps."""

    functions: list[Function]
    text: str = ""
    pushes_all: bool = True  # before the end of each prediction
    waits_for_eeprom: bool = True
    handler_calls: str = ""  # the function that the interrupt handler calls

    def keeps(self, condition: str, entry: str) -> bool:
        """Return whether a call of an entry meets a condition that a claim states."""
        if "single prediction" in condition:
            name = self.handler_calls if entry.startswith("__vector") else entry
            return all(each.is_single for each in self.functions if each.name == name)
        return {
            "the labels in the source are correct": True,
            "every feature is pushed before the end": self.pushes_all,
            "no byte is being written to the EEPROM": self.waits_for_eeprom,
        }[condition]


def random_sketch(rng: Rng, seed: int, *, teachable: bool) -> Sketch:
    """Return a sketch for any model."""
    names = [f"task{i}" for i in range(int(rng.integers(2, 6)))]
    sketch = Sketch([])
    for name in names:
        sketch.functions.append(_function(rng, sketch, name))
    main = [*_calls(rng, sketch, teachable)]
    handler = _handler(rng, sketch, main)
    setup = "    pnn_recall();\n" * teachable + (_timer(rng) if handler else "")
    loop = "\n".join(f"        {line}" for line in main)
    sketch.text = (
        _HEAD.replace("SEED", str(seed % 60_000 + 1))
        + "\n".join(each.text for each in sketch.functions)
        + handler
        + f"\nint main(void)\n{{\n{setup}    for (;;) {{\n{loop}\n    }}\n}}\n"
    )
    return sketch


def _function(rng: Rng, sketch: Sketch, name: str) -> Function:
    function = Function(name, is_inline=bool(rng.random() < 0.1))
    for _ in range(int(rng.integers(1, 4))):
        part = _PARTS[int(rng.choice(len(_PARTS), p=_ODDS))](rng, sketch, function)
        if rng.random() < 0.3:
            part = [
                f"if (drawn() & {rng.integers(1, 4)}) {{",
                *(f"    {each}" for each in part),
                "}",
            ]
        function.body += part
    return function


def _calls(rng: Rng, sketch: Sketch, teachable: bool) -> list[str]:
    """Return the statements of the endless loop."""
    tasks = [each.name for each in sketch.functions]
    lines = ["draw_features();"]
    lines += [f"{rng.choice(tasks)}();" for _ in range(int(rng.integers(2, 7)))]
    if teachable:
        learn = "pnn_predict(x); pnn_learn((uint8_t)(drawn() % PNN_CLASSES));"
        lines.append(f"if ((drawn() & 15) == 0) {{ {learn} }}")
        if rng.random() < 0.5:
            sketch.waits_for_eeprom = bool(rng.random() < 0.5)
            wait = " eeprom_busy_wait();" if sketch.waits_for_eeprom else ""
            lines.insert(1, f"eeprom_write_byte((uint8_t *)E2END, (uint8_t)drawn());{wait}")
    return lines


def _handler(rng: Rng, sketch: Sketch, main: list[str]) -> str:
    """Return an interrupt handler: none, one of its own, or one that predicts.

    If it predicts, the rest of the program does so only while interrupts are off, or not at all.
    """
    kind = str(rng.choice(["none", "own", "predicts", "both"], p=[0.4, 0.3, 0.15, 0.15]))
    if kind == "none":
        return ""
    body = ["wide = wide + 1;", *_arithmetic(rng, sketch, Function(""))]
    if kind in {"predicts", "both"}:
        sketch.handler_calls = str(rng.choice([each.name for each in sketch.functions]))
        body.append(f"{sketch.handler_calls}();")
        if kind == "predicts":
            main[1:] = ["wide = wide / 3;"]
        else:
            main[:] = ["cli();", *main, "sei();", "wide = wide / 3;"]
    return "ISR(TIMER0_OVF_vect)\n{\n" + "\n".join(f"    {line}" for line in body) + "\n}\n"


def _timer(rng: Rng) -> str:
    prescaler = int(rng.choice([2, 3]))  # of 8 or 64: an interrupt each 2,048 or 16,384 cycles
    return f"""#ifdef TIMSK0
    TIMSK0 = 1 << TOIE0;
#else
    TIMSK = 1 << TOIE0;
#endif
    TCCR0B = {prescaler};
    sei();
"""


# ---- parts of functions ------------------------------------------------------------------------


def _pushing(rng: Rng, function: Function, count: str) -> list[str]:
    """Return statements that push so many of the features."""
    one = str(rng.choice(["x[i]", "pnn_quantize(i, (int16_t)drawn())"]))
    label = f"LOOP({function.name}_{len(function.body)}, PNN_FEATURES);"
    return [
        [f"pnn_push_many(x, {count});"],
        [f"for (uint16_t i = 0; i < {count}; ++i) {{ {label} pnn_push({one}); }}"],
        [
            f"for (uint16_t i = 0; i < {count};) {{",
            f"    {label}",
            "    uint16_t n = 1 + (drawn() & 7);",
            f"    if (n > {count} - i) n = {count} - i;",
            "    pnn_push_many(x + i, n);",
            "    i += n;",
            "}",
        ],
    ][int(rng.integers(3))]


_SOME = "(uint16_t)(drawn() % PNN_FEATURES)"


def _whole(rng: Rng, sketch: Sketch, function: Function) -> list[str]:
    function.begins += 1
    return ["answer = pnn_predict(x);"]


def _pushed(rng: Rng, sketch: Sketch, function: Function) -> list[str]:
    function.begins += 1
    return ["pnn_begin();", *_pushing(rng, function, "PNN_FEATURES"), "answer = pnn_finish();"]


def _restarted(rng: Rng, sketch: Sketch, function: Function) -> list[str]:
    function.begins += 1
    return ["pnn_begin();", f"pnn_push_many(x, {_SOME});", *_pushed(rng, sketch, function)]


def _skipped(rng: Rng, sketch: Sketch, function: Function) -> list[str]:
    function.begins += 1
    sketch.pushes_all = False
    return ["pnn_begin();", f"pnn_push_many(x, {_SOME});", "answer = pnn_finish();"]


def _abandoned(rng: Rng, sketch: Sketch, function: Function) -> list[str]:
    function.begins += 1
    sketch.pushes_all = False
    return ["pnn_begin();", f"pnn_push_many(x, {_SOME});"]


def _continued(rng: Rng, sketch: Sketch, function: Function) -> list[str]:
    if function.begins == 0:
        function.continues = True
    sketch.pushes_all = False
    how = ["pnn_push(x[0]);", f"pnn_push_many(x, {_SOME});", "answer = pnn_finish();"]
    return [str(rng.choice(how))]


def _arithmetic(rng: Rng, sketch: Sketch, function: Function) -> list[str]:
    """Return what makes the compiler loop: divisions, long shifts, copies."""
    shift, bytes_ = int(rng.integers(1, 31)), int(rng.integers(1, 40))
    return [
        [f"narrow = narrow / (uint8_t)({rng.integers(1, 250)} + narrow % 5);"],
        [f"wide = wide / ({rng.integers(1, 60_000)} | wide);"],
        [f"widest = widest % (widest | {rng.integers(1, 60_000)}u);"],
        [f"widest = widest >> {shift};"],
        [f"widest = (uint32_t)((int32_t)widest >> {shift} << {rng.integers(1, 31)});"],
        ["one = other;", "answer = one.bytes[7];"],
        [f"memcpy(&other, &one, {bytes_});", "answer = other.bytes[3];"],
        ["wide = (uint16_t)(narrow * wide);"],
        [f"EEAR = {bytes_}; EECR |= 1 << EERE; narrow = EEDR;"],
    ][int(rng.integers(9))]


def _counted(rng: Rng, sketch: Sketch, function: Function) -> list[str]:
    """Return a loop in assembly that counts a register, as it should or nearly so."""
    counter = str(rng.choice(["r18", "r24", "r25"]))
    begin, count = [f"ldi {counter}, {rng.integers(0, 12)}"], [f"dec {counter}"]
    if rng.random() < 0.3:  # as the compiler shifts by a constant
        begin, count, counter = ["set", f"bld r1, {rng.integers(0, 8)}"], ["lsr r1"], "r1"
    harmless = ["lsr r20", "add r20, r21", "cp r20, r21", "ror r21", "ld r21, Z", "brcc 2f"]
    odd = ["nop", f"lsr {counter}", "sbrc r20, 1", "MUL"]
    loop = [
        "1:",
        *rng.choice(harmless, int(rng.integers(0, 4))),
        "2:",
        *count,
        "brne 1b",
    ]
    if rng.random() < 0.3:
        loop.insert(int(rng.integers(1, len(loop))), str(rng.choice(odd)))
    if rng.random() < 0.4:
        begin += [str(rng.choice(["mov r19, r24", "movw r22, r20", "sbrs r20, 0", "brcs 2f"]))]
    if rng.random() < 0.4:  # another entrance
        begin = [
            *("sbrc r20, 2", f"rjmp {rng.choice(['1f', '2f'])}", *begin),
            *(["rjmp 2f"] if rng.random() < 0.5 else []),
        ]
    before = ["MUL"] if rng.random() < 0.2 else []
    text = "".join(
        "MUL" if line == "MUL" else f'"{line}\\n "'
        for line in ["mov r20, %1", "clr r21", *before, *begin, *loop, "clr r1"]
    )
    clobbers = ", ".join(f'"r{n}"' for n in (0, *range(18, 26)))
    return [
        "{",
        "    const uint8_t *from = other.bytes;",
        f'    __asm__ volatile({text} : "+z"(from) : "r"(narrow) : {clobbers}, "memory");',
        "}",
    ]


Part = Callable[[Rng, Sketch, Function], list[str]]
_WEIGHED: list[tuple[Part, float]] = [
    (_whole, 4),
    (_pushed, 3),
    (_restarted, 1),
    (_skipped, 1),
    (_abandoned, 1),
    (_continued, 1),
    (_arithmetic, 4),
    (_counted, 2),
]
_PARTS = [part for part, _ in _WEIGHED]
_ODDS = np.array([weight for _, weight in _WEIGHED]) / sum(weight for _, weight in _WEIGHED)
