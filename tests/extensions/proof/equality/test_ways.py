"""Ways through a program meet, and what counts on them ends."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from avr_tools import needs_avr_gcc
from extensions.observation.conformance.decision import observing
from extensions.proof.equality.programs import linked
from laws.conformance.instances import instances_of

from protonn_edge.chips.avr.program import LinkedProgram
from protonn_edge.codegen.planner import plan_of
from protonn_edge.extensions.proof.algebra import Algebra
from protonn_edge.extensions.proof.difference import prove
from protonn_edge.extensions.proof.forms import (
    Byte,
    Root,
    SumForm,
    Unproven,
    byte_of,
    constant,
    plus,
    single,
    variable,
)
from protonn_edge.extensions.proof.reference import Reference
from protonn_edge.extensions.proof.stages.forest import forms
from protonn_edge.extensions.proof.state import ChipState, Combined, Meeting
from protonn_edge.kinds.forest.integers import IntegerForest
from protonn_edge.kinds.forest.table import LEAF
from protonn_edge.model.integer_chain import IntegerChain

INPUTS = [Root(f"x{i}", np.arange(4)) for i in range(2)]
LOW = np.arange(4) <= 1
BOXES = [{INPUTS[0]: first, INPUTS[1]: second} for first in (LOW, ~LOW) for second in (LOW, ~LOW)]


def two_trees(threshold: int) -> IntegerForest:
    """Return trees that both test both inputs; two leaves of the second one are equal."""
    return IntegerForest(
        features=np.array([0, 1, LEAF, LEAF, LEAF, 1, LEAF, 0, LEAF, 1, LEAF, LEAF]),
        thresholds=np.array([1, 1, 1, 1, threshold], np.uint8),
        leaves=np.array([[1, 2], [3, 5], [7, 11], [13, 1], [2, 4], [9, 6], [9, 6]], np.int8),
        bias=np.array([0, 1]),
        n_features=2,
    )


def test_one_way_may_lead_through_two_trees_and_to_equal_leaves() -> None:
    stage, way = two_trees(threshold=2), Root("way", np.arange(4), boxes=BOXES)
    scores = forms(stage, [variable(each) for each in INPUTS], Reference(Algebra(), [way]))
    points = np.array([[int(np.argmax(box[root])) for root in INPUTS] for box in BOXES], np.uint8)
    assert [each.array().tolist() for each in scores] == stage.run(points).T.tolist()


def test_a_way_that_leads_to_two_leaves_decides_no_tree() -> None:
    way = Root("way", np.arange(2), boxes=[{INPUTS[0]: LOW}, {INPUTS[0]: ~LOW}])
    inputs = [variable(each) for each in INPUTS]
    with pytest.raises(Unproven, match="no way"):
        forms(two_trees(threshold=2), inputs, Reference(Algebra(), [way]))


ABOVE, ROW = Root("above", np.arange(256)), Root("row", np.arange(256))


class Parted:
    """Two states: on a row that is not 0, and on one that is."""

    def __init__(self) -> None:
        self.algebra = Algebra()
        # of the row, another root adds up to it
        self.other = Root("other", np.arange(256))
        self.row = plus(variable(ROW), variable(self.other))
        self.root, self.sums = self.algebra.cut(self.row)
        full, empty = ChipState(0), ChipState(0)
        full.narrow(self.root, self.sums != 0)
        empty.narrow(self.root, self.sums == 0)
        self.meeting = Meeting(self.algebra, self.root, full, empty)

    def third(self, form: SumForm) -> Byte:
        """Return a third of a sum, as a byte."""
        root, sums = (form.root, form.array()) if form.root else self.algebra.cut(form)
        assert root is not None
        return Byte(single(root, sums // 3), 0)


def test_a_function_of_a_sum_is_that_of_a_part_where_the_rest_is_0() -> None:
    here = Parted()
    whole = here.third(plus(variable(ABOVE), here.row))
    part, another = (here.third(plus(variable(ABOVE), constant(more))) for more in (0, 3))
    assert here.meeting.value(whole, part) is whole
    assert here.meeting.value(whole, another) is None
    assert here.meeting.value(part, whole) is part


@pytest.mark.parametrize("least", [0, 1])
def test_bytes_joined_by_or_are_0_where_all_are(least: int) -> None:
    here = Parted()
    bits = Combined(*(Byte(plus(variable(each), constant(least)), 0) for each in (ROW, here.other)))
    quotient = here.third(here.row)
    assert here.meeting.value(quotient, bits) is (None if least else quotient)
    assert here.meeting.value(bits, quotient) is None  # which are any bytes there


def test_a_sum_is_the_number_that_it_is_in_its_state() -> None:
    here = Parted()
    low = byte_of(variable(ROW), 0)
    assert here.meeting.value(0, low) == 0
    assert here.meeting.value(1, low) is None


@pytest.fixture(scope="module")
def observed(tmp_path_factory: pytest.TempPathFactory) -> tuple[LinkedProgram, IntegerChain]:
    """Return a linear model of 12 scores that counts its answers."""
    (instance,) = (
        each for each in instances_of("linear") if each.name == "as many scores as inputs"
    )
    points = np.random.default_rng(0).integers(0, 64, (200, 12), np.uint8)
    model = observing(instance.model, points)
    plan = plan_of(model, {})
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
