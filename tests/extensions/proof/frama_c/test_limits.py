"""Limits in ``PNN_SURE``, which the AVR leaves out, are not needed on the host either.

Without them, sanitizers find nothing but the faults that are put in.
"""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from avr_tools import skip_without
from extensions.proof.faults import Fault, faults
from generated_programs import write_c
from laws.conformance.instances import Program, programs_of

CC = ["cc", "-std=c99", "-O0", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"]

# Whole points, then parts of them whose lengths divide no row.
MAIN = """
#include "pnn_model.h"
static pnn_input_t features[PNN_FEATURES];
int main(void)
{
    for (uint8_t turn = 0; turn < 3; ++turn) {
        for (uint16_t i = 0; i < PNN_FEATURES; ++i) {
            features[i] = (pnn_input_t)(i * 37u + turn) % (PNN_INPUT_MAXIMUM + 1u);
        }
        pnn_predict(features);
        pnn_begin();
        for (uint16_t i = 0; i < PNN_FEATURES;) {
            const uint16_t left = (uint16_t)(PNN_FEATURES - i), part = left < 7 ? left : 7;
            pnn_push_many(&features[i], part);
            i = (uint16_t)(i + part);
        }
        pnn_finish();
    }
    return 0;
}
"""

SURE = "#define PNN_SURE(condition) (condition)"

FAULTS = faults("sanitizers")


def _runs(program: Program, folder: Path, fault: Fault | None = None) -> bool:
    write_c(program.instance.model, folder, program.plan)
    source = folder / "pnn_model.c"
    lines = (
        source.read_text(encoding="utf-8")
        .replace(SURE, "#define PNN_SURE(condition) 1")
        .split("\n")
    )
    if fault is not None:
        at = next(number for number, line in enumerate(lines) if fault.place.split(": ")[1] in line)
        lines[at] = fault.put(lines[at])
    source.write_text("\n".join(lines), encoding="utf-8")
    (folder / "main.c").write_text(MAIN, encoding="utf-8")
    elf = folder / "main"
    subprocess.run(
        [*CC, f"-I{folder}", folder / "main.c", source, "-o", elf], check=True, timeout=60
    )
    return subprocess.run([elf], check=False, capture_output=True, timeout=60).returncode == 0


def test_the_limits_are_never_reached(tmp_path: Path) -> None:
    skip_without("cc")
    images = (*programs_of("gradients"), *programs_of("average_pooling"))
    for program in (*images, programs_of("linear")[0]):
        assert _runs(program, tmp_path), program.plan.choices


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_is_noticed_without_the_limits(fault: str, tmp_path: Path) -> None:
    skip_without("cc")
    kind = FAULTS[fault].place.split(": ")[0]
    assert not _runs(programs_of(kind)[0], tmp_path, FAULTS[fault])
