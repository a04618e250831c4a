"""Chains of every kind as C for chips of 32 bits, on emulated cores, or here under sanitizers."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from codegen.words.chips import CHIPS, HOW, emulated
from generated_programs import assert_equal_to_reference
from random_chains import points_of, random_chain

from protonn_edge.chips.cores import WORD_CORES
from protonn_edge.codegen.host import host_program
from protonn_edge.codegen.words import plan_for

SETTINGS = (None, *((name, optimize) for name in CHIPS for optimize in ("-O2", "-Os")))
"""A chip and a level of optimization, or none for this computer."""

BRIEF_CASES = len(SETTINGS)
DEADLINE_S = 300.0

_POINTS = 20


def run_case(seed: int, folder: Path) -> None:
    """Compare one random program with NumPy, in the next of the settings."""
    rng = np.random.default_rng(seed)
    chain, _ = random_chain(rng)
    Q, setting = points_of(rng, _POINTS, chain), SETTINGS[seed % len(SETTINGS)]
    if setting is None:
        plan = plan_for(chain, WORD_CORES["cortex-m0plus"])
        with host_program(chain, plan, sanitize=True) as program:
            assert_equal_to_reference(program, chain, Q)
        return
    name, optimize = setting
    if CHIPS[name].missing:
        pytest.skip(HOW)
    done = emulated(CHIPS[name], chain, Q, optimize)
    assert done.differing == 0, f"{name} {optimize}: {done.differing} of {len(Q)} points differ"
