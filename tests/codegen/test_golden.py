"""The generated C as it was read: the text of the golden files, and no compiler warns of it."""

from __future__ import annotations

import runpy
import subprocess
from pathlib import Path

import pytest
from avr_tools import needs_avr_gcc

RENEW = runpy.run_path(str(Path(__file__).with_name("renew_golden.py")))
GOLDEN, CASES, WHOLE = (RENEW[name] for name in ("GOLDEN", "CASES", "WHOLE"))
# The checks of `conformance` let no warning through at the other levels, either.
FLAGS = (("atmega328p", "-O0"), ("atmega328p", "-O3"), ("attiny85", "-Os"))  # no multiplier


def test_tiny_model_renders_to_the_golden_files() -> None:
    """Renew the files with ``python tests/codegen/renew_golden.py`` and read the difference."""
    for file, text in RENEW["program"](WHOLE).items():
        assert text == (GOLDEN / file).read_text(encoding="utf-8")


@needs_avr_gcc
@pytest.mark.parametrize(("chip", "flags"), FLAGS)
@pytest.mark.parametrize("name", CASES)
def test_generated_c_compiles_without_a_warning_at_every_optimization(
    name: str, chip: str, flags: str, tmp_path: Path
) -> None:
    for file, text in RENEW["program"](name).items():
        (tmp_path / file).write_text(text, encoding="utf-8")
    command = ["avr-gcc", f"-mmcu={chip}", "-std=gnu99", *flags.split(), "-c", f"{WHOLE}.c"]
    strict = ["-Wall", "-Wextra", "-Wpedantic", "-Werror"]
    done = subprocess.run(
        [*command, *strict], cwd=tmp_path, capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 0, done.stderr
