"""Programs that count their answers are proven; counters may be anything, and decide no answer."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from avr_tools import needs_avr_gcc
from conformance.instances import instances_of
from extensions.observation.conformance.decision import observing
from extensions.proof.equality.programs import linked

from protonn_edge.chips.avr.program import LinkedProgram
from protonn_edge.codegen.planner import plan_of
from protonn_edge.extensions.proof.difference import prove
from protonn_edge.extensions.proof.forms import Unproven
from protonn_edge.model.integer_chain import IntegerChain
from protonn_edge.model.quantization import measure_activity


@pytest.fixture(scope="module")
def observed(tmp_path_factory: pytest.TempPathFactory) -> tuple[LinkedProgram, IntegerChain]:
    """Return a linear model of 12 scores that counts its answers."""
    (instance,) = (
        each for each in instances_of("linear") if each.name == "as many scores as inputs"
    )
    points = np.random.default_rng(0).integers(0, 64, (200, 12), np.uint8)
    model = observing(instance.model, points)
    plan = plan_of(model, {}, activity=measure_activity(model, points))
    return linked(model, plan, tmp_path_factory.mktemp("observed")), model


@needs_avr_gcc
def test_a_program_that_counts_is_proven(observed: tuple[LinkedProgram, IntegerChain]) -> None:
    prove(*observed)


@needs_avr_gcc
def test_a_counter_outside_its_variable_is_not_proven(
    observed: tuple[LinkedProgram, IntegerChain],
) -> None:
    program, model = observed
    (counters,) = (each for each in program.kept if each.name == "observations")
    kept = (dataclasses.replace(counters, size=counters.size - 1),)
    with pytest.raises(Unproven, match="none of the model's"):
        prove(dataclasses.replace(program, kept=kept), model)


@needs_avr_gcc
def test_an_answer_that_counting_changes_is_not_proven(
    observed: tuple[LinkedProgram, IntegerChain],
) -> None:
    program, model = observed
    here = program.reached(program.names.address_of("pnn_predict"))
    tried = 0
    while here.name != "ret":
        if here.name == "mov" and here.operands["d"] == 24:
            code = program.code[: here.address] + bytes(2) + program.code[here.end :]
            with pytest.raises(Unproven):
                prove(dataclasses.replace(program, code=code), model)
            tried += 1
        here = program.reached(here.end)
    assert tried
