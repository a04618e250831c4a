"""Calls in any order, of models of every kind, on the host under sanitizers."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from any_order import build_on_host, check_calls, random_calls
from avr_tools import skip_without
from model_factory import forms_in_place_of, random_model
from random_chains import random_chain

from protonn_edge.codegen.plan import Plan
from protonn_edge.model.integer_chain import IntegerChain
from protonn_edge.model.quantization import quantize

BRIEF_CASES = 3
DEADLINE_S = 120.0

_CALLS = 500
_OTHER_FORMS = 0.05


def run_case(seed: int, folder: Path) -> None:
    """Compile a random program, and call its functions."""
    skip_without("cc")
    rng = np.random.default_rng(seed)
    model, plan = _program(rng)
    check_calls(build_on_host(model, plan, folder), model, random_calls(rng, model, _CALLS))


def _program(rng: np.random.Generator) -> tuple[IntegerChain, Plan | None]:
    forms = list(forms_in_place_of(random_model()))
    if not forms or rng.random() >= _OTHER_FORMS:
        return random_chain(rng)
    features, seed = int(rng.integers(1, 60)), int(rng.integers(1 << 31))
    model = random_model(seed, features=features)
    return forms[seed % len(forms)].of(quantize(model), model), None
