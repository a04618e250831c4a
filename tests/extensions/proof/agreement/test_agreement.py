"""Each function with assembly that no proven program has does what its portable form does."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache

import pytest
from avr_tools import needs_avr_gcc
from checkout import CHECKOUT
from extensions.proof.agreement.agreement import compare, prove
from extensions.proof.agreement.calls import LISTINGS, all_calls
from extensions.proof.agreement.case import Stage
from extensions.proof.agreement.proven import (
    LEAST_SHARE,
    WITHOUT_PROOF,
    left,
    provable,
    prove_program,
    unexecuted,
)
from extensions.proof.agreement.sources import Function, cases_of, functions, functions_of, stage_of

LANES = 400
LONG = {"bonsai_tree", "gradients", "window_features"}  # to prove: seconds each


@cache
def all_functions() -> tuple[Function, ...]:
    return tuple(left())


@needs_avr_gcc
@pytest.mark.parametrize(
    "kind",
    [
        pytest.param(kind, marks=[pytest.mark.nightly] * (kind in LONG))
        for kind in (*WITHOUT_PROOF, "average_pooling")
    ],
)
def test_functions_of_a_kind(kind: str) -> None:
    """`make agreement` proves and tries more, which takes longer."""
    for function in all_functions():
        if function.program.instance.stage.kind != kind or not function.is_own:
            continue
        stage = stage_of(function)
        executed = check(function, stage)
        own = set(instructions_of(stage, function.name))
        assert len(own & executed) >= LEAST_SHARE * len(own), function.id


def check(function: Function, stage: Stage) -> set[int]:
    """Prove or try all calls that take no more than moments; return the instructions that ran."""
    executed = set[int]()
    for case in cases_of(function, stage):
        if not case.long and case.proven:
            executed |= prove(stage.forms, case.call).executed
        elif not case.long:
            executed |= compare(stage.forms, case.call, LANES).executed
    return executed


@needs_avr_gcc
def test_a_proof_executes_assembly_that_copies_features() -> None:
    result = prove_program("forest 2")
    assert result.is_known
    assert len(result.shares) == len([*functions_of(provable("forest")["forest 2"], 2)])
    assert min(result.shares.values()) > LEAST_SHARE
    assert not unexecuted([result])
    shares = dict.fromkeys(result.shares, LEAST_SHARE - 0.01)
    assert unexecuted([result, result._replace(shares=shares)]) == []
    assert len(unexecuted([result._replace(shares=shares)])) == len(shares)


def instructions_of(stage: Stage, name: str) -> Iterator[int]:
    """Yield where the instructions are of the assembly form of a function."""
    linked = stage.forms.assembly
    place = linked.functions[name]
    end = place + linked.sizes[name]
    while place < end:
        yield place
        place = linked.program.reached(place).end


def test_all_functions_with_assembly_are_called() -> None:
    found = {function.what for function in all_functions()}
    assert found == all_calls(), "write in agreement/calls.py how to call them"


def test_all_listings_are_in_functions_of_programs() -> None:
    package = CHECKOUT / "protonn_edge"
    found = set()
    for path in package.rglob("*.py"):
        text = path.read_text(encoding="utf-8")
        if "Listing(" in text:
            module = ".".join(path.relative_to(package).with_suffix("").parts)
            found |= {f"{module}.{name}".rstrip(".") for name in _makers(ast.parse(text))}
    assert found == LISTINGS.keys(), "write in agreement/calls.py what they are a part of"
    assert set(LISTINGS.values()) == {function.what for function in functions()}


def _makers(tree: ast.AST, inside: str = "") -> Iterator[str]:
    """Yield the names of functions that make a listing; of the module it is empty."""
    for node in ast.iter_child_nodes(tree):
        is_function = isinstance(node, ast.FunctionDef)
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "Listing":
            yield inside
        yield from _makers(node, node.name if is_function else inside)
