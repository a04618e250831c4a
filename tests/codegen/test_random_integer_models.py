"""NumPy, host C under sanitizers and the emulated AVR agree on models of all shapes and kernels.

48 models with 12 inputs each: 576 cases, in a few programs of several models.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from avr_tools import needs_emulated_avr
from random_integer_models import (
    assert_all_executions_agree,
    random_bytes,
    random_integer_model,
)

MODELS_IN_A_PROGRAM = 4


@needs_emulated_avr
@pytest.mark.parametrize("first", range(0, 48, MODELS_IN_A_PROGRAM))
def test_all_executions_agree_on_any_model_with_any_kernel(tmp_path: Path, first: int) -> None:
    cases = []
    for seed in range(first, first + MODELS_IN_A_PROGRAM):
        model, kernel = random_integer_model(seed)
        cases.append((model, kernel, random_bytes(seed, 12, model)))
    assert_all_executions_agree(cases, tmp_path)
