"""What `sums` says of terms is true of their numbers."""

from __future__ import annotations

import random
from typing import Any

import pytest
from avr_tools import needs_avr_gcc
from extensions.proof.agreement.agreement import FORMS, Call, assumed, in_terms
from extensions.proof.agreement.linked import Forms
from extensions.proof.agreement.sources import cases_of, stage_of
from extensions.proof.agreement.sums import Sums
from extensions.proof.agreement.symbolic import Knowledge
from extensions.proof.agreement.test_agreement import all_functions, needs_z3
from extensions.proof.agreement.values import Terms, z3

ASSIGNMENTS = 12
EFFORT = 1_000_000  # of the solver for a value: without a limit, it may never end
NUMBERS = (0, 1, 127, 128, 255)
FUNCTIONS = (
    "bonsai_tree 1: projection_add_0",
    "bonsai_tree 1: projection_requantize",  # products of several bytes, shifts, rounding
    "gradients 0: gradients_add_runs",  # differences and their signs
    "window_features 0: window_features_take_sample",
)


@needs_z3
@needs_avr_gcc
@pytest.mark.parametrize("name", FUNCTIONS)
def test_what_is_said_of_terms_is_true(name: str) -> None:
    function = next(each for each in all_functions() if each.id == name)
    stage = stage_of(function)
    calls = [case.call for case in cases_of(function, stage) if case.proven][:3]
    rng = random.Random(0)
    assert sum(check(stage.forms, call, rng) for call in calls) > 1000


@needs_z3
def test_a_part_that_is_a_number_is_one_of_its_bits() -> None:
    """The upper byte of x - 256 is that of -1."""
    values = Terms(abstract=False)
    x = z3.BitVec("x", 8)
    word = values.plus(values.joined(0, x), -256, 16)
    assert values.part(word, 0, 8).eq(x)
    assert values.part(word, 8, 8) == 255


@needs_z3
def test_sums_are_the_same_where_a_factor_is_0() -> None:
    values = Terms(abstract=True)
    x, one, other = (z3.BitVec(name, 8) for name in ("x", "one", "other"))
    product = values.product(one, other)
    parts = [values.part(product, at, 8) for at in (0, 8)]
    low, _ = values.bytes_of_product(parts, (one, other), (False, False))
    total = values.part(values.total(x, low, 0, 1), 0, 8)
    for factor in (one, other):
        assert values.same_where_zero([factor], x, total)
        assert not values.same_where_zero([factor], x, values.plus(total, 1, 8))
    assert not values.same_where_zero([x], x, total)


def check(forms: Forms, call: Call, rng: random.Random) -> int:
    """Compare terms with the sums that they are said to be; return how many were."""
    z3.z3._main_ctx = None
    knowledge, values = Knowledge(list(assumed(call))), Terms(abstract=False)
    for form in FORMS:
        in_terms(getattr(forms, form), form, call, values, knowledge)
    sums, count = values.sums, 0
    for _ in range(ASSIGNMENTS):
        model = some_model(sums, knowledge, rng)

        def number(term: Any, model: Any = model) -> int:
            return model.eval(term, model_completion=True).as_long()

        for place, (form, low, bits) in sums.slices.items():
            total = sum(f * value_of(sums, atom, number) for atom, f in form.factors.items())
            least, most = form.ends
            assert least <= total <= most
            assert number(sums.terms[place]) == (total >> low) % (1 << bits), sums.terms[place]
            count += 1
    return count


def some_model(sums: Sums, knowledge: Knowledge, rng: random.Random) -> Any:
    """Return a model of what is assumed, with any values of bytes where that leaves them free."""
    solver = z3.Solver()
    solver.set(rlimit=EFFORT)
    solver.add(*knowledge.assumed)
    assert solver.check() == z3.sat
    model = solver.model()
    for of in list(sums.atoms.values()):
        term = of[0]
        if not isinstance(term, tuple) and term.decl().kind() == z3.Z3_OP_UNINTERPRETED:
            value = rng.choice([*NUMBERS, rng.randrange(256)]) % (1 << term.size())
            solver.push()
            solver.add(term == value)
            if solver.check() == z3.sat:
                model = solver.model()
            else:  # also if the solver gives up
                solver.pop()
    return model


def value_of(sums: Sums, atom: Any, number: Any) -> int:
    """Return the number of an atom."""
    if atom is None:
        return 1
    of = sums.atoms[atom]
    if atom[0] == "p":
        return value_of_byte(number(of[0][0]), of[0][1]) * value_of_byte(number(of[1][0]), of[1][1])
    return value_of_byte(number(of[0]), atom[0] == "s")


def value_of_byte(value: int, signed: bool) -> int:
    """Return a number, perhaps that of a byte with a sign."""
    return value - 256 if signed and value > 127 else value
