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


def test_a_float_in_the_firmware_is_refused(build_with):
    with refused_by("codegen.families.avr.checks", kind=CheckFailed):
        build_with(
            "prediction.c",
            "cycles += span;",
            "static volatile float sum; sum += 0.5f; cycles += span;",
        )


def test_a_function_of_the_mathematical_library_is_refused(build_with):
    with refused_by("codegen.families.avr.checks", kind=CheckFailed):
        build_with(
            "prediction.c",
            "cycles += span;",
            "extern double exp(double); static volatile double sum; sum = exp(sum);"
            " cycles += span;",
        )


def test_a_table_that_is_not_in_flash_is_refused_by_its_name(build_with):
    with refused_by("codegen.families.avr.checks", kind=CheckFailed, naming="primes"):
        build_with(
            "prediction.c",
            "cycles += span; }",
            "static const uint8_t primes[33] = {2, 3, 5, 7}; static volatile uint8_t i;"
            " cycles += span + primes[i]; }",
        )


def test_a_string_that_is_not_in_flash_is_refused_by_its_text(build_with):
    with refused_by(
        "codegen.families.avr.checks", kind=CheckFailed, naming="'hello' (src/prediction.o)"
    ):
        build_with(
            "prediction.c",
            "cycles += span; }",
            'static const char *volatile text; text = "hello"; cycles += span + text[0]; }',
        )


def test_a_variable_of_the_firmware_may_have_an_initial_value(build_with):
    folder = build_with(
        "prediction.c", "static uint32_t cycles;", "static volatile uint32_t cycles = 7;"
    )
    assert (folder / "platformio.ini").is_file()


def test_a_constant_that_the_linker_leaves_out_does_not_count(build_with):
    folder = build_with(
        "prediction.c",
        "static uint32_t cycles;",
        "static volatile uint32_t cycles = 7;\nextern const uint8_t unused[9];\n"
        "const uint8_t unused[9] = {1};",
    )
    assert (folder / "platformio.ini").is_file()


WAKE = "    sei();\n    byte = uart_ring[tail];"  # where uart_receive() has interrupts disabled


def test_interrupts_off_for_longer_than_the_line_can_wait_are_refused(build_with):
    with refused_by("codegen.families.avr.checks", kind=CheckFailed):
        build_with("uart.c", WAKE, '    __asm__(".rept 3000\\n nop\\n .endr");\n' + WAKE)


def test_waiting_with_interrupts_off_is_refused(build_with):
    with refused_by("chips.avr.interrupts", kind=CheckFailed):
        build_with("uart.c", WAKE, "    loop_until_bit_is_set(UCSR0A, UDRE0);\n" + WAKE)


def test_nothing_is_written_when_a_check_fails(build_with, tmp_path):
    with pytest.raises(CheckFailed):
        build_with("uart.c", WAKE, "    loop_until_bit_is_set(UCSR0A, UDRE0);\n" + WAKE)
    assert not (tmp_path / "platformio.ini").exists()
    assert not (tmp_path / "firmware" / "generated").exists()
