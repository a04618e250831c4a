"""The paths of a prediction are found once for a linked program."""

from __future__ import annotations

from pathlib import Path

import pytest
from avr_tools import needs_avr_gcc
from model_factory import random_model

from protonn_edge.chips.avr import paths as solver
from protonn_edge.chips.avr.facts import span_labels
from protonn_edge.chips.avr.program import read_program
from protonn_edge.chips.boards import load_board
from protonn_edge.chips.toolchain.platformio import build_firmware
from protonn_edge.codegen.families.avr import paths
from protonn_edge.codegen.projects.project import build

pytestmark = needs_avr_gcc


def test_paths_are_found_once_and_again_if_anything_that_finds_them_differs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    board = load_board("uno")
    build(random_model(0), board, tmp_path)
    program = read_program(build_firmware(tmp_path))
    asked = []

    def counted(*arguments: object) -> solver.Paths:
        asked.append(arguments)
        return found(*arguments)

    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    found = solver.paths_between
    monkeypatch.setattr(solver, "paths_between", counted)
    spans = dict.fromkeys(span_labels(program), 1)
    times = {name: solver.Times(1, 1) for name in spans}
    wanted = found(program, paths._register(board), times)
    assert [paths._paths_of_spans(program, spans, board) for _ in range(2)] == [wanted] * 2
    assert len(asked) == 1
    monkeypatch.setattr(paths, "_source", lambda: b"another solver")
    assert paths._paths_of_spans(program, spans, board) == wanted
    assert len(asked) == 2
