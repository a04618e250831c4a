"""Loops count in the register that the compiler chose for them, if another one than r24 is free.

Their text named r24 where the operand's constraint allowed other registers, too: the averages of
pooling, the roots and the cells of gradients. Here the compiler is to keep off r24.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from avr_tools import needs_emulated_avr
from conformance.instances import instances_of
from generated_programs import answers_in_bytes, compile_with, predicting, printed_by_uno
from plans import plan_with

from protonn_edge.codegen.planner import make_plan

KEPT_OFF = ("-ffixed-24", "-ffixed-25", "-w")  # arguments are still passed in them


@needs_emulated_avr
@pytest.mark.parametrize(
    ("kind", "name"),
    [("gradients", "hard cells"), ("pooling", "averages, and those of a whole image")],
)
def test_loops_count_in_their_own_register(kind: str, name: str, tmp_path: Path) -> None:
    instance = next(each for each in instances_of(kind) if each.name == name)
    model, Q = instance.model, instance.points[:3]
    plan = plan_with(model, "columns") if kind == "gradients" else make_plan(model)
    program = compile_with(model, predicting(Q), tmp_path, *KEPT_OFF, plan=plan)
    expected = b"".join(answers_in_bytes(model, Q))
    assert printed_by_uno(program, len(expected)) == expected
