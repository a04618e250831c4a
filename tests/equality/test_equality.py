"""Linked programs are proven to compute their models, and no others."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest
from avr_tools import needs_avr_gcc, needs_emulated_avr
from conformance.instances import KINDS, Program, programs_of
from equality.fuzz import encoded, fuzz
from equality.instructions import compare
from equality.programs import linked_program
from equality.values import value_of

from protonn_edge.chain.registry import module_of_stage
from protonn_edge.proof.equality import PredictionProof, prove
from protonn_edge.proof.forms import Unproven

EXAMPLES = [("linear", 2), ("linear", 9), ("linear", 10)]
"""A kind of conformance and the number of a program: small ones."""


def example(kind: str, number: int) -> Program:
    """Return a program of conformance."""
    return programs_of(kind)[number]


@needs_emulated_avr
def test_instructions_do_what_simavr_does() -> None:
    assert compare(0, 16) > 1_000


def test_random_programs_do_what_their_forms_say() -> None:
    tally = fuzz(range(40))
    assert tally["bytes of several inputs"] > 500
    assert tally["flags"] > 5_000


@needs_avr_gcc
@pytest.mark.parametrize(("kind", "number"), EXAMPLES, ids=str)
def test_a_program_is_proven_and_its_forms_are_the_scores(
    kind: str, number: int, tmp_path: Path
) -> None:
    program = example(kind, number)
    model = program.instance.model
    prediction = PredictionProof(linked_program(program, tmp_path), model)
    assert prediction.proof().steps > 50
    scores = prediction.reference((*model.feature_stages, *model.own_stages))
    points = program.instance.points[:2]
    for point, expected in zip(points, model.scores(points), strict=True):
        inputs = dict(zip(prediction.inputs, point.tolist(), strict=True))
        assert [value_of(each, inputs) for each in scores] == expected.tolist()


@needs_avr_gcc
def test_a_program_of_another_model_is_not_proven(tmp_path: Path) -> None:
    program = example("linear", 9)
    model = program.instance.model
    linked = linked_program(program, tmp_path)
    *before, last = model.own_stages
    weights = last.weights.copy()
    weights[3, 5] ^= 1
    other = dataclasses.replace(last, weights=weights)
    with pytest.raises(Unproven, match="score 3"):
        prove(linked, dataclasses.replace(model, own_stages=(*before, other)))


@needs_avr_gcc
def test_a_tie_that_goes_to_the_last_class_is_not_proven(tmp_path: Path) -> None:
    program = example("linear", 9)
    linked = linked_program(program, tmp_path)
    here = linked.reached(next(m.address for m in linked.marks if "decision_class" in m.name))
    code = bytearray(linked.code)
    while here.name != "brbc":  # which keeps the largest score if the next one is not larger
        if here.name in ("cp", "cpc"):
            turned = encoded(here.name, d=here.operands["r"], r=here.operands["d"])
            code[here.address : here.end] = turned
        here = linked.reached(here.end)
    code[here.address + 1] ^= 4  # if the next one is less
    with pytest.raises(Unproven):
        prove(dataclasses.replace(linked, code=bytes(code)), program.instance.model)


def test_stages_that_state_sums_are_proven_here() -> None:
    stating = {kind for kind in KINDS if module_of_stage(kind, "proof") is not None}
    assert stating == {kind for kind, _ in EXAMPLES}
