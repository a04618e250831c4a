"""Cycles stay between the bounds, and scores are the reference's, on the emulated Uno."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from avr_tools import EMULATED_AVR, skip_without
from chains import numbers_of
from measured_predictions import bounds_of, build_program, measure
from random_shapes import first_stage_of, random_case, random_points
from worst_inputs import worst_inputs

from protonn_edge.chips.avr.program import read_program
from protonn_edge.codegen.plan import Plan
from protonn_edge.codegen.planner import Limits
from protonn_edge.model.head import channels_of
from protonn_edge.model.integer_chain import IntegerChain
from protonn_edge.policy.rejection.rule import IntegerRejection

BRIEF_CASES = 4  # each compiles a program

_RANDOM_POINTS = 10
_SEARCHED_POINTS = 2
_EFFORT = 0.02  # of the search, which takes seconds otherwise


@dataclass(frozen=True)
class Case:
    """What a case has shown: its model and plan, and the cycles of each of its points."""

    model: IntegerChain
    plan: Plan
    cycles: np.ndarray

    @property
    def shape(self) -> str:
        """Return what a finding has to name."""
        model, plan = self.model, self.plan
        by = (
            ()
            if model.policy.find(IntegerRejection) is None
            else model.policy.find(IntegerRejection).statistics
        )
        return (
            f"{first_stage_of(model)}, D {model.n_features} to {model.n_inputs}, "
            f"d {model.own_stages[0].n_outputs}, m {len(numbers_of(model)['prototypes'].T)}, "
            f"L {model.n_classes}, "
            f"{numbers_of(model)['accumulator_bits']}-bit sums, "
            f"{model.own_stages[-1].output.bits}-bit scores, "
            f"{plan.kernel}{', buffered' if plan.buffered else ''}"
            f"{', ' + ' '.join(plan.choices.values())}"
            f"{', rejects by ' + ' '.join(by) if by else ''}"
        )


def run_case(seed: int, folder: Path) -> None:
    """Check one random model; raise AssertionError with one line that says what is wrong."""
    skip_without(*EMULATED_AVR)
    check_case(seed, folder)


def check_case(seed: int, folder: Path) -> Case:
    """Check one random model and return what was measured."""
    rng = np.random.default_rng(seed)
    while True:
        model, plan = random_case(rng)
        elf = build_program(model, plan, folder)
        if (
            read_program(elf).sections.flash_bytes <= Limits().flash_bytes
        ):  # the plan's were an estimate
            break
    Q = random_points(rng, _RANDOM_POINTS, model)
    if channels_of(model) is None:
        Q = np.concatenate([Q, worst_inputs(model, plan, _SEARCHED_POINTS, seed, effort=_EFFORT)])
    return check_measured(f"seed {seed}", model, plan, Q, elf)


def check_points(name: str, model: IntegerChain, plan: Plan, Q: np.ndarray, folder: Path) -> Case:
    """Check points (n, features) uint8 of a model with a plan on the emulated Uno."""
    return check_measured(name, model, plan, Q, build_program(model, plan, folder))


def check_measured(name: str, model: IntegerChain, plan: Plan, Q: np.ndarray, elf: Path) -> Case:
    """Check what a program answers to points (n, features) uint8."""
    measured, bounds = measure(elf, model, Q), bounds_of(elf, plan)
    least, most = bounds.shortest.cycles, bounds.longest.cycles
    case = Case(model, plan, measured.cycles)
    labels, scores = model.answers(Q)
    for point in range(len(Q)):
        wrong = np.flatnonzero(measured.scores[point] != scores[point])
        assert not wrong.size, (
            f"{name}: {case.shape}: point {point} has score {measured.scores[point, wrong[0]]} of "
            f"class {wrong[0]}, not {scores[point, wrong[0]]}"
        )
        assert measured.labels[point] == labels[point], (
            f"{name}: {case.shape}: point {point} has class {measured.labels[point]}, "
            f"not {labels[point]}"
        )
        cycles = measured.cycles[point]
        assert least <= cycles <= most, (
            f"{name}: {case.shape}: point {point} takes {cycles:,} cycles, the machine code "
            f"{least:,} to {most:,}"
        )
    return case
