"""All inline assembly of generated C and of the firmware keeps the rules."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import extension_parts
import pytest
from checkout import CHECKOUT
from chips.assembly.sources import assert_rules_hold, preprocessed
from generated_programs import write_c
from laws.conformance.instances import KINDS, programs_of
from model_factory import tiny_integer_model, tiny_pooling_model
from plans import plan_with

from protonn_edge.chips.cores import CORES
from protonn_edge.system.files import resources

_ASSEMBLY = re.compile(r"\b(?:__asm__|asm)\b")


@pytest.mark.parametrize("kind", KINDS)
def test_every_kernel_of_a_kind(kind: str, tmp_path: Path) -> None:
    for program in programs_of(kind):
        write_c(program.instance.model, tmp_path, program.plan)
        assert assert_rules_hold(preprocessed(tmp_path / "pnn_model.c")) > 0


@pytest.mark.parametrize("kernel", ["columns", "unrolled"])
@pytest.mark.parametrize(("core", "mcu"), [("avr6", "atmega2560"), ("avr51", "atmega1284p")])
def test_chips_with_far_code(kernel: str, core: str, mcu: str, tmp_path: Path) -> None:
    for model in (tiny_integer_model(), tiny_pooling_model()):
        write_c(model, tmp_path, plan_with(model, kernel, core=CORES[core]))
        assert assert_rules_hold(preprocessed(tmp_path / "pnn_model.c", mcu=mcu)) > 0


def _firmware() -> Iterator[str]:
    for path in sorted((CHECKOUT / "firmware").glob("*.[ch]")):
        if _ASSEMBLY.search(path.read_text()):
            yield path.name


@pytest.mark.parametrize("mcu", ["atmega328p", "atmega2560", "attiny85"])
@pytest.mark.parametrize("name", [name for name in _firmware() if name != "uart.c"])
def test_the_firmware(name: str, mcu: str) -> None:
    code = preprocessed(CHECKOUT / "firmware" / name, mcu=mcu)
    assert assert_rules_hold(code) > 0


@pytest.mark.parametrize("mcu", ["atmega328p", "atmega2560"])
def test_the_handler_of_a_uart(mcu: str) -> None:
    assert assert_rules_hold(preprocessed(CHECKOUT / "firmware/uart.c", mcu=mcu)) > 0


@extension_parts.needs("sensing")
def test_no_other_template_has_assembly() -> None:
    """Those of ``c`` and of rooms are in models, that of the logger is in its firmware."""
    found = {
        path.relative_to(templates).parts[0]
        for templates in resources("templates")
        for path in templates.rglob("*.j2")
        if _ASSEMBLY.search(path.read_text())
    }
    assert found == {"c", "sensors", "observation", "teaching"}
