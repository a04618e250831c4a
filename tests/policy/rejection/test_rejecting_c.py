"""Generated C that answers PNN_UNKNOWN: on the host, on the emulated Uno, within its plan."""

from __future__ import annotations

import subprocess
from pathlib import Path

import numpy as np
import pytest
from avr_tools import needs_emulated_avr
from chains import replace
from generated_programs import write_c
from model_factory import (
    random_inputs,
    random_model,
    random_points,
    tiny_integer_model,
)
from plans import plan_with

from protonn_edge.chips.boards import load_board
from protonn_edge.chips.emulator import EmulatedUno
from protonn_edge.codegen.plan import Plan
from protonn_edge.codegen.planner import make_plan
from protonn_edge.codegen.projects.project import trial_build
from protonn_edge.codegen.verification.agreement import verify_device
from protonn_edge.data.naming import NO_CLASS
from protonn_edge.model.model import Model
from protonn_edge.model.policy import with_rules, without_rules
from protonn_edge.model.quantization import quantize
from protonn_edge.policy.rejection import STATISTICS
from protonn_edge.policy.rejection.calibration import statistics_of, with_rejection
from protonn_edge.policy.rejection.rule import IntegerRejection

BOARD = load_board("uno")


def known_and_strange(by: tuple[str, ...], wide: bool = False) -> tuple[Model, np.ndarray]:
    """Return a calibrated model, and points of which some are unknown to it."""
    model = random_model(3, features=20, projections=4, prototypes=60, gamma_numerator=1.0)
    if wide:
        model = replace(model, labels=np.where(model.head.labels >= 0, 1, 0.9).astype(np.float32))
    X = random_points(3, 400, 20)
    return with_rejection(model, statistics_of(model, X), 0.1, by), X


@needs_emulated_avr
@pytest.mark.parametrize(
    ("by", "wide"),
    [(("distance",), True), (("margin",), True), (STATISTICS, False)],
)
def test_the_uno_answers_unknown_within_the_bound(by: tuple[str, ...], wide: bool) -> None:
    model, X = known_and_strange(by, wide)
    reference = quantize(model)
    assert reference.own_stages[-1].output.bits == (32 if wide else 16)
    Q = np.concatenate([reference.quantize(X[:60]), random_inputs(1, 60, reference)])
    answers, cycles, bound = run_on_the_uno(model, Q)
    assert 0 < answers.count(NO_CLASS) < len(answers)
    assert cycles.max() <= bound
    unchecked = without_rules(model)
    _, without, _ = run_on_the_uno(unchecked, Q)
    more, less = (plan_with(each, "columns") for each in (reference, quantize(unchecked)))
    estimated = more.cycles - less.cycles
    assert estimated / 2 - 10 < float(np.mean(cycles - without)) <= estimated


def run_on_the_uno(model: Model, Q: np.ndarray) -> tuple[list[int | None], np.ndarray, int]:
    """Return answers and cycles of points, all as the reference has them, and the bound."""
    with trial_build(model, BOARD) as trial, EmulatedUno(trial.elf, board=BOARD) as uno:
        agreement, results = verify_device("emulated uno", uno.url, quantize(model), Q)
        assert uno.stats().faults == ()
        assert isinstance(trial.plan, Plan)
        bound = trial.possible.most
    assert (agreement.mismatches, agreement.lost) == (0, 0), agreement.first
    cycles = np.array([result.cycles for result in results])
    return [result.predicted for result in results], cycles, bound


def test_the_decision_costs_what_it_compares() -> None:
    model, _ = known_and_strange(("score", "margin"))
    chain = quantize(model)
    with_check, without = make_plan(chain), make_plan(quantize(without_rules(model)))
    cost = chain.policy.rules[0].cost()
    assert with_check.flash_bytes == without.flash_bytes + cost.code
    assert with_check.steps[-1].flash_bytes == cost.code
    second = with_check.cycles - without.cycles - cost.cycles
    assert 0 < second < without.cycles


def test_the_name_of_unknown_is_unknown(tmp_path: Path) -> None:
    model = with_rules(tiny_integer_model(), IntegerRejection(900))
    write_c(model, tmp_path)
    program = (
        '#include <stdio.h>\n#include "pnn_model.h"\n'
        "int main(void) { char name[20]; puts(pnn_class_name(PNN_UNKNOWN, name, 20));"
        " puts(pnn_class_name(0, name, 4)); return 0; }\n"
    )
    (tmp_path / "main.c").write_text(program)
    sources = [tmp_path / "main.c", tmp_path / "pnn_model.c"]
    subprocess.run(["cc", "-std=c99", "-o", tmp_path / "main", *sources], check=True, timeout=60)
    done = subprocess.run([tmp_path / "main"], capture_output=True, check=True, timeout=10)
    assert done.stdout.decode().split() == ["unknown", "sti"]
