"""Constants that the generated code cannot read are noticed, before the link and after it."""

from __future__ import annotations

import shutil
import subprocess
from dataclasses import replace

import pytest
from model_factory import random_model

from protonn_edge.boards import load_board
from protonn_edge.codegen import Limits, make_plan
from protonn_edge.errors import CheckFailed
from protonn_edge.linkage import check_constants_within_reach
from protonn_edge.quantization import quantize

SOURCE = """
#include <avr/io.h>
#include <avr/pgmspace.h>
const char low[32000] PROGMEM = {1};
const char middle[32000] PROGMEM = {2};
const char high[SIZE] PROGMEM = {3};
#define READ(table) pgm_read_byte(&table[PINB])
int main(void) { for (;;) PORTB = READ(low) + READ(middle) + READ(high); }
"""


@pytest.mark.skipif(
    shutil.which("avr-gcc") is None, reason="avr-gcc is not on PATH; to run: make setup"
)
def test_constants_beyond_64_kb_are_refused(tmp_path):
    elf = tmp_path / "far.elf"
    (tmp_path / "far.c").write_text(SOURCE)

    def link(size: int) -> None:
        command = ["avr-gcc", "-mmcu=atmega2560", "-Os", f"-DSIZE={size}", "-o", elf, "far.c"]
        subprocess.run(command, check=True, timeout=60, cwd=tmp_path)

    link(1_000)
    check_constants_within_reach(elf)
    link(2_000)
    with pytest.raises(CheckFailed, match=r"constants reach up to 66,\d{3} B of flash.*65,536"):
        check_constants_within_reach(elf)


def test_a_plan_with_more_constants_than_can_be_read_does_not_fit():
    limits = Limits.of(load_board("mega2560"))
    plan = make_plan(quantize(random_model()), limits)
    assert limits.hold(plan)
    assert not limits.hold(replace(plan, table_bytes=64_000))
