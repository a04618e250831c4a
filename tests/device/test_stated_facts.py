"""Facts that a program's labels state are counted on the emulated board; a false one is noticed."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from avr_tools import needs_emulated_avr
from linear_factory import random_chain
from measured_predictions import build_program, measure

from protonn_edge.chips.avr.program import read_program
from protonn_edge.chips.boards import load_board
from protonn_edge.codegen.families.avr.paths import prediction_paths, stated_facts
from protonn_edge.codegen.kernels.listing import Facts, Passed
from protonn_edge.codegen.kernels.matvec.kernels import Pass
from protonn_edge.codegen.planner import plan_of
from protonn_edge.system.errors import CheckFailed

pytestmark = needs_emulated_avr

UNO = load_board("uno")
POINTS = np.random.default_rng(0).integers(1, 64, (6, 12)).astype(np.uint8)


def test_a_false_fact_makes_a_wrong_bound_and_is_noticed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def too_few(product: Pass) -> Facts:
        return {"input": Passed(product.weights.shape[1] - 1)}

    monkeypatch.setattr(Pass, "facts", property(too_few))
    chain = random_chain(0, rows=4, features=12)
    plan = plan_of(chain, {"linear": "columns", "decision": "largest"})
    elf = build_program(chain, plan, tmp_path)
    program = read_program(elf)
    facts = stated_facts(program, plan, UNO)
    paths = prediction_paths(program, plan, UNO)
    assert paths.longest.passes["linear_block0_input"] == 11
    with pytest.raises(CheckFailed, match="counted 12 to 12 passes, but the label allows 0 to 11"):
        measure(elf, chain, POINTS, facts)
