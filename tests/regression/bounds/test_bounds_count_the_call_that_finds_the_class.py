"""Small models of many sums that took longer than their bound, by what finds the largest score.

Where scores have four bytes, or the second largest is needed, the compiler does not inline the
search in both functions that need it. It calls it and gets the largest score through the stack,
which no bound counted. It showed where the sums of a product fill the registers. Where two blocks
of sums do, the compiler has its pointers on the stack, which showed in many calls.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from avr_tools import needs_emulated_avr
from chains import numbers_of, replace
from linear_factory import random_chain
from measured_predictions import build_program, measure

from protonn_edge.chain.policy import with_rules
from protonn_edge.codegen.planner import plan_of
from protonn_edge.policy.rejection.rule import IntegerRejection

pytestmark = needs_emulated_avr


@pytest.mark.parametrize(
    ("bits", "classes", "kernel", "margin"),
    [
        (32, 3, "columns", 0),
        (32, 4, "columns", 0),
        (32, 4, "masked", 0),
        (32, 8, "columns", 0),
        (24, 6, "columns", 0),
        (24, 6, "packed", 0),
        (24, 12, "columns", 0),
        (16, 8, "columns", 1),
    ],
)
def test_cycles_of_linear_scores_whose_sums_fill_the_registers(
    tmp_path: Path, bits: int, classes: int, kernel: str, margin: int
) -> None:
    model = random_chain(
        0,
        rows=classes,
        features=12,
        bits=bits,
        largest=7 if kernel == "packed" else 127,
        maximum=15,
        density=1.0,
    )
    model = with_rules(model, IntegerRejection(margin=margin)) if margin else model
    plan = plan_of(model, {"linear": kernel})
    Q = np.random.default_rng(0).integers(1, 16, (6, model.n_features)).astype(np.uint8)
    measured = measure(build_program(model, plan, tmp_path), model, Q)
    assert (measured.scores == model.scores(Q)).all()
    assert measured.cycles.max() <= plan.worst_cycles


@pytest.mark.parametrize(
    ("bits", "classes", "largest"),
    [(24, 12, 127), (16, 10, 1)],  # two blocks of sums, and one: all that the registers hold
)
def test_cycles_of_many_calls(tmp_path: Path, bits: int, classes: int, largest: int) -> None:
    model = random_chain(
        0, rows=classes, features=350, bits=bits, largest=largest, maximum=63, density=1.0
    )
    model = replace(
        model,
        weights=np.where(numbers_of(model)["weights"] == 0, 1, numbers_of(model)["weights"]).astype(
            np.int8
        ),
    )
    plan = plan_of(model, {"linear": "columns", "feeding": "streamed"})
    Q = np.full((1, model.n_features), model.inputs.maximum, np.uint8)
    measured = measure(build_program(model, plan, tmp_path), model, Q)
    assert measured.cycles.max() <= plan.worst_cycles
