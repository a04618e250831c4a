"""A report reads a folder, which anybody may have made: nothing in it is run or compiled."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest
from avr_tools import needs_avr_gcc
from built_project import write_project
from model_factory import random_model, random_points

from protonn_edge.chips.avr.program import read_program
from protonn_edge.chips.boards import load_board
from protonn_edge.codegen.planner import make_plan
from protonn_edge.codegen.projects.folder import Project
from protonn_edge.codegen.projects.project import build
from protonn_edge.codegen.verification.agreement import PossibleCycles
from protonn_edge.device.results import Origin, Result, ResultsFile
from protonn_edge.model.model import Model
from protonn_edge.model.quantization import quantize
from protonn_edge.report.gathering import gather

UNO = load_board("uno")
HOSTILE_SETTINGS = """
[env:uno]
platform = atmelavr
board = uno
extra_scripts = pre:run.py
"""


def results_of(model: Model, path: Path, cycles: int = 5_000) -> Path:
    reference = quantize(model)
    fed = reference.quantize(random_points(0, 3, model.n_features).astype(np.float32))
    labels = np.zeros(3, np.int64)
    with ResultsFile(path, Origin.of(reference, fed, labels), model.classes) as file:
        for index, scores in enumerate(reference.scores(fed)):
            answer = int(scores.argmax())
            file.append(Result(index, 0, answer, cycles, False, tuple(scores.tolist()), "x"))
    return path


@needs_avr_gcc
def test_a_stranger_s_project_is_not_compiled(tmp_path: Path) -> None:
    model = random_model()
    folder = tmp_path / "project"
    plan = make_plan(quantize(model), kernel="columns")
    write_project(model, folder, plan)
    (folder / "platformio.ini").write_text(HOSTILE_SETTINGS)
    (folder / "run.py").write_text(f"open({str(tmp_path / 'was_run')!r}, 'w')\n")
    (folder / "firmware" / "main.c").write_text("#error compiled\n")
    before = sorted(folder.rglob("*"))
    evidence = gather(results_of(model, tmp_path / "r.csv"), [model], [Project(folder)], UNO)
    assert not (tmp_path / "was_run").exists()
    assert sorted(folder.rglob("*")) == before
    assert isinstance(evidence.firmware.plan, type(plan))
    assert evidence.firmware.plan.kernel == "columns"  # type: ignore[union-attr]
    assert evidence.firmware.usage.flash_bytes > 0


@needs_avr_gcc
def test_what_hil_has_linked_is_what_is_shown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = random_model()
    folder = tmp_path / "project"
    plan = build(model, UNO, folder).plan
    main = folder / "firmware" / "main.c"
    main = main if main.exists() else next((folder / "firmware").rglob("main.c"))
    with main.open("a") as stream:
        stream.write("\n__attribute__((used)) void mine(void) { PORTB = 1; }\n")
    elf = Project(folder).compile(UNO)
    least = PossibleCycles.of_program(read_program(elf), plan, UNO).least
    results = results_of(model, tmp_path / "r.csv", least)
    with monkeypatch.context() as patch:
        patch.setattr("protonn_edge.report.gathering.trial_build", None)
        shown = gather(results, [model], [Project(folder)], UNO).firmware
    assert shown.program == read_program(elf).code
    # One that is older than a source, or has another model, is not what was measured.
    assert Project(folder).linked(UNO) == elf
    main.touch()
    newer = main.stat().st_mtime + 5
    shutil.os.utime(main, (newer, newer))  # type: ignore[attr-defined]
    assert Project(folder).linked(UNO) is None
