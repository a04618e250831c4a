"""The generated C as it was read: the text of the golden files, and no compiler warns of any."""

from __future__ import annotations

import runpy
import subprocess
from pathlib import Path

import pytest
from avr_tools import needs_avr_gcc
from generated_programs import write_c
from laws.conformance.instances import KINDS, programs_of

RENEW = runpy.run_path(str(Path(__file__).with_name("renew_golden.py")))
# The checks of `conformance` let no warning through at the other levels, either.
FLAGS = (("atmega328p", "-O0"), ("atmega328p", "-O3"), ("attiny85", "-Os"))  # no multiplier
STRICT = ("-std=gnu99", "-Wall", "-Wextra", "-Wpedantic", "-Werror")


def test_tiny_model_renders_to_the_golden_files() -> None:
    """Renew the files with ``python tests/codegen/renew_golden.py`` and read the difference."""
    for file, text in RENEW["program"]().items():
        assert text == (RENEW["GOLDEN"] / file).read_text(encoding="utf-8")


@needs_avr_gcc
@pytest.mark.parametrize("kind", KINDS)
def test_generated_c_compiles_without_a_warning_at_every_optimization(
    kind: str, tmp_path: Path
) -> None:
    """The first program with each kernel; the levels take turns."""
    kernels = {each.plan.kernels[each.instance.place].name: each for each in programs_of(kind)}
    for number, program in enumerate(kernels.values()):
        write_c(program.instance.model, tmp_path, program.plan)
        turn = number % len(FLAGS)
        for chip, level in FLAGS[turn : turn + 1] if number else FLAGS:
            command = ["avr-gcc", f"-mmcu={chip}", level, *STRICT, "-c", "pnn_model.c"]
            done = subprocess.run(
                command, cwd=tmp_path, capture_output=True, text=True, timeout=60, check=False
            )
            assert done.returncode == 0, done.stderr
