"""Small firmwares to compile and to look into."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

Compile = Callable[..., Path]


@pytest.fixture(scope="session")
def avr_gcc() -> str:
    """Return the AVR compiler; skip where there is none."""
    if shutil.which("avr-gcc") is None:
        pytest.skip("avr-gcc is not on PATH; to run: make setup")
    return "avr-gcc"


@pytest.fixture
def compile_avr(tmp_path: Path, avr_gcc: str) -> Compile:
    """Return a function that compiles C for the Uno, to firmware.elf with firmware.su beside it."""

    def compile_text(text: str, *flags: str) -> Path:
        source, elf = tmp_path / "firmware.c", tmp_path / "firmware.elf"
        source.write_text(text)
        command = [avr_gcc, "-mmcu=atmega328p", "-std=gnu99", "-O2", "-fstack-usage", *flags]
        subprocess.run([*command, source, "-o", elf, "-lm"], check=True, timeout=60, cwd=tmp_path)
        return elf

    return compile_text
