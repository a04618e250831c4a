"""docs/export.md lists the rules of MISRA C:2012 from which the C of classifiers deviates."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
from checkout import CHECKOUT
from laws.conformance.instances import programs_of

from protonn_edge.chips.cores import WORD_CORES
from protonn_edge.codegen.renderer import render_c
from protonn_edge.codegen.words import plan_for

_CPPCHECK = Path(sys.executable).with_name("cppcheck")
_COMMAND = [
    *(str(_CPPCHECK), "--addon=misra", "--std=c99", "--enable=style", "--quiet"),
    *("--suppress=missingIncludeSystem", "--template={id}"),
]


@pytest.mark.skipif(not _CPPCHECK.exists(), reason="run make lint, which installs cppcheck")
@pytest.mark.parametrize("kind", ["linear", "dense", "forest", "prototypes"])
def test_cppcheck_finds_no_rule_that_the_page_does_not_list(kind: str, tmp_path: Path) -> None:
    program = programs_of(kind)[0]
    model, core = program.instance.model, WORD_CORES["cortex-m0plus"]
    found = set[str]()
    for name, plan in (("avr", program.plan), ("words", plan_for(model, core))):
        (tmp_path / name).mkdir()
        for file, text in render_c(model, plan).items():
            (tmp_path / name / file).write_text(text, encoding="utf-8")
        command = [*_COMMAND, str(tmp_path / name / "pnn_model.c")]
        done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True)
        found |= set(re.findall(r"misra-c2012-([\d.]+)", done.stderr))
    page = (CHECKOUT / "docs" / "export.md").read_text(encoding="utf-8")
    table = page.partition("## MISRA C:2012")[2].partition("\n## ")[0]
    rules = re.findall(r"^\| (.*?) \|", table, re.MULTILINE)
    listed = {rule for row in rules for rule in row.split(", ")}
    assert "8.7" in found, "the addon found nothing"
    assert found <= listed, f"not in the table: {sorted(found - listed)}"
