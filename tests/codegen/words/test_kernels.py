"""Every kind of stage in words: the reference's integers, on the host and on emulated cores."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import extension_parts
import numpy as np
import pytest
from any_order import build_on_host, check_calls, random_calls
from avr_tools import missing, skip_without
from codegen.words.chips import CHIPS, HOW, STRICT, Chip, compiled, emulated, linked
from generated_programs import assert_equal_to_reference
from laws.conformance.instances import KINDS, Instance, instances_of

from protonn_edge.chips.cores import WORD_CORES
from protonn_edge.codegen.host import host_program
from protonn_edge.codegen.planner import Limits, device_plans
from protonn_edge.codegen.renderer import render_c
from protonn_edge.codegen.words import WordPlan, plans_for
from protonn_edge.system.errors import InputError
from protonn_edge.system.extensions import parts_of

COMPILERS = ["cc", "arm-none-eabi-gcc", "riscv64-unknown-elf-gcc", "xtensa-lx106-elf-gcc"]
"""An int32_t is an int for some of them and a long for others."""

_CALLS = 300
_OF_AN_AVR = re.compile(r"AVR|PROGMEM|pgm_|asm|PNN_(FLASH|READ|FACT|ASSEMBLY)|pnn_place_t|//@")


def instances(kind: str) -> list[Instance]:
    """Return the instances that have no parts for an AVR."""
    return [
        each
        for each in instances_of(kind)
        if all(part.on_any_chip for part in parts_of(each.model))
    ]


def plans_of(instance: Instance) -> list[WordPlan]:
    """Return the plans for a Cortex-M0+."""
    return plans_for(instance.model, WORD_CORES["cortex-m0plus"])


def programs(kind: str, which: str) -> Iterator[tuple[Instance, WordPlan]]:
    """Yield instances with all plans, or with plans in turns, the first one with all."""
    for number, instance in enumerate(instances(kind)):
        plans = plans_of(instance)
        turn = number % len(plans)
        chosen = plans[turn : turn + 1] if number and which == "in turns" else plans
        yield from ((instance, plan) for plan in chosen)


@cache  # rendering takes as long as a compiler
def rendered(kind: str, which: str) -> list[dict[str, str]]:
    """Return the files of each program."""
    return [render_c(instance.model, plan) for instance, plan in programs(kind, which)]


in_turns = pytest.mark.parametrize(
    "which", ["in turns", pytest.param("all", marks=pytest.mark.nightly)]
)


@in_turns
@pytest.mark.parametrize("kind", KINDS)
def test_the_host_computes_the_reference_under_sanitizers(kind: str, which: str) -> None:
    skip_without("cc")
    for instance, plan in programs(kind, which):
        with host_program(instance.model, plan, sanitize=True) as program:
            assert_equal_to_reference(program, instance.model, instance.points)


@pytest.mark.parametrize("kind", KINDS)
def test_calls_in_any_order_are_safe(kind: str, tmp_path) -> None:
    skip_without("cc")
    instance = instances(kind)[0]
    calls = random_calls(np.random.default_rng(0), instance.model, _CALLS)
    program = build_on_host(instance.model, plans_of(instance)[0], tmp_path)
    check_calls(program, instance.model, calls)


@in_turns
@pytest.mark.parametrize("kind", KINDS)
def test_its_c_has_nothing_of_an_avr(kind: str, which: str) -> None:
    for files in rendered(kind, which):
        for text in files.values():
            assert not _OF_AN_AVR.search(text)


@in_turns
@pytest.mark.parametrize("compiler", COMPILERS)
def test_strict_compilers_print_no_warning(compiler: str, which: str, tmp_path) -> None:
    command = [compiler, *STRICT, "-Werror", "-ffreestanding", "-fsyntax-only"]
    if missing(compiler):
        pytest.skip(HOW)
    for files in (each for kind in KINDS for each in rendered(kind, which)):
        for name, text in files.items():
            (tmp_path / name).write_text(text, encoding="utf-8")
        subprocess.run([*command, tmp_path / "pnn_model.c"], check=True, timeout=60)


@in_turns
@pytest.mark.parametrize("optimize", ["-O2", pytest.param("-Os", marks=pytest.mark.nightly)])
@pytest.mark.parametrize("chip", CHIPS.values(), ids=lambda chip: chip.name)
def test_emulated_cores_compute_the_reference(chip: Chip, optimize: str, which: str) -> None:
    """In turns, each core has another plan of a kind, and all of them together every plan."""
    if chip.missing:
        pytest.skip(HOW)
    turn = [*CHIPS].index(chip.name)
    for kind in KINDS:
        instance = instances(kind)[0]
        plans = plans_for(instance.model, WORD_CORES[chip.core])
        chosen = plans if which == "all" else plans[turn % len(plans) :: len(CHIPS)]
        for plan in chosen:
            done = emulated(chip, instance.model, instance.points, optimize, plan=plan)
            assert (done.points, done.differing) == (len(instance.points), 0), kind


def test_a_forest_takes_less_flash_where_instructions_exceed_the_limit() -> None:
    model = instances("forest")[0].model
    instructions, table = plans_of(instances("forest")[0])
    assert table.flash_bytes < instructions.flash_bytes
    for flash, fastest in (
        (instructions.flash_bytes, instructions),
        (instructions.flash_bytes - 1, table),
        (0, table),
    ):
        limits = Limits(flash, core=instructions.core)
        assert device_plans(model, limits)[0].choices == fastest.choices


def test_a_difference_is_found() -> None:
    chip = CHIPS["m4"]
    if chip.missing:
        pytest.skip(HOW)
    instance = instances("linear")[0]
    done = emulated(chip, instance.model, instance.points, wrong=True)
    assert done.differing == len(instance.points)


OWN_FLOATS = """
#include "pnn_model.h"
#include "start.h"
/* As the RP2040's ROM: NaN is unpacked as infinity. */
static uint32_t unpacked(uint32_t a)
{
    return (a & 0x7fffffffu) > 0x7f800000u ? (a & 0x80000000u) | 0x7f800000u : a;
}
uint32_t __aeabi_fsub(uint32_t a, uint32_t b) { (void)b; return unpacked(a); }
uint32_t __aeabi_fmul(uint32_t a, uint32_t b) { (void)b; return unpacked(a); }
int main(void)
{
    static const uint32_t all[] = { 0x7fc00000u, 0xffc00000u, 0x7f800001u, 0x7f800000u };
    for (uint8_t i = 0; i < 4; ++i) {
        union { uint32_t bits; float number; } raw = { all[i] };
        print_number(pnn_quantize_float(0, raw.number));
        print(" ");
    }
    stop(1);
    return 0;
}
"""


def test_nan_is_an_input_of_0_where_operations_take_it_for_infinity(tmp_path: Path) -> None:
    chip = CHIPS["m0"]
    if chip.missing:
        pytest.skip(HOW)
    instance = instances("linear")[0]
    for name, text in render_c(instance.model, plans_of(instance)[0]).items():
        (tmp_path / name).write_text(text)
    model = compiled(chip, tmp_path / "pnn_model.c", "-O2", *STRICT, "-Werror")
    main = tmp_path / "floats.c"
    main.write_text(OWN_FLOATS)
    most = instance.model.quantizer.maximum
    assert f"0 0 0 {most} " in linked(chip, tmp_path, main, [model]).run().printed


def test_cycles_are_those_of_the_tables() -> None:
    chip = CHIPS["m0"]
    if chip.missing:
        pytest.skip(HOW)
    instance = instances("linear")[0]
    zeros = np.zeros_like(instance.points)
    none, all_ = (emulated(chip, instance.model, Q, count=True) for Q in (zeros, zeros + 1))
    assert none.cycles == none.most
    assert all_.cycles == all_.most
    # For each input that is not 0, five loads (2), products (1) and sums (1), and a branch less.
    more = (all_.cycles - none.cycles) / instance.model.n_features
    assert 18 <= more <= 22


@extension_parts.needs("observation")
def test_parts_that_need_an_avr_are_refused() -> None:
    observed = next(
        each
        for kind in KINDS
        for each in instances_of(kind)
        if not all(part.on_any_chip for part in parts_of(each.model))
    )
    with pytest.raises(InputError, match="an RP2040 cannot have the part 'observation'"):
        plans_of(observed)
