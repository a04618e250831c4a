"""After the link: no floats, no constants in SRAM, no long time without interrupts."""

from __future__ import annotations

from pathlib import Path

import pytest
from avr_tools import needs_avr_gcc
from model_factory import random_model
from refusals import refused_by

from protonn_edge.chips.boards import load_board
from protonn_edge.codegen.projects.project import build
from protonn_edge.system.errors import CheckFailed
from protonn_edge.system.files import resource

pytestmark = needs_avr_gcc


@pytest.fixture
def build_with(tmp_path):
    """Return a function that builds a model with a line of the firmware replaced."""

    def build_changed(name: str, old: str, new: str) -> Path:
        firmware = tmp_path / "firmware"
        firmware.mkdir()
        text = (resource("firmware") / name).read_text()
        assert old in text
        (firmware / name).write_text(text.replace(old, new, 1))
        build(random_model(), load_board("uno"), tmp_path)
        return tmp_path

    return build_changed


SPAN, LAST_SPAN, CYCLES = "cycles += span;", "cycles += span; }", "static uint32_t cycles;"
WAKE = "    sei();\n    byte = uart_ring[tail];"  # where uart_receive() has interrupts disabled
KEPT = "static volatile uint32_t cycles = 7;"
CHECKS, INTERRUPTS = "codegen.families.avr.checks", "chips.avr.interrupts"
REFUSED = {
    "a float": (
        CHECKS,
        "prediction.c",
        SPAN,
        f"static volatile float sum; sum += 0.5f; {SPAN}",
        "",
    ),
    "a function of the mathematical library": (
        CHECKS,
        "prediction.c",
        SPAN,
        f"extern double exp(double); static volatile double sum; sum = exp(sum); {SPAN}",
        "",
    ),
    "a table that is not in flash": (
        CHECKS,
        "prediction.c",
        LAST_SPAN,
        "static const uint8_t primes[33] = {7}; static volatile uint8_t i; cycles += primes[i]; }",
        "primes",
    ),
    "a string that is not in flash": (
        CHECKS,
        "prediction.c",
        LAST_SPAN,
        'static const char *volatile text; text = "hello"; cycles += span + text[0]; }',
        "'hello' (src/prediction.o)",
    ),
    "interrupts off for longer than the line can wait": (
        CHECKS,
        "uart.c",
        WAKE,
        f'    __asm__(".rept 3000\\n nop\\n .endr");\n{WAKE}',
        "",
    ),
    "waiting with interrupts off": (
        INTERRUPTS,
        "uart.c",
        WAKE,
        f"    loop_until_bit_is_set(UCSR0A, UDRE0);\n{WAKE}",
        "",
    ),
}
"""What refuses it, a file of the firmware, what is replaced in it, and what the sentence names."""

ALLOWED = {
    "a variable with an initial value": ("prediction.c", CYCLES, KEPT),
    "a constant that the linker leaves out": (
        "prediction.c",
        CYCLES,
        f"{KEPT}\nextern const uint8_t unused[9];\nconst uint8_t unused[9] = {{1}};",
    ),
}


@pytest.mark.parametrize(("where", "name", "old", "new", "naming"), REFUSED.values(), ids=REFUSED)
def test_what_does_harm_is_refused_and_nothing_is_written(
    build_with, tmp_path, where, name, old, new, naming
):
    with refused_by(where, kind=CheckFailed, naming=naming):
        build_with(name, old, new)
    assert not (tmp_path / "platformio.ini").exists()
    assert not (tmp_path / "firmware" / "generated").exists()


@pytest.mark.parametrize(("name", "old", "new"), ALLOWED.values(), ids=ALLOWED)
def test_what_does_no_harm_is_built(build_with, name, old, new):
    assert (build_with(name, old, new) / "platformio.ini").is_file()
