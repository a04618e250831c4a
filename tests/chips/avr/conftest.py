"""Small firmwares to compile and to look into."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from avr_programs import compile_text
from avr_tools import AVR_GCC, skip_without

Compile = Callable[..., Path]


@pytest.fixture
def compile_avr(tmp_path: Path) -> Compile:
    """Return a function that compiles C for the Uno, to firmware.elf with firmware.su beside it."""
    skip_without(*AVR_GCC)

    def compile_with(text: str, *flags: str) -> Path:
        return compile_text(text, tmp_path / "firmware.elf", "-O2", "-fstack-usage", *flags)

    return compile_with
