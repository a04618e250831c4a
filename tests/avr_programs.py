"""Programs that tests write in C, compiled for an AVR."""

from __future__ import annotations

import subprocess
from pathlib import Path

DEADLINE_S = 60


def compile_text(text: str, elf: Path, *flags: str, mcu: str = "atmega328p") -> Path:
    """Compile a program's text, which is kept beside the ELF file that it becomes."""
    source = elf.with_suffix(".c")
    source.write_text(text)
    command = ["avr-gcc", f"-mmcu={mcu}", "-std=gnu99", *flags, source, "-o", elf, "-lm"]
    subprocess.run(command, check=True, timeout=DEADLINE_S, cwd=elf.parent)
    return elf
