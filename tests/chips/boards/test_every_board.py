"""Every board builds, and answers points as NumPy does, within the bounds of the build."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from avr_tools import needs_emulated_avr
from command_line import run_json
from model_factory import random_inputs, random_model, random_points

from protonn_edge.chips.boards import board_names, load_board
from protonn_edge.chips.emulator import EmulatedBoard
from protonn_edge.chips.toolchain.platformio import run_pio
from protonn_edge.codegen.projects.project import trial_build
from protonn_edge.codegen.verification.agreement import verify_device
from protonn_edge.model.file import save_model
from protonn_edge.model.quantization import quantize

MODEL = random_model(features=64, projections=6, prototypes=20, classes=10)
REFERENCE = quantize(MODEL)
Q = random_inputs(0, 60, REFERENCE)

pytestmark = needs_emulated_avr


@pytest.mark.parametrize("name", board_names())
def test_a_board_builds_and_answers_within_its_bounds(name: str) -> None:
    board = load_board(name)
    with (
        trial_build(MODEL, board) as trial,
        EmulatedBoard(trial.elf, board=board) as emulated,
    ):
        agreement, results = verify_device(name, emulated.url, REFERENCE, Q)
        stats = emulated.stats()
    assert (agreement.n, agreement.mismatches, agreement.lost) == (60, 0, 0)
    assert (stats.faults, stats.overruns) == ((), 0)
    assert trial.possible.proven
    assert trial.possible.outside(results) == []
    assert 0 < stats.stack_bytes <= trial.usage.stack_bytes


def test_a_plain_pio_run_builds_for_the_board_that_build_was_for(
    model_file: Path, tmp_path: Path
) -> None:
    built = run_json("build", model_file, "--board", "promini8", "-o", tmp_path)
    assert built["board"] == "promini8"
    run_pio(tmp_path, "run", deadline_s=120)
    (made,) = (path for path in (tmp_path / ".pio" / "build").iterdir() if path.is_dir())
    assert made.name == "promini8"
    assert (made / "firmware.hex").is_file()


def test_verify_takes_a_board(tmp_path: Path) -> None:
    save_model(MODEL, tmp_path / "model.npz")
    y = np.array(MODEL.classes)[np.arange(20) % 10]
    np.savez(tmp_path / "test.npz", X=random_points(1, 20, 64), y=y)
    words = ("verify", tmp_path / "model.npz", tmp_path / "test.npz", "--board", "leonardo")
    record = run_json(*words)
    assert (record["n"], record["mismatches"], record["lost"]) == (20, 0, 0)
    executions = [each["execution"] for each in record["executions"]]
    assert executions == ["host C", "emulated leonardo"]
