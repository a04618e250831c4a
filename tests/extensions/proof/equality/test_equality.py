"""Linked programs are proven to compute their models, and no others."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from functools import reduce
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from avr_tools import needs_avr_gcc, needs_emulated_avr
from extensions.proof.equality.faults import run
from extensions.proof.equality.fuzz import encoded, fuzz
from extensions.proof.equality.instructions import compare
from extensions.proof.equality.programs import linked_program
from extensions.proof.equality.sketches import FLAGS, tallied
from extensions.proof.equality.values import byte_of, value_of
from laws.conformance.instances import Program, instances_of, programs_of

from protonn_edge.chips.avr.names import declared_in
from protonn_edge.chips.avr.paths import paths_through
from protonn_edge.chips.avr.program import read_program
from protonn_edge.extensions.proof.algebra import Algebra
from protonn_edge.extensions.proof.data_space import DataSpace
from protonn_edge.extensions.proof.difference import PredictionProof, prove, suspects
from protonn_edge.extensions.proof.forms import (
    Byte,
    Root,
    SumForm,
    Unproven,
    constant,
    ends_of_sum,
    plus,
    single,
    variable,
)
from protonn_edge.extensions.proof.reference import Reference

EXAMPLES = [
    ("linear", 8), ("dense", 4), ("forest", 1), ("forest", 2), ("forest", 3), ("forest", 4),
    ("prototypes", 0),
    ("convolution", 8), ("int8_layer", 0), ("int8_layer", 4), ("pooling", 3),
]  # fmt: skip
"""A kind of conformance and the number of a program: small ones."""


def example(kind: str, number: int) -> Program:
    """Return a program of conformance."""
    return programs_of(kind)[number]


@needs_emulated_avr
def test_instructions_do_what_simavr_does() -> None:
    assert compare(0, 16) > 1_000


def test_random_programs_do_what_their_forms_say() -> None:
    tally = fuzz(range(50))
    assert tally["bytes of several inputs"] > 500
    assert tally["flags"] > 5_000


def test_a_pointer_whose_bytes_have_different_forms_moves_by_one() -> None:
    low = Root("low", [3, 255])
    zero = Byte(variable(low), 24)
    moved = DataSpace(Algebra(), {}).moved(Byte(variable(low), 0), zero, 1)
    for index, value in enumerate(low.values.tolist()):
        number = byte_of(moved[0], {low: index}) | byte_of(moved[1], {low: index}) << 8
        assert number == value + 1


@pytest.mark.parametrize("times", [1, -1])
def test_the_bounds_of_a_sum_are_those_of_its_form(times: int) -> None:
    rng, roots = np.random.default_rng(0), [Root(f"x{i}", np.arange(4)) for i in range(4)]
    for _ in range(50):
        x, y = (
            sum_of(single(root, rng.integers(-2, 3, 4)) for root in rng.permutation(roots)[:3])
            for _ in range(2)
        )
        for one, other in ((x, y), (x, x), (x, constant(3)), (constant(3), y)):
            form = plus(one, other, times)
            assert ends_of_sum(one, other, times) == (form.low, form.high)


def sum_of(forms: Iterable[SumForm]) -> SumForm:
    """Return the sum of forms."""
    return reduce(plus, forms, constant(0))


@needs_avr_gcc
@pytest.mark.parametrize(("kind", "number"), EXAMPLES, ids=str)
def test_a_program_is_proven_and_its_forms_are_the_scores(
    kind: str, number: int, tmp_path: Path
) -> None:
    program = example(kind, number)
    model = program.instance.model
    linked = linked_program(program, tmp_path)
    prediction = PredictionProof(linked, model)
    proof = prediction.proof()
    assert proof.steps > 50
    if kind == "prototypes":  # its scores are whatever the invariant allows
        assert proof.cycles is None
        return
    assert proof.cycles is not None
    if kind in {"linear", "int8_layer"}:
        paths = paths_through(linked, "pnn_predict")
        assert paths.shortest.cycles <= proof.cycles[0] < proof.cycles[1] <= paths.longest.cycles
    scores = prediction.reference((*model.feature_stages, *model.own_stages))
    points = program.instance.points[:2]
    for point, expected in zip(points, model.scores(points), strict=True):
        inputs = dict(zip(prediction.inputs, point.tolist(), strict=True))
        assert [value_of(each, inputs) for each in scores] == expected.tolist()


STATING = [
    "average_pooling", "convolution", "dense", "int8_layer", "linear", "pooling", "projection",
]  # fmt: skip
"""The stages with values as sums of tables; forests and prototypes need facts about a program."""


@pytest.mark.parametrize("kind", STATING)
def test_the_sums_that_a_stage_states_are_its_values(kind: str) -> None:
    stage = instances_of(kind)[0].stage
    points = instances_of(kind)[0].inputs[:3]
    _check_sums(stage, points)
    if getattr(stage, "how", "average") != "average":
        _check_sums(dataclasses.replace(stage, how="average"), points)


def _check_sums(stage: Any, points: np.ndarray) -> None:
    roots = [Root(f"x{i}", np.arange(256)) for i in range(stage.n_inputs)]
    forms = Reference(Algebra()).values([stage], [variable(each) for each in roots])
    for point, expected in zip(points, stage.run(points), strict=True):
        inputs = dict(zip(roots, point.tolist(), strict=True))
        assert [value_of(each, inputs) for each in forms[:40]] == expected[:40].tolist()


@needs_avr_gcc
@pytest.mark.parametrize("most", [1, pytest.param(None, marks=pytest.mark.nightly)])
@pytest.mark.parametrize("kind", ["linear", "dense", "projection"])
def test_each_program_of_a_kind_is_proven(kind: str, most: int | None, tmp_path: Path) -> None:
    """`make agreement` proves those of all kinds."""
    for number, program in enumerate(programs_of(kind)[:most]):
        folder = tmp_path / str(number)
        folder.mkdir()
        linked = linked_program(program, folder)
        prove(linked, program.instance.model)
        own = {each.name for each in linked.variables if each.source == "pnn_model.c"}
        assert own <= declared_in((folder / "pnn_model.c").read_text())


@needs_avr_gcc
def test_nothing_is_known_of_registers_without_an_argument(tmp_path: Path) -> None:
    program = example("linear", 9)
    prediction = PredictionProof(linked_program(program, tmp_path), program.instance.model)
    known = [n for n, value in enumerate(prediction.start().registers) if value is not None]
    assert known == [1, *range(2, 18), 24, 25, 28, 29]


@needs_avr_gcc
@pytest.mark.parametrize(("kind", "number"), [("linear", 9), ("prototypes", 0)], ids=str)
def test_link_time_optimization_hides_nothing(kind: str, number: int, tmp_path: Path) -> None:
    program = example(kind, number)
    linked = linked_program(program, tmp_path, "-Os", "-flto", "-DONCE")
    assert linked.names.address_of("pnn_predict") is None
    assert prove(linked, program.instance.model).features == "features"
    hidden = read_program(tmp_path / "program.elf")
    with pytest.raises(Unproven):
        prove(hidden, program.instance.model)
    twice = dataclasses.replace(hidden, variables=(*hidden.variables, *hidden.variables))
    text = (tmp_path / "pnn_model.c").read_text()
    assert twice.attributed("pnn_model.c", text).variables == twice.variables


@needs_avr_gcc
def test_an_array_that_begins_elsewhere_proves_nothing(tmp_path: Path) -> None:
    program = example("linear", 9)
    linked = linked_program(program, tmp_path, "-Os", "-flto", "-DONCE")
    others = [each for each in linked.variables if each.name != "features"]
    (array,) = (each for each in linked.variables if each.name == "features")
    moved = dataclasses.replace(array, address=array.address - 1, size=array.size + 1)
    with pytest.raises(Unproven, match="it reads 0x"):
        prove(dataclasses.replace(linked, variables=(*others, moved)), program.instance.model)


@needs_avr_gcc
def test_a_program_of_another_model_is_not_proven(tmp_path: Path) -> None:
    program = example("linear", 8)
    model = program.instance.model
    linked = linked_program(program, tmp_path)
    *before, last = model.own_stages
    weights = last.weights.copy()
    weights[3, 5] ^= 1
    other = dataclasses.replace(last, weights=weights)
    changed = dataclasses.replace(model, own_stages=(*before, other))
    with pytest.raises(Unproven, match="score 3") as failure:
        prove(linked, changed)
    points = suspects(failure.value, changed)
    assert len(points)
    assert (model.scores(points) != changed.scores(points)).any(axis=1).all()


@needs_avr_gcc
def test_a_tie_that_goes_to_the_last_class_is_not_proven(tmp_path: Path) -> None:
    program = example("linear", 8)
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


@needs_emulated_avr
def test_no_fault_is_missed() -> None:
    tally = run("linear", 9, 12)
    assert tally["another model is not proven"]
    assert tally["not proven"]
    assert tally["MISSED"] == 0
    assert not [each for each in tally if each.endswith("Error")]


@needs_emulated_avr
@pytest.mark.parametrize("name", ["numbers, linear", "classes, linear"])
def test_no_fault_of_a_sketch_that_never_calls_for_scores_is_missed(name: str) -> None:
    """`python -m extensions.proof.equality.sketches` tries more, and other models."""
    tally = tallied(name, FLAGS[1], 3)
    assert tally["not proven: the emulated Uno differs"] == 3
    assert tally["MISSED"] == 0


@needs_avr_gcc
@pytest.mark.parametrize("parts", [(120,), (1,) * 120, (7, 113)], ids=str)
def test_pushed_features_are_proven(parts: tuple[int, ...], tmp_path: Path) -> None:
    program = example("linear", 9)
    model = program.instance.model
    prove(linked_program(program, tmp_path), model, parts)
    with pytest.raises(Unproven):
        prove(linked_program(program, tmp_path), model, (*parts[1:], parts[0] - 1))
