"""The answer "unknown" is proven, and no other limit, statistic or comparison."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from avr_tools import needs_avr_gcc
from extensions.proof.equality.fuzz import encoded
from extensions.proof.equality.programs import linked
from extensions.proof.equality.values import Inputs, value_of
from judging_rules import Weak, add_templates, both_orders, judged_by_both
from laws.conformance.instances import instances_of
from model_factory import rejecting_some

from protonn_edge.chips.avr.program import LinkedProgram
from protonn_edge.codegen.planner import plan_of
from protonn_edge.extensions.proof.algebra import Algebra
from protonn_edge.extensions.proof.answers import RankedScores, negative, ranked
from protonn_edge.extensions.proof.difference import prove
from protonn_edge.extensions.proof.forms import (
    Root,
    SumForm,
    Unproven,
    constant,
    minus,
    plus,
    single,
    variable,
)
from protonn_edge.model.integer_chain import IntegerChain
from protonn_edge.model.policy import IntegerPolicy, with_rules
from protonn_edge.policy.rejection.rule import IntegerRejection

_SCORE, _RBF, _MARGIN = 1, 2, 4


def rejecting(kind: str, name: str, which: int, folder: Path) -> tuple[LinkedProgram, IntegerChain]:
    """Return a linked program of a model of conformance, with thresholds."""
    (instance,) = (each for each in instances_of(kind) if each.name == name)
    model = rejecting_some(instance.model, instance.points, which)
    plan = plan_of(model, {})
    return linked(model, plan, folder), model


def other_rules(rule: IntegerRejection) -> Iterator[IntegerRejection]:
    """Yield rules with another limit, or with none of a kind."""
    limits = {name: limit for name, limit in dataclasses.asdict(rule).items() if limit}
    for name, limit in limits.items():
        for number in (limit - 1, limit + 1):
            yield dataclasses.replace(rule, **{name: number})
    yield dataclasses.replace(rule, **{name: 0})


@needs_avr_gcc
@pytest.mark.parametrize(
    ("kind", "name", "which"),
    [
        ("linear", "as many scores as inputs", _SCORE | _MARGIN),
        ("prototypes", "one", _SCORE | _RBF),
    ],
    ids=str,
)
def test_limits_are_proven_and_no_others(kind: str, name: str, which: int, tmp_path: Path) -> None:
    program, model = rejecting(kind, name, which, tmp_path)
    prove(program, model)
    rule = model.policy.find(IntegerRejection)
    assert rule is not None
    for other in other_rules(rule):
        with pytest.raises(Unproven):
            prove(program, with_rules(model, other))


@needs_avr_gcc
@both_orders
def test_of_two_rules_the_first_is_proven_to_decide(
    rule: type[Weak], decides: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    del decides
    add_templates(monkeypatch)
    model = judged_by_both(rule)[0]
    program = linked(model, plan_of(model, {}), tmp_path)
    prove(program, model)
    rules = model.policy.rules
    for other in (rules[:1], rules[1:], rules[::-1]):
        with pytest.raises(Unproven):
            prove(program, dataclasses.replace(model, policy=IntegerPolicy(other)))


@negative.register(Weak)
def _(rule: Weak, statistics: RankedScores) -> list[SumForm]:
    return [minus(statistics.largest, constant(rule.limit))]


@needs_avr_gcc
def test_a_changed_comparison_is_not_proven(tmp_path: Path) -> None:
    program, model = rejecting("linear", "as many scores as inputs", _SCORE | _MARGIN, tmp_path)
    for address, new in changes(program):
        code = program.code[:address] + new + program.code[address + len(new) :]
        with pytest.raises(Unproven):
            prove(dataclasses.replace(program, code=code), model)


def changes(program: LinkedProgram) -> Iterator[tuple[int, bytes]]:
    """Yield addresses, and other code for them, of the search for the largest and the limits.

    A score that is not kept is left out, a branch has the opposite condition, and ties go to the
    last class.
    """
    here = program.reached(next(m.address for m in program.marks if "decision_class" in m.name))
    compared, ties = b"", b""
    while here.name != "ret":
        if here.name in ("movw", "mov") and here.operands["d"] >= 2:
            yield here.address, bytes(2)
        elif here.name in ("brbs", "brbc"):
            high = program.code[here.address + 1] ^ 4
            yield here.address + 1, bytes([high])
            if compared and not ties:
                ties = compared + program.code[here.address : here.address + 1] + bytes([high])
                yield here.end - len(ties), ties
        if here.name in ("cp", "cpc"):
            compared += encoded(here.name, d=here.operands["r"], r=here.operands["d"])
        here = program.reached(here.end)


def test_the_largest_two_are_those_of_numbers() -> None:
    rng, algebra = np.random.default_rng(0), Algebra()
    roots = [Root(f"x{k}", np.arange(5)) for k in range(3)]
    scores = [
        plus(
            plus(single(roots[k % 3], rng.integers(-400, 400, 5)), variable(roots[k % 2])),
            constant(int(rng.integers(-9, 9))),
        )
        for k in range(6)
    ]
    scores.append(scores[2])  # a tie
    found = ranked(algebra, scores, 16)
    for point in rng.integers(0, 5, (40, 3)).tolist():
        inputs: Inputs = dict(zip(roots, point, strict=True))
        values = [value_of(each, inputs) for each in scores]
        best = values.index(max(values))
        second = max(values[:best] + values[best + 1 :])
        assert [value_of(each, inputs) for each in found] == [best, values[best], second]
