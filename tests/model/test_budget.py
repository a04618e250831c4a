"""The budget gate: the linked truth, at the very byte."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

from avr_tools import needs_avr_gcc
from model_factory import random_model
from plans import with_first_cost
from refusals import refused_by

from protonn_edge.chips.boards import load_board
from protonn_edge.codegen.planner import make_plan
from protonn_edge.codegen.projects.checks import Usage, check_estimate
from protonn_edge.codegen.projects.project import BuildOptions, build
from protonn_edge.kinds.protonn.head import ProtoNNHead
from protonn_edge.model.model import Model
from protonn_edge.model.quantization import quantize
from protonn_edge.system.errors import CheckFailed

UNO = load_board("uno")
REMEDIES = ProtoNNHead.remedies
COLUMNS = BuildOptions(kernel="columns")


def test_usage_at_the_limit_fits_and_one_byte_more_does_not() -> None:
    fits = Usage(flash_bytes=32_256, sram_bytes=1_700, stack_bytes=348, stack_path=("main",))
    fits.check(UNO, REMEDIES)
    where = "codegen.projects.checks", "codegen.families.avr.checks"
    flash = "32,257 B of flash, but uno has 32,256 B"
    with refused_by(*where, kind=CheckFailed, naming=flash):
        replace(fits, flash_bytes=32_257).check(UNO, REMEDIES)
    with refused_by(*where, kind=CheckFailed, naming="(variables 1,701 B, stack 348 B)"):
        replace(fits, sram_bytes=1_701).check(UNO, REMEDIES)


def test_estimate_turns_away_tables_or_variables_that_alone_are_too_large() -> None:
    plan = make_plan(quantize(random_model()))
    check_estimate(plan, UNO, REMEDIES)
    with refused_by("codegen.projects.checks", "codegen.families.avr.checks", kind=CheckFailed):
        check_estimate(with_first_cost(plan, tables=40_000), UNO, REMEDIES)
    with refused_by("codegen.projects.checks", "codegen.families.avr.checks", kind=CheckFailed):
        check_estimate(with_first_cost(plan, state=3_000), UNO, REMEDIES)


@needs_avr_gcc
def test_one_prototype_too_many_is_refused_and_nothing_is_written(tmp_path: Path) -> None:
    def model(prototypes: int) -> Model:
        return random_model(projections=10, classes=54, prototypes=prototypes)

    usage = build(model(410), UNO, tmp_path / "some", COLUMNS).usage
    fits = 410 + (UNO.flash_bytes - usage.flash_bytes) // 64 - 1  # d + L bytes a prototype
    build(model(fits), UNO, tmp_path / "fits", COLUMNS)
    while (reason := refusal(model(fits + 1), tmp_path / f"{fits + 1}")) is None:
        fits += 1
    flash = re.search(r"(32,\d{3}) B of flash, but uno has 32,256 B; try fewer --proto", reason)
    assert flash, reason
    over = int(flash[1].replace(",", "")) - UNO.flash_bytes
    assert 0 < over <= 64 + 24  # a prototype, and code that depends on the numbers
    assert not (tmp_path / f"{fits + 1}").exists()


@needs_avr_gcc
def test_firmware_beyond_what_the_linker_knows_of_the_chip_is_refused_with_the_number(
    tmp_path: Path,
) -> None:
    """Its tables alone would fit, the whole does not even fit the chip."""
    reason = refusal(random_model(projections=10, classes=54, prototypes=490), tmp_path / "large")
    assert reason is not None
    assert re.search(r"needs 3[3456],\d{3} B of flash, but uno has 32,256 B; try fewer", reason)


def refusal(model: Model, folder: Path) -> str | None:
    """Return why a model does not fit, or None if it does."""
    try:
        build(model, UNO, folder, COLUMNS)
    except CheckFailed as error:
        return str(error)
    return None
