"""The assembly of random chains of every kind keeps the rules of tests/assembly."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from chips.assembly.sources import assert_rules_hold, preprocessed
from generated_programs import write_c
from random_chains import random_chain


def run_case(seed: int, folder: Path) -> None:
    """Check one random chain with random kernels."""
    chain, plan = random_chain(np.random.default_rng(seed))
    write_c(chain, folder, plan)
    assert assert_rules_hold(preprocessed(folder / "pnn_model.c")) > 0
