"""The C of forests: for shapes at the ends."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from avr_tools import needs_avr_gcc
from forest_factory import random_chain
from generated_programs import compile_with

from protonn_edge.chips.avr.program import read_program
from protonn_edge.codegen.planner import plan_of
from protonn_edge.kinds.forest.layout import Reading


def test_addresses_that_most_tests_need_are_kept_in_registers() -> None:
    """Of inputs from 100, 200 and 300 on, if two pairs of registers are left."""
    asked = np.array([0, 1, 2, 100, 200, 210, 220, 300, 310])
    assert Reading.of(asked, (2, 3, 4), (6, 8)).pairs == {200: 6, 300: 8}


def test_the_only_address_that_y_does_not_reach_stays_in_z() -> None:
    reading = Reading.of(np.array([0, 10, 20, 100]), (2, 3, 4), (6, 8))
    assert (reading.fixed, reading.windows, reading.at_root.window) == (0, (100,), 100)
    assert reading.set_up()[-2:] == ["subi r30, lo8(-(100))", "sbci r31, hi8(-(100))"]
    assert reading.load(100, reading.at_root)[0] == ["ldd  r24, Z+0"]


CALLING = """
#include "pnn_model.h"
int main(void) { return pnn_finish(); }
"""


@needs_avr_gcc
@pytest.mark.parametrize("vote", [0, 100])
def test_trees_as_instructions_have_the_bytes_that_are_planned(vote: int, tmp_path: Path) -> None:
    """Some subtrees are too long for branches, and some trees for jumps."""
    chain = random_chain(8, trees=2, features=500, depth=13, share=0.0, vote=vote)
    plan = plan_of(chain, {"forest": "if-else"})
    elf = compile_with(chain, CALLING, tmp_path, plan=plan)
    (function,) = (each for each in read_program(elf).symbols if each.name == "forest_score")
    code = plan.of("forest").code
    saved = sum(2 <= int(register[1:]) < 18 for register in code.registers)
    assert "jmp  add_" in code.written.listing.source
    assert "past_" in code.written.listing.source
    assert function.size == code.written.listing.code_bytes + 4 * saved + len("ret\n")
