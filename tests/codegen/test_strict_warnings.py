"""The C of every kind of stage has no warning of the strict kinds, for all families and as C++."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest
from laws.conformance.instances import KINDS, programs_of

from protonn_edge.chips.cores import WORD_CORES
from protonn_edge.codegen.renderer import render_c
from protonn_edge.codegen.words import plan_for
from protonn_edge.system.errors import InputError

STRICT = ("-Wall", "-Wextra", "-Wconversion", "-Wsign-conversion", "-Wshadow", "-pedantic")
AVR = {
    "a chip with a multiplier": "avr-gcc -mmcu=atmega328p -std=gnu99",
    "a chip without one": "avr-gcc -mmcu=attiny85 -std=gnu99",
    "C++": "avr-g++ -mmcu=atmega328p -std=gnu++11 -x c++",
}
WORDS = {
    "Arm": "arm-none-eabi-gcc -mcpu=cortex-m0plus -mthumb -std=c99",
    "RISC-V": "riscv64-unknown-elf-gcc --specs=picolibc.specs -march=rv32imac -mabi=ilp32 -std=c99",
    "C++": "g++ -std=c++11 -x c++",
}
"""Compilers of chips with words of 32 bits."""


def is_installed(command: list[str]) -> bool:
    """Return whether a compiler is there, and the C library that its specs name."""
    if shutil.which(command[0]) is None:
        return False
    named = [word.removeprefix("--specs=") for word in command if word.startswith("--specs=")]
    asked = [subprocess.check_output([command[0], f"-print-file-name={each}"]) for each in named]
    return all(Path(path.decode().strip()).is_absolute() for path in asked)


def check(commands: dict[str, str], files: dict[str, str], folder: Path) -> None:
    """Compile the model with those of the compilers that are installed."""
    for name, text in files.items():
        (folder / name).write_text(text, encoding="utf-8")
    split = {what: each.split() for what, each in commands.items()}
    found = {what: command for what, command in split.items() if is_installed(command)}
    if not found:
        pytest.skip(
            "install gcc-avr, or gcc-arm-none-eabi or gcc-riscv64-unknown-elf with picolibc"
        )
    for what, command in found.items():
        done = subprocess.run(
            [*command, *STRICT, "-Werror", "-fsyntax-only", "pnn_model.c"],
            cwd=folder, capture_output=True, text=True, timeout=120, check=False,
        )  # fmt: skip
        assert done.returncode == 0, f"{what}: {done.stderr}"


@pytest.mark.parametrize("kind", KINDS)
def test_the_c_of_a_kind_has_no_warning_on_an_avr(kind: str, tmp_path: Path) -> None:
    program = programs_of(kind)[0]
    check(AVR, render_c(program.instance.model, program.plan), tmp_path)


@pytest.mark.parametrize("kind", KINDS)
def test_the_c_of_a_kind_has_no_warning_on_chips_of_32_bits(kind: str, tmp_path: Path) -> None:
    model = programs_of(kind)[0].instance.model
    try:
        plan = plan_for(model, WORD_CORES["cortex-m0plus"])
    except InputError:
        pytest.skip("the model needs an AVR")
    check(WORDS, render_c(model, plan), tmp_path)
