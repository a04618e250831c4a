"""Trees that test raw floats give the answers of the bytes that these would become."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from any_order import Call, build_on_host, check_calls, check_on_uno, predict_floats
from avr_tools import needs_avr_gcc, needs_emulated_avr, skip_without
from chains import replace
from extension_parts import needs
from forest_factory import random_chain, random_forest_model
from generated_programs import compile_with

from protonn_edge.chips.avr.program import read_program
from protonn_edge.chips.boards import export_board_of
from protonn_edge.chips.cores import CORES, UNO_CORE, WORD_CORES
from protonn_edge.codegen.export.exporting import export
from protonn_edge.codegen.families.avr.checks import check_no_floats
from protonn_edge.codegen.kernels.kernel import kernels_of
from protonn_edge.codegen.plan import DevicePlan, Plan
from protonn_edge.codegen.planner import Limits, device_plans, plan_of
from protonn_edge.codegen.projects.folder import WrittenPlan
from protonn_edge.codegen.projects.project import BuildOptions
from protonn_edge.codegen.renderer import render_c
from protonn_edge.codegen.words import plans_for
from protonn_edge.kinds.forest.floats import last_to_the_left
from protonn_edge.model.input_quantizer import InputQuantizer
from protonn_edge.model.integer_chain import IntegerChain
from protonn_edge.model.quantization import quantize
from protonn_edge.model.raw_inputs import float_quantizer

_ODD = np.array(
    [
        *(0x00000000, 0x00000001, 0x007FFFFF, 0x00800000, 0x3F800000, 0x7F7FFFFF, 0x7F800000),
        *(0x7F800001, 0x7FC00000, 0x7FFFFFFF),
    ],
    np.uint32,
)
ODD = np.concatenate([_ODD, _ODD | np.uint32(1 << 31)]).view(np.float32)
"""Zeros, denormals, ends, infinities and NaN, of both signs."""


def with_odd_ranges(chain: IntegerChain) -> IntegerChain:
    """Return a chain whose features have ranges of all sizes and directions."""
    rng, n = np.random.default_rng(3), chain.n_features
    extent = 10.0 ** rng.uniform(-42, 37, n)
    zero = extent * rng.choice([0.0, -1.0, 0.7, -0.3], n)
    step = extent * rng.choice([-1, 1], n) / 255
    zero[::6], step[::6] = 1e6, 1e-3  # of which floats have few values
    return replace(chain, inputs=InputQuantizer(zero, step, 255))


def with_limits_of_zero(chain: IntegerChain) -> IntegerChain:
    """Return a chain whose features have byte 0 from 0 on, and byte 1 below, however near."""
    zero = np.full(chain.n_features, 2.0**-128 - 2.0**-149)
    return replace(chain, inputs=InputQuantizer(zero, np.full_like(zero, -(2.0**-127)), 255))


def float_points(chain: IntegerChain, n: int) -> np.ndarray:
    """Return floats (n, D): any bits, odd ones, steps of bytes, and neighbours of thresholds."""
    rng, (stage, _) = np.random.default_rng(8), chain.stages
    D, features = chain.n_features, stage.features[stage.trees.inner]
    limits = last_to_the_left(float_quantizer(chain.quantizer), features, stage.thresholds)
    near = rng.choice(ODD, (n, D))
    for feature in np.unique(features):
        own = rng.choice(limits[features == feature], n).view(np.uint32)
        near[:, feature] = (own + rng.integers(-1, 2, n)).astype(np.uint32).view(np.float32)
    steps = rng.integers(-2, 258, (n, D)) + rng.choice([0.5, 0.0, 0.3], (n, D))
    with np.errstate(over="ignore"):
        inside = (chain.quantizer.zero + chain.quantizer.step * steps).astype(np.float32)
    any_bits = np.frombuffer(rng.bytes(4 * n * D), np.float32).reshape(n, D)
    kinds = np.stack([any_bits, rng.choice(ODD, (n, D)), inside, near])
    return np.take_along_axis(kinds, rng.integers(0, 4, (1, n, D)), axis=0)[0]


def calls_of(chain: IntegerChain, n: int) -> list[Call]:
    """Return predictions from floats."""
    return [predict_floats(point) for point in float_points(chain, n)]


def compares_floats(chain: IntegerChain, plan: DevicePlan) -> bool:
    """Return whether trees of a program compare floats."""
    text = render_c(chain, plan)["pnn_model.c"]
    return re.search(r"at_(most|least)\(x\[|float_score", text) is not None


CHAINS = {
    "votes": random_chain(0, trees=9, vote=5),
    "one score a leaf": random_chain(1, share=0.0),
    "many scores a leaf": random_chain(2, classes=12),
    "few tests": random_chain(9, features=50, trees=3, depth=2),
    "ranges of all sizes": with_odd_ranges(random_chain(3, features=30, trees=12)),
    "limits of zero": with_limits_of_zero(random_chain(7, vote=1, levels=1)),
    "one score a tree": with_odd_ranges(random_chain(10, features=120, trees=20, boosted=True)),
    "a single score": with_odd_ranges(random_chain(4, classes=1)),
}


def plans_of(chain: IntegerChain) -> tuple[Plan, Plan]:
    """Return a plan for an Uno whose trees are instructions, and one that walks through a table."""
    kernels = kernels_of(chain.stages[0], UNO_CORE)
    instructions = next(kernel.name for kernel in kernels if kernel.is_instructions)
    return plan_of(chain, {"forest": instructions}), plan_of(chain, {"forest": "walk"})


@pytest.mark.parametrize("name", CHAINS)
def test_host_c_answers_as_for_the_bytes(name: str, tmp_path: Path) -> None:
    skip_without("cc")
    chain = CHAINS[name]
    every = [*plans_of(chain), *plans_for(chain, WORD_CORES["cortex-m0plus"])]
    compared = [compares_floats(chain, plan) for plan in every]
    assert compared == [True, False, True, False][: len(every)]
    for place, plan in enumerate(every):
        folder = tmp_path / str(place)
        folder.mkdir()
        check_calls(build_on_host(chain, plan, folder), chain, calls_of(chain, 400))


@needs_emulated_avr
@pytest.mark.parametrize("name", CHAINS)
def test_the_uno_answers_as_for_the_bytes(name: str, tmp_path: Path) -> None:
    chain = CHAINS[name]
    for place, plan in enumerate(plans_of(chain)):
        folder = tmp_path / str(place)
        folder.mkdir()
        check_on_uno(chain, plan, calls_of(chain, 60), folder)


@pytest.mark.parametrize("name", CHAINS)
def test_a_limit_is_the_last_float_that_goes_left(name: str) -> None:
    chain = CHAINS[name]
    quantizer, (stage, _) = float_quantizer(chain.quantizer), chain.stages
    features = stage.features[stage.trees.inner]
    limits = last_to_the_left(quantizer, features, stage.thresholds)
    each = replace(quantizer, choice=quantizer.choice[features])
    falls = np.array([quantizer.scales[choice].slope < 0 for choice in each.choice])
    beyond = np.nextafter(limits, np.where(falls, -np.inf, np.inf).astype(np.float32))
    open_ = np.isinf(limits)  # no byte exceeds the threshold
    assert (each.quantize(limits[None])[0] <= stage.thresholds).all()
    assert ((each.quantize(beyond[None])[0] > stage.thresholds) | open_).all()
    assert not open_.all()


@needs_avr_gcc
def test_they_need_no_floating_point_routines(tmp_path: Path) -> None:
    program = """#include "pnn_model.h"
    static float features[PNN_FEATURES];
    int main(void) { return pnn_predict_floats(features); }"""
    flags = ("-ffunction-sections", "-fdata-sections", "-Wl,--gc-sections")
    elf = read_program(compile_with(CHAINS["votes"], program, tmp_path, *flags))
    check_no_floats(elf)
    assert not any(symbol.name == "forest_score" for symbol in elf.symbols)


def test_trees_that_would_fill_the_flash_convert_floats() -> None:
    large = random_chain(5, trees=60, depth=7, vote=1)
    for core, expected in (("avr4", False), ("avr5", True)):
        middle = random_chain(6, trees=16, depth=6, vote=1)
        plan = plan_of(middle, {"forest": "if-else"}, CORES[core])
        assert compares_floats(middle, plan) == expected
    assert not compares_floats(large, plan_of(large, {"forest": "if-else"}))


def test_trees_that_would_fill_a_board_s_flash_convert_floats() -> None:
    chain, uno = random_chain(6, trees=24, depth=6, vote=1), export_board_of("uno")
    boards = {
        "an Uno": uno,
        "16 kB": replace(uno, mcu="atmega168", flash_bytes=15_872),
        "--max-flash": BuildOptions(flash_bytes=15_872).within(uno),
    }
    for name, board in boards.items():
        plan = device_plans(chain, Limits.of(board))[0]
        assert plan.kernel == "if-else"
        assert compares_floats(chain, plan) == (name == "an Uno")
        written = WrittenPlan(chain.model_sha256, board.core, plan.limit_bytes, plan.choices)
        again = written.plan_of(chain)
        assert again is not None
        assert render_c(chain, again) == render_c(chain, plan)


def test_an_export_has_the_c_of_a_build_with_the_same_flash(tmp_path: Path) -> None:
    model, told = random_forest_model(trees=32), []
    for flash in (12_000, 32_000):
        folder = tmp_path / f"{flash}"
        done = export(model, "c", folder, flash_bytes=flash, prefix="pnn", tries=False)
        board = BuildOptions(flash_bytes=flash).within(export_board_of("uno"))
        built = replace(done.plan, limit_bytes=board.flash_bytes)
        for name, text in render_c(quantize(model), built).items():
            assert (folder / name).read_text() == text
        told.append(compares_floats(quantize(model), done.plan))
    assert told == [False, True]


def test_only_features_that_trees_test_are_converted() -> None:
    chain = CHAINS["few tests"]
    text = render_c(chain, plan_of(chain, {"forest": "walk"}))["pnn_model.c"]
    (listed,) = re.findall(r"float_inputs\[\d+u\] PNN_FLASH = \{([^}]*)\}", text)
    features = chain.stages[0].features
    assert {int(each) for each in listed.split(",") if each.strip()} == {*features[features >= 0]}


@needs("observation")
def test_watched_inputs_are_bytes() -> None:
    from extensions.observation.conformance.decision import observing
    from model_factory import random_inputs

    chain = CHAINS["votes"]
    watched = replace(chain, expected=observing(chain, random_inputs(3, 200, chain)).expected)
    assert not compares_floats(watched, plan_of(watched, {"forest": "if-else"}))
