"""Chains of every kind with any kernels, feed and level of optimization, on the emulated Uno.

Scores are the reference's at every level; cycles stay within the bound, because the generated C
asks for the level that it holds for. Each fourth chain also runs on the host, under sanitizers.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from avr_tools import EMULATED_AVR, skip_without
from generated_programs import assert_equal_to_reference
from measured_predictions import OTHER_LEVELS, OWN_LEVEL, build_program, measure
from random_chains import points_of, random_chain

from protonn_edge.avr.program import read_program
from protonn_edge.boards import load_board
from protonn_edge.codegen import Limits, Plan
from protonn_edge.codegen.host import host_program
from protonn_edge.quantization import IntegerChain
from protonn_edge.verification.agreement import prediction_paths, stated_facts

BRIEF_CASES = 5  # a level each
DEADLINE_S = 120.0

LEVELS = (OWN_LEVEL, *OTHER_LEVELS)

_UNO = load_board("uno")
_POINTS = 12
_ON_HOST = 4


@dataclass(frozen=True)
class Case:
    """A program, and the cycles (n,) of its points."""

    chain: IntegerChain
    plan: Plan
    level: str
    cycles: np.ndarray


def run_case(seed: int, folder: Path) -> None:
    """Check one random program; raise AssertionError with one line that says what is wrong."""
    check_case(seed, folder)


def check_case(seed: int, folder: Path) -> Case:
    """Check one random program and return what was measured."""
    skip_without(*EMULATED_AVR)
    rng, level = np.random.default_rng(seed), LEVELS[seed % len(LEVELS)]
    while True:
        chain, plan = random_chain(rng)
        elf = build_program(chain, plan, folder, level)
        if read_program(elf).sections.flash_bytes <= Limits().flash_bytes:
            break  # the plan's were an estimate
    Q = points_of(rng, _POINTS, chain)
    if seed % _ON_HOST == 0:
        with host_program(chain, plan, sanitize=True) as program:
            assert_equal_to_reference(program, chain, Q)
    measured = measure(elf, chain, Q, stated_facts(read_program(elf), plan, _UNO))
    labels, scores = chain.answers(Q)
    what = (
        f"{type(chain).__name__}, D {chain.n_features}, {' '.join(plan.choices.values())}, {level}"
    )
    wrong = (measured.scores != scores).any(axis=1) | (measured.labels != labels)
    assert not wrong.any(), f"{what}: {wrong.sum()} of {len(Q)} answers are wrong"
    low, high = int(measured.cycles.min()), int(measured.cycles.max())
    paths = prediction_paths(read_program(elf), plan, _UNO)
    least, most = paths.shortest.cycles, paths.longest.cycles
    assert least <= low, f"{what}: {low:,} cycles, the shortest path has {least:,}"
    assert high <= most, f"{what}: {high:,} cycles, the longest path has {most:,}"
    assert plan.least_cycles <= low, f"{what}: {low:,} cycles, at least {plan.least_cycles:,}"
    assert high <= plan.worst_cycles, f"{what}: {high:,} cycles, at most {plan.worst_cycles:,}"
    return Case(chain, plan, level, measured.cycles)
