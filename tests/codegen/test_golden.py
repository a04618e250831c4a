"""The generated C as it was read: the text of the golden files, and no compiler warns of it."""

from __future__ import annotations

import runpy
import subprocess
from pathlib import Path

import pytest
from avr_tools import needs_avr_gcc

RENEW = runpy.run_path(str(Path(__file__).with_name("renew_golden.py")))
GOLDEN, CASES, READ, WHOLE = (RENEW[name] for name in ("GOLDEN", "CASES", "READ", "WHOLE"))
FLAGS = ("-O0", "-O1", "-Os", "-O3", "-Os -flto")
MOST_LINES = 1_500


@pytest.mark.parametrize("name", READ)
def test_tiny_model_renders_to_the_golden_files(name: str) -> None:
    """Renew the files with ``python tests/codegen/renew_golden.py`` and read the difference."""
    for file, text in RENEW["golden"](name).items():
        assert text == (GOLDEN / file).read_text(encoding="utf-8")


def test_golden_files_are_short_enough_to_be_read() -> None:
    texts = [path.read_text(encoding="utf-8") for path in sorted(GOLDEN.iterdir())]
    assert sum(text.count("\n") for text in texts) <= MOST_LINES


@needs_avr_gcc
@pytest.mark.parametrize("chip", ["atmega328p", "attiny85"])  # the latter has no multiplier
@pytest.mark.parametrize("flags", FLAGS)
@pytest.mark.parametrize("name", CASES)
def test_generated_c_compiles_without_a_warning_at_every_optimization(
    name: str, flags: str, chip: str, tmp_path: Path
) -> None:
    for file, text in RENEW["program"](name).items():
        (tmp_path / file).write_text(text, encoding="utf-8")
    command = ["avr-gcc", f"-mmcu={chip}", "-std=gnu99", *flags.split(), "-c", f"{WHOLE}.c"]
    strict = ["-Wall", "-Wextra", "-Wpedantic", "-Werror"]
    done = subprocess.run(
        [*command, *strict], cwd=tmp_path, capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 0, done.stderr
