"""A board that hangs is switched off and on by the user's command, and the results state it."""

from __future__ import annotations

import json
import tracemalloc
from pathlib import Path

import pytest
from command_line import refusal, run, run_json
from simulated_board import simulate

from protonn_edge.cli import hil
from protonn_edge.device import power
from protonn_edge.device.power import PowerCycle
from protonn_edge.errors import DeviceError
from protonn_edge.evaluation.measurement import measure

HANGS = DeviceError("no device answered; reset it")


def test_a_board_that_hangs_is_measured_again_after_its_power_was_cycled(user):
    simulate(user, "stuck line", "none")
    options = ["--pnn-port", "board", "--pnn-power-cycle", "touch 'was cycled'"]
    result = user.runpytest_inprocess("test_board.py", *options)
    result.assert_outcomes(passed=1)
    assert (user.path / "was cycled").exists()
    result.stdout.fnmatch_lines(["*no device answered*; the board's power was cycled by*"])


def test_hil_begins_again_once_and_its_json_states_what_was_done(
    built: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.chdir(tmp_path)
    faults = [HANGS]

    def at_fault_first(*arguments, **options):
        if faults:
            raise faults.pop()
        return measure(*arguments, **{**options, "ports": ()})

    monkeypatch.setattr(hil, "measure", at_fault_first)
    words = ["hil", built / "test.csv", "--project", built, "--port", "board"]
    done = run_json(*words, "--power-cycle", "touch cycled")
    assert (done["n"], done["mismatches"]) == (60, 0)
    assert Path("cycled").exists()
    said = "no device answered; reset it; the board's power was cycled by 'touch cycled'"
    assert said in json.dumps(done)


@pytest.mark.parametrize(
    ("command", "says"),
    [
        ("false", "cycling the power with 'false' failed: exit code 1"),
        ("ls --no-such-option", "failed: .*no-such-option"),
        ("sh -c 'seq 9999 | xargs >&2; exit 3'", r"failed: 1 2 3 .{280,}9998 9999$"),
        (
            "sleep 9",
            "cycling the power failed: sleep 9 was stopped because it took more than 0.3 s",
        ),
    ],
)
def test_a_command_that_fails_is_an_error_with_the_fault(command, says, monkeypatch):
    monkeypatch.setattr(power, "_DEADLINE_S", 0.3)
    with pytest.raises(DeviceError, match=f"no device answered; reset it; .*{says}"):
        PowerCycle.of(command).after(HANGS, [])


@pytest.mark.parametrize("command", ["", "'touch", "no-such-program --off"])
def test_what_names_no_program_is_refused_before_anything_runs(built, command):
    words = ["hil", built / "test.csv", "--project", built, "--port", "x", "--power-cycle", command]
    assert "does not begin with an installed program; give a command such as" in refusal(
        run(*words)
    )


def test_the_output_of_a_command_without_end_takes_no_memory(monkeypatch):
    monkeypatch.setattr(power, "_DEADLINE_S", 0.5)
    tracemalloc.start()
    try:
        with pytest.raises(DeviceError, match="yes was stopped because it took more than"):
            PowerCycle.of("yes").after(HANGS, [])
        assert tracemalloc.get_traced_memory()[1] < 1 << 22
    finally:
        tracemalloc.stop()
