"""Every board builds, and answers 100 points as NumPy does."""

from __future__ import annotations

import configparser
from pathlib import Path

import numpy as np
import pytest
from avr_tools import needs_emulated_avr
from command_line import run_json

from protonn_edge.chips.boards import board_names, load_board
from protonn_edge.chips.emulator import EmulatedBoard
from protonn_edge.chips.toolchain.platformio import build_firmware, run_pio
from protonn_edge.codegen.projects.project import trial_build
from protonn_edge.codegen.verification.agreement import open_session, verify_device
from protonn_edge.model.quantization import quantize

OVERFLOW_CYCLES = 34  # of the handler that counts the ATtiny85's timer

pytestmark = needs_emulated_avr


@pytest.mark.parametrize("name", board_names())
def test_a_board_builds_and_answers_100_points(digits, tmp_path, name):
    board, reference = load_board(name), quantize(digits.model)
    Q = reference.quantize(digits.X)
    built = run_json("build", digits.model_file, "--board", name, "-o", tmp_path)
    assert built["board"] == name
    program = build_firmware(tmp_path, default_environment(tmp_path))
    assert program == tmp_path / ".pio" / "build" / name / "firmware.elf"
    with EmulatedBoard(program, board=board) as emulated:
        agreement, _ = verify_device(name, emulated.url, reference, Q)
        stats = emulated.stats()
    assert (agreement.n, agreement.mismatches, agreement.lost) == (100, 0, 0)
    assert (stats.faults, stats.overruns) == ((), 0)


def default_environment(project: Path) -> str:
    """Return what a plain `pio run` builds."""
    settings = configparser.ConfigParser()
    settings.read(project / "platformio.ini", encoding="utf-8")
    return settings["platformio"]["default_envs"]


def test_a_plain_pio_run_builds_for_the_board_that_build_was_for(digits, tmp_path):
    run_json("build", digits.model_file, "--board", "promini8", "-o", tmp_path)
    run_pio(tmp_path, "run", deadline_s=120)
    (made,) = (path for path in (tmp_path / ".pio" / "build").iterdir() if path.is_dir())
    assert made.name == "promini8"
    assert (made / "firmware.hex").is_file()


@pytest.mark.parametrize("name", ["attiny85", "leonardo"])
def test_verify_takes_a_board(digits, name):
    record = run_json("verify", digits.model_file, digits.points_file, "--board", name)
    assert (record["n"], record["mismatches"], record["lost"]) == (100, 0, 0)
    executions = [each["execution"] for each in record["executions"]]
    assert executions == ["host C", f"emulated {name}"]


@pytest.mark.parametrize("name", ["mega2560", "atmega1284p"])
def test_plans_are_bounds_on_chips_that_multiply(digits, name):
    reference, board = quantize(digits.model), load_board(name)
    Q = reference.quantize(digits.X[:30])
    with (
        trial_build(digits.model, board) as trial,
        EmulatedBoard(trial.elf, board=board) as emulated,
        open_session(emulated.url, reference) as session,
    ):
        cycles = np.array([session.predict(each).cycles for each in Q])
        stats, device = emulated.stats(), session.stats()
    assert stats.faults == ()
    assert trial.possible.proven
    assert trial.possible.least <= cycles.min() <= cycles.max() <= trial.possible.most
    assert device.stack_bytes <= stats.stack_bytes <= trial.usage.stack_bytes


def test_cycles_of_the_attiny85_are_exact(digits):
    reference, board = quantize(digits.model), load_board("attiny85")
    Q = reference.quantize(digits.X[:30])
    with (
        trial_build(digits.model, board) as trial,
        EmulatedBoard(trial.elf, board=board) as emulated,
        open_session(emulated.url, reference) as session,
    ):
        reported = []
        for features in Q:
            before = emulated.stats().marked_cycles
            reported.append(session.predict(features).cycles)
            interrupted = emulated.stats().marked_cycles - before - reported[-1]
            handled, rest = divmod(interrupted, OVERFLOW_CYCLES)
            assert rest == 0
            spanned = reported[-1] + interrupted
            assert handled in {spanned // 256, spanned // 256 - 1}
        stats = emulated.stats()
    assert stats.faults == ()
    assert stats.stack_bytes <= trial.usage.stack_bytes
