"""NumPy, host C under sanitizers and the emulated AVR agree on models of all shapes and kernels.

48 models with 12 inputs each: 576 cases, in a few programs of several models.
"""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from avr_tools import needs_emulated_avr
from random_integer_models import (
    compile_program,
    expected_output,
    output_of_emulated_uno,
    random_bytes,
    random_integer_model,
    write_program,
)

MODELS_IN_A_PROGRAM = 4
AVR = [
    "avr-gcc",
    "-mmcu=atmega328p",
    "-std=gnu99",
    "-O2",
    "-Wall",
    "-Wextra",
    "-Wpedantic",
    "-Werror",
]
HOST = ["cc", "-std=c99", "-O1", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"]


@needs_emulated_avr
@pytest.mark.parametrize("first", range(0, 48, MODELS_IN_A_PROGRAM))
def test_all_executions_agree_on_any_model_with_any_kernel(tmp_path: Path, first: int) -> None:
    cases = []
    for seed in range(first, first + MODELS_IN_A_PROGRAM):
        model, kernel = random_integer_model(seed)
        cases.append((model, kernel, random_bytes(seed, 12, model)))
    expected = expected_output(cases)
    write_program(cases, tmp_path)
    host = subprocess.run(
        [compile_program(tmp_path, HOST)], capture_output=True, check=True, timeout=60
    )
    avr = output_of_emulated_uno(compile_program(tmp_path, AVR), sum(map(len, expected)))
    for output in (host.stdout, avr):
        begin = 0
        for (model, kernel, _), right in zip(cases, expected, strict=True):
            answer = output[begin : begin + len(right)]
            assert answer == right, (kernel, model)
            begin += len(right)
        assert begin == len(output)
