"""Chains of every kind with any kernels, feed and level of optimization, on the emulated Uno.

Scores are the reference's, cycles between the shortest and the longest path of the machine code,
and the stack no deeper than claimed, whatever the C is compiled with. For the level that it asks
for, cycles are within the plan's figures, too. Some chains predict a number, whose value is the
reference's; some are ProtoNN models with sizes at the ends of counters, which are fed what takes
long, too; and some also run on the host, under sanitizers.
`benchmarks/run.py levels` makes a table of them.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from avr_tools import EMULATED_AVR, skip_without
from generated_programs import assert_equal_to_reference
from measured_predictions import OTHER_LEVELS, OWN_LEVEL, build_program, measure
from random_chains import points_of, random_chain
from random_shapes import random_case
from worst_inputs import worst_inputs

from protonn_edge.chips.avr.paths import Paths
from protonn_edge.chips.avr.program import read_program
from protonn_edge.chips.avr.stack import worst_case_stack
from protonn_edge.chips.boards import load_board
from protonn_edge.codegen.families.avr.paths import prediction_paths, stated_facts
from protonn_edge.codegen.host import host_program
from protonn_edge.codegen.plan import Plan
from protonn_edge.codegen.planner import Limits
from protonn_edge.model.head import channels_of
from protonn_edge.model.integer_chain import IntegerChain
from protonn_edge.policy.value.rule import IntegerValue

BRIEF_CASES = 6  # a level each
DEADLINE_S = 120.0

LEVELS = (OWN_LEVEL, *OTHER_LEVELS, "-Og")

_UNO = load_board("uno")
_POINTS = 12
_SEARCHED = 2
_EFFORT = 0.02  # of the search, which takes seconds otherwise
_ON_HOST = 4
_AT_ENDS = 3  # one of this many programs has sizes at the ends of counters
_OF_NUMBERS = 5  # one of this many programs predicts a number


@dataclass(frozen=True)
class Case:
    """A program, the cycles (n,) of its points, and what its machine code says of them."""

    chain: IntegerChain
    plan: Plan
    level: str
    cycles: np.ndarray
    paths: Paths
    stack_bytes: int
    claimed_stack_bytes: int

    def __str__(self) -> str:
        kind = self.chain.head.__name__
        before = type(self.chain.features).__name__
        kernels = " ".join(self.plan.choices.values())
        return f"{before}, {kind}, D {self.chain.n_features}, {kernels}, {self.level}"

    def check(self) -> None:
        """Raise AssertionError if a bound does not hold."""
        low, high = int(self.cycles.min()), int(self.cycles.max())
        least, most = self.paths.shortest.cycles, self.paths.longest.cycles
        assert least <= low, f"{self}: {low:,} cycles, the shortest path has {least:,}"
        assert high <= most, f"{self}: {high:,} cycles, the longest path has {most:,}"
        claimed = self.claimed_stack_bytes
        assert self.stack_bytes <= claimed, f"{self}: stack {self.stack_bytes} B, claimed {claimed}"


def run_case(seed: int, folder: Path) -> None:
    """Check one random program; raise AssertionError with one line that says what is wrong."""
    at_ends = seed % _AT_ENDS == _AT_ENDS - 1
    check_case(seed, folder, on_host=seed % _ON_HOST == 0, at_ends=at_ends).check()


def check_case(seed: int, folder: Path, *, on_host: bool = False, at_ends: bool = False) -> Case:
    """Compare the answers of one random program, and return what was measured."""
    skip_without(*EMULATED_AVR)
    rng, level = np.random.default_rng(seed), LEVELS[seed % len(LEVELS)]
    while True:
        if at_ends:
            chain, plan = random_case(rng)
        else:
            chain, plan = random_chain(rng, of_number=seed % _OF_NUMBERS == _OF_NUMBERS - 1)
        program = read_program(build_program(chain, plan, folder, level))
        if program.sections.flash_bytes <= Limits().flash_bytes:
            break  # the plan's were an estimate
    Q = points_of(rng, _POINTS, chain)
    if at_ends and channels_of(chain) is None:
        Q = np.concatenate([Q, worst_inputs(chain, plan, _SEARCHED, seed, effort=_EFFORT)])
    if on_host:
        with host_program(chain, plan, sanitize=True) as on_this_host:
            assert_equal_to_reference(on_this_host, chain, Q)
    measured = measure(program.path, chain, Q, stated_facts(program, plan, _UNO))
    paths = prediction_paths(program, plan, _UNO)
    claimed = worst_case_stack(program).bytes
    case = Case(chain, plan, level, measured.cycles, paths, measured.stack_bytes, claimed)
    labels, scores = chain.answers(Q)
    wrong = (measured.scores != scores).any(axis=1) | (measured.labels != labels)
    if (rule := chain.policy.find(IntegerValue)) is not None:
        wrong |= measured.values != rule.in_units(scores)
    assert not wrong.any(), f"{case}: {wrong.sum()} of {len(Q)} answers are wrong"
    return case
