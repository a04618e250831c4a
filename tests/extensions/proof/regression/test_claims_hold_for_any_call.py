"""Claims hold for any call of what was linked, whatever calls it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from avr_programs import compile_text
from avr_tools import AVR_GCC, EMULATED_AVR, needs_emulated_avr, skip_without
from call_meter import measured_calls
from chains import replace as with_numbers
from command_line import run, run_json
from generated_programs import write_c
from model_factory import (
    plain_model,
    random_model,
    random_points,
    random_window_model,
    window_features_of,
)
from refusals import refused_by, refuses

from protonn_edge.chips.avr.paths import paths_through
from protonn_edge.chips.avr.program import read_program
from protonn_edge.chips.boards import load_board
from protonn_edge.codegen.projects.folder import Project
from protonn_edge.codegen.projects.project import build
from protonn_edge.extensions.proof.certificate.claims import PROVEN, Claim, Settings
from protonn_edge.extensions.proof.certificate.program import certify_program
from protonn_edge.extensions.proof.certificate.project import firmware_claims
from protonn_edge.learn.evaluation.measurement import measure
from protonn_edge.model.file import save_model
from protonn_edge.model.model import Model
from protonn_edge.model.quantization import quantize
from protonn_edge.report.gathering import gather
from protonn_edge.system.errors import CheckFailed

pytestmark = needs_emulated_avr

HEAD = """
#include "pnn_model.h"
#include <avr/eeprom.h>
#include <avr/io.h>
#define NOINLINE __attribute__((noinline, noclone))
static volatile uint8_t answer, wanted;
static pnn_input_t x[PNN_FEATURES];
"""
CYCLES = 300_000


def sketch(folder: Path, model: Model, functions: str, loop: str, flags: str = "-O2") -> Path:
    """Return a program that repeats statements, with a model's generated C."""
    write_c(quantize(model), folder)
    text = f"{HEAD}{functions}\nint main(void) {{ for (;;) {{ {loop} }} }}\n"
    model_c = str(folder / "pnn_model.c")
    return compile_text(text, folder / "sketch.elf", flags, f"-I{folder}", model_c)


def claims_of(elf: Path, entry: str, board: str = "uno") -> dict[str, Claim]:
    certificate = certify_program(elf, load_board(board), Settings(board, entry))
    return {claim.name: claim for claim in certificate.claims}


def check(elf: Path, entry: str, mcu: str = "atmega328p", board: str = "uno") -> dict[str, Claim]:
    """Compare the claims about a function with its calls, and return them."""
    claims, calls = claims_of(elf, entry, board), measured_calls(elf, mcu, [entry], CYCLES)
    measured = calls.calls[entry]
    assert measured.count > 0
    least, most = (claims[f"cycles-{name}"] for name in ("least", "most"))
    assert least.status == most.status == PROVEN
    assert least.value is not None
    assert most.value is not None
    assert least.value <= measured.least
    assert measured.most <= most.value
    return claims


PARTS = {
    "pnn_push": "pnn_begin(); for (uint8_t i = 0; i < 99; ++i) pnn_push(9); pnn_finish();",
    "pnn_push_many": "pnn_begin(); pnn_push_many(x, 1); pnn_push_many(x, 2);",
    "pnn_finish": "answer = pnn_finish();",
    "maybe": "answer = maybe();",
    "pushes_nothing": "pushes_nothing();",
}


@pytest.mark.parametrize("entry", PARTS)
def test_a_part_of_a_prediction_has_a_least_number_that_holds(tmp_path: Path, entry: str) -> None:
    functions = """
        NOINLINE uint8_t maybe(void) { return wanted ? pnn_predict(x) : 0; }
        NOINLINE void pushes_nothing(void) { pnn_push_many(x, wanted); }
    """
    check(sketch(tmp_path, plain_model(), functions, PARTS[entry]), entry)


def test_predictions_that_are_abandoned_count(tmp_path: Path) -> None:
    restarted = """
        NOINLINE uint8_t restarted(void)
        {
            pnn_begin();
            pnn_push_many(x, PNN_FEATURES - 1);
            pnn_begin();
            pnn_push_many(x, PNN_FEATURES);
            return pnn_finish();
        }
    """
    claim = claims_of(sketch(tmp_path, plain_model(), restarted, "restarted();"), "restarted")
    condition = "each call of restarted works on a single prediction (counting abandoned ones)"
    assert condition in claim["cycles-most"].statement


def test_features_that_are_not_pushed_are_a_condition(tmp_path: Path) -> None:
    model = plain_model()
    elf = sketch(tmp_path, model, "", "pnn_begin(); pnn_finish(); pnn_predict(x);")
    condition = "every feature is pushed before the end"
    assert condition in claims_of(elf, "pnn_finish")["cycles-most"].statement
    assert condition not in check(elf, "pnn_predict")["cycles-most"].statement


def test_a_busy_eeprom_is_a_condition(tmp_path: Path) -> None:
    model = with_numbers(random_model(), teachable=4)
    writes = "pnn_predict(x); pnn_learn(0); eeprom_write_byte((uint8_t *)E2END, wanted);"
    elf = sketch(tmp_path, model, "", writes)
    for name in ("cycles-most", "cycles-least"):
        claim = claims_of(elf, "pnn_predict")[name]
        assert claim.statement.endswith("and no byte is being written to the EEPROM")


def test_raw_values_are_scaled_beside_the_prediction(tmp_path: Path) -> None:
    model = random_window_model(window_features_of("mean,deviation"))
    functions = """
        NOINLINE uint8_t from_raw(void)
        {
            pnn_begin();
            for (uint16_t i = 0; i < PNN_FEATURES; ++i) {
                __asm__ volatile("pnn_passed.own_loop.64.0.%=:\\n" : :);
                pnn_push(pnn_quantize(i, (int16_t)(i << 8)));
            }
            return pnn_finish();
        }
    """
    check(sketch(tmp_path, model, functions, "answer = from_raw();"), "from_raw")


# ---- programs without a model --------------------------------------------------------------------

PLAIN = """
#include <avr/io.h>
#include <stdint.h>
volatile uint8_t in, out;
volatile uint16_t wide;
__attribute__((noinline, noclone, NAKED)) void timed(void) { BODY }
int main(void) { for (;;) { in = in * 5 + 1; timed(); } }
"""


def timed(folder: Path, body: str, *, naked: bool = False, mcu: str = "atmega328p") -> Path:
    """Return a program that calls ``timed``; a `naked` one is only the assembly of its body."""
    if naked:
        lines = body.replace(" / ", r"\n ")
        body = f'__asm__ volatile("{lines}");'
    text = PLAIN.replace("BODY", body).replace("NAKED", "naked" if naked else "used")
    return compile_text(text, folder / "timed.elf", "-O2", mcu=mcu)


BIT = "lds r24, in / sbrc r24, 0 / "  # the next instruction only if a bit is set
NOT_COUNTED = {
    "entered in the middle": f"{BIT} rjmp 3f / ldi r25, 3 / 1: lsr r24 / 2: dec r25 / brne 1b / ret"
    " / 3: ldi r25, 200 / rjmp 2b",
    "entered at its branch": f"{BIT} rjmp 2f / ldi r25, 3 / 1: lsr r24 / dec r25 / 2: brne 1b"
    " / ret",
    "called": "rcall 1f / ldi r25, 3 / 1: lsr r24 / dec r25 / brne 1b / ret",
    "two initial values": f"ldi r25, 200 / {BIT} ldi r25, 3 / 1: lsr r24 / dec r25 / brne 1b / ret",
    "a count that may be skipped": f"ldi r25, 9 / 1: {BIT} dec r25 / brne 1b / ret",
    "a counter that shifts": "ldi r25, 200 / 1: lsr r25 / dec r25 / brne 1b / ret",
    "a counter in memory": "ldi r25, 9 / 1: ld r25, X / dec r25 / brne 1b / ret",
    "a pointer as the counter": "ldi r26, 9 / 1: ld r24, X+ / dec r26 / brne 1b / ret",
    "a function in the loop": "ldi r25, 9 / 1: rcall 2f / dec r25 / brne 1b / ret"
    " / 2: ldi r25, 2 / ret",
    "a product in the register of 0": "mul r24, r25 / set / bld r1, 1 / 1: asr r24 / lsr r1"
    " / brne 1b / ret",
    "a bit that may be skipped": f"set / {BIT} bld r1, 4 / 1: asr r24 / lsr r1 / brne 1b / ret",
    "another way out": "ldi r25, 9 / 1: lsr r24 / brcs 2f / dec r25 / brne 1b / 2: ret",
}


@pytest.mark.parametrize("name", NOT_COUNTED)
def test_a_loop_that_only_looks_counted_needs_a_label(tmp_path: Path, name: str) -> None:
    program = read_program(timed(tmp_path, NOT_COUNTED[name], naked=True))
    with refused_by("chips.avr.paths", kind=CheckFailed):
        paths_through(program, "timed")


@pytest.mark.parametrize(
    "body",
    [
        "out = in / (uint8_t)(in | 1);",
        "wide = wide / (wide | 1);",
        "wide = (uint32_t)wide * wide % (wide + 1UL);",
    ],
)
def test_divisions_are_counted_by_their_code(tmp_path: Path, body: str) -> None:
    elf = timed(tmp_path, body)
    paths, calls = (
        paths_through(read_program(elf), "timed"),
        measured_calls(elf, "atmega328p", ["timed"], CYCLES),
    )
    measured = calls.calls["timed"]
    assert paths.shortest.cycles <= measured.least <= measured.most <= paths.longest.cycles
    assert paths.longest.cycles < 1.3 * measured.least


def test_code_inside_a_division_is_no_division(tmp_path: Path) -> None:
    program = read_program(timed(tmp_path, "wide = wide / (wide | 1);"))
    with refused_by("chips.avr.paths", kind=CheckFailed):
        paths_through(program, "__udivmodhi4_ep")


def test_code_that_is_called_and_then_run_has_no_bound(tmp_path: Path) -> None:
    program = read_program(timed(tmp_path, "rcall 1f / 1: nop / nop / ret", naked=True))
    with refused_by("chips.avr.functions", kind=CheckFailed):
        paths_through(program, "timed")


def test_a_limit_for_each_pass_of_another_place_needs_that_place(tmp_path: Path) -> None:
    """A function can be called behind the place that its limit is about."""
    inner = """
        __attribute__((noinline, noclone)) void inner(void)
        {
            for (uint8_t i = 0; i < 5; ++i) {
                __asm__ volatile("pnn_each.inner.outer.5.0.%=:" : :);
                out = i;
            }
        }
    """
    body = '__asm__ volatile("pnn_passed.outer.1.1.%=:" : :); out = 9; inner();'
    text = (
        PLAIN.replace("BODY", body)
        .replace("NAKED", "used")
        .replace("volatile uint16_t wide;", inner)
    )
    elf = compile_text(text, tmp_path / "inner.elf", "-O2", "-fno-unroll-loops")
    measured = measured_calls(elf, "atmega328p", ["inner", "timed"], CYCLES).calls
    for entry, calls in measured.items():
        paths = paths_through(read_program(elf), entry)
        assert paths.shortest.cycles <= calls.least <= calls.most <= paths.longest.cycles


@pytest.mark.parametrize("mcu", ["atmega328p", "attiny85"])
def test_the_chip_stops_while_it_reads_or_writes_its_eeprom(tmp_path: Path, mcu: str) -> None:
    body = "EEAR = 5; EECR |= 1 << EERE; out = EEDR; EECR |= 1 << EEMPE; EECR |= 1 << EEPE;"
    elf = timed(tmp_path, body, mcu=mcu)
    calls = measured_calls(elf, mcu, ["timed"], CYCLES).calls["timed"]
    paths = paths_through(read_program(elf), "timed")
    assert paths.shortest.cycles + 4 + 2 == paths.longest.cycles == calls.most


def test_build_certify_and_python_name_the_same_bound(tmp_path: Path) -> None:
    model, project = tmp_path / "m.npz", tmp_path / "project"
    save_model(plain_model(), model)
    built = run("build", model, "-o", project)
    record = run_json("verify", project, "-o", tmp_path / "c.json", "--points", 8)
    (most,) = (each for each in record["claims"] if each["name"] == "cycles-most")
    assert most["statement"] == (
        f"a prediction takes at most {most['value']:,} cycles, not counting interrupts"
    )
    (bound,) = (line for line in built.stdout.splitlines() if line.strip().startswith("bound"))
    assert f"{most['value']:,} cycles" in bound
    assert "at most" not in built.stdout
    assert "at most" not in (project / "firmware/generated/pnn_model.c").read_text().split("*/")[0]


def test_a_librarys_readme_has_no_other_bound(tmp_path: Path) -> None:
    model, library = tmp_path / "m.npz", tmp_path / "classifier"
    save_model(plain_model(), model)
    run("export", model, "--arduino", library)
    text = (library / "README.md").read_text()
    assert text.count("takes at most") == 2  # cycles and stack of pnn_predict
    assert "B of flash" not in text.partition("## Certificate")[2]


@pytest.fixture(scope="module")
def streaming(tmp_path_factory: pytest.TempPathFactory) -> Path:
    skip_without(*AVR_GCC)
    folder = tmp_path_factory.mktemp("streaming")
    build(_model(), "uno", folder)
    return folder


def _model() -> Model:
    return random_window_model(window_features_of("mean,deviation,bands:4"))


def test_a_prediction_of_many_calls_is_certified(streaming: Path, tmp_path: Path) -> None:
    record = run_json("verify", streaming, "-o", tmp_path / "c.json", "--points", 20)
    claims = {claim["name"]: claim for claim in record["claims"]}
    for name in ("cycles-most", "cycles-least", "no-recursion", "no-allocation", "no-floats"):
        assert claims[name]["status"] == "proven", name
    least, most = claims["cycles-least"]["value"], claims["cycles-most"]["value"]
    assert 0 < least <= claims["cycles-measured"]["value"] <= most
    assert claims["cycles-most"]["statement"].startswith("a prediction takes at most")


def test_an_entry_that_is_not_there_is_still_refused(streaming: Path, tmp_path: Path) -> None:
    refuses(
        run("verify", streaming, "-o", tmp_path / "c.json", "--entry", "pnn_push_all"),
        "extensions.proof.certificate.project",
    )


def test_a_report_states_the_cycles_of_all_calls(streaming: Path, tmp_path: Path) -> None:
    skip_without(*EMULATED_AVR)
    model, uno, results = _model(), load_board("uno"), tmp_path / "r.csv"
    points = random_points(3, 5, model.n_features).astype(np.float32), np.zeros(5, np.int64)
    measure(Project(streaming), points, uno, results=results)
    evidence = gather(results, [model], [Project(streaming)], uno, data=points)
    claims = firmware_claims(evidence.firmware.linked, evidence.firmware.plan, uno)
    (most,) = (claim for claim in claims if claim.name == "cycles-most")
    assert most.statement.startswith("a prediction takes at most")
    assert most.value == evidence.firmware.possible.most
