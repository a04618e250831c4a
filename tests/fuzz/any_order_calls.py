"""Calls in any order, of models of every kind, on the host under sanitizers."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from any_order import build_on_host, check_calls, random_calls
from avr_tools import skip_without
from model_factory import random_model
from random_chains import random_chain

from protonn_edge.codegen.plan import Plan
from protonn_edge.extensions.precision.model import float_build
from protonn_edge.model.integer_chain import IntegerChain

BRIEF_CASES = 3
DEADLINE_S = 120.0

_CALLS = 500
_FLOATS = 0.05


def run_case(seed: int, folder: Path) -> None:
    """Compile a random program, and call its functions."""
    skip_without("cc")
    rng = np.random.default_rng(seed)
    model, plan = _program(rng)
    check_calls(build_on_host(model, plan, folder), model, random_calls(rng, model, _CALLS))


def _program(rng: np.random.Generator) -> tuple[IntegerChain, Plan | None]:
    if rng.random() >= _FLOATS:
        return random_chain(rng)
    features, seed = int(rng.integers(1, 60)), int(rng.integers(1 << 31))
    return float_build(random_model(seed, features=features)), None
