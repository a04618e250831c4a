"""Faults put in on purpose, and the check that notices each: docs/certificate.md counts them.

Those that bounds notice are tried here, the others beside their checks.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

import pytest
from avr_tools import needs_emulated_avr
from checkout import CHECKOUT
from extensions.proof.faults import faults
from model_factory import plain_model
from refusals import refused_by

from protonn_edge.chips.avr.program import read_program
from protonn_edge.chips.boards import load_board
from protonn_edge.chips.emulator import EmulatedBoard
from protonn_edge.codegen.families.avr.paths import stated_facts
from protonn_edge.codegen.planner import plan_of
from protonn_edge.codegen.projects.project import BuildOptions, trial_build
from protonn_edge.codegen.verification.agreement import verify_device
from protonn_edge.codegen.verification.tryout import trial_points
from protonn_edge.model.quantization import quantize
from protonn_edge.system.errors import CheckFailed

EVA, PROOF, AGREEMENT = "Eva", "proof for every input", "agreement"
BOUNDS = "bound and measurement"


class Edits(NamedTuple):
    """Texts of the generated C, as patterns, and what takes their places."""

    edits: tuple[tuple[str, str], ...]
    fact: str  # that does not hold then


OF_BOUNDS = {
    "a loop that clears one more score": Edits(
        (
            (
                r"uint8_t left = PNN_CLASSES;",
                "volatile uint8_t count = PNN_CLASSES + 1; uint8_t left = count;",
            ),
        ),
        "prototypes_score",
    ),
    "a label with a limit that is too small": Edits(
        ((r"\(prototypes_step0, 5, 5\)", "(prototypes_step0, 4, 0)"),), "prototypes_step0"
    ),
    "a table of prototypes that is an entry short": Edits(
        ((r"(prototypes_rows)\[5u", r"\1[4u"), (r"\n    /\*   4 \*/[^\n]*(?=\n};)", "")),
        "prototypes_step0",
    ),
}

CHECKS = {
    **{name: check for check in (EVA, PROOF, AGREEMENT) for name in faults(check)},
    **dict.fromkeys(OF_BOUNDS, BOUNDS),
}
"""Which check notices each fault."""


@needs_emulated_avr
@pytest.mark.parametrize("name", OF_BOUNDS)
def test_measurements_contradict_a_wrong_bound(name: str) -> None:
    fault, board, model = OF_BOUNDS[name], load_board("uno"), plain_model()
    reference = quantize(model)
    loops = BuildOptions(plan=plan_of(reference, {"projection": "unrolled"}))
    with trial_build(model, board, options=loops) as trial:
        change(trial.project.folder / "firmware" / "generated" / "pnn_model.c", fault)
        elf = trial.project.compile(board)
        facts = stated_facts(read_program(elf), trial.plan, board)
        points = trial_points(trial.model, 20)
        with EmulatedBoard(elf, board=board, watch=facts.watch) as emulated:
            verify_device("uno", emulated.url, reference, points, board=board)
            with refused_by("codegen.families.avr.paths", kind=CheckFailed):
                facts.check(emulated.stats())


def change(source: Path, fault: Edits) -> None:
    """Put a fault into a file."""
    text = source.read_text("utf-8")
    for right, wrong in fault.edits:
        text, count = re.subn(right, wrong, text, count=1)
        assert count == 1, right
    source.write_text(text, "utf-8")


def test_the_table_of_the_docs_counts_all_faults() -> None:
    text = (CHECKOUT / "docs" / "certificate.md").read_text("utf-8")
    table = text.split("| detected by | faults | such as |\n|---|---|---|\n", 1)[1]
    rows = re.findall(r"^\| (.+) \| (\d+) \| (.+) \|$", table.split("\n\n", 1)[0], re.MULTILINE)
    checks = [EVA, PROOF, AGREEMENT, BOUNDS]
    counted = [(check, list(CHECKS.values()).count(check)) for check in checks]
    assert [(name.partition(" ")[0], int(count)) for name, count, _ in rows] == [
        (check.partition(" ")[0], count) for check, count in counted
    ]
    named = {
        fault: check
        for check, row in zip(checks, rows, strict=True)
        for fault in row[2].split("; ")
    }
    assert named.items() <= CHECKS.items()
    assert len(CHECKS) >= 20
