"""Cycles that a linked program rules out are refused by every command that reads them.

They were printed, drawn and turned into energy, whatever was proven.
"""

from __future__ import annotations

from contextlib import nullcontext
from itertools import chain, repeat
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple
from unittest import mock

import numpy as np
import pytest
from built_project import write_project
from click.testing import Result as CommandResult
from command_line import assert_one_sentence, run
from fake_device import HostileDevice, ReferenceModel, SimulatedHost
from model_factory import forms_in_place_of, random_model, random_points
from refusals import refused_by

from protonn_edge.chips.boards import load_board
from protonn_edge.cli import verify
from protonn_edge.cli.command import Output
from protonn_edge.cli.hil import say_unproven
from protonn_edge.codegen.planner import Limits, device_plans, make_plan
from protonn_edge.codegen.projects.folder import Project
from protonn_edge.codegen.verification import agreement
from protonn_edge.codegen.verification.agreement import PossibleCycles
from protonn_edge.device.results import Origin, Result, ResultsFile
from protonn_edge.device.session import Session
from protonn_edge.model.file import save_model
from protonn_edge.model.quantization import quantize
from protonn_edge.report.gathering import gather

UNO, TINY = load_board("uno"), load_board("attiny85")


class Unlabelled(NamedTuple):
    """A linked program that says nothing of its cycles."""

    path: Path
    code: bytes = b""
    symbols: tuple[()] = ()
    marks: tuple[()] = ()
    core: str = ""


def test_without_bounds_only_the_clock_gives_one():
    model = random_model()
    integers, program = quantize(model), Unlabelled(Path("firmware.elf"))
    for plan, board in (
        *(
            (device_plans(form.of(integers, model))[0], UNO)
            for form in forms_in_place_of(random_model())
        ),
        (make_plan(integers, Limits.of(TINY)), TINY),
        (make_plan(integers), UNO),  # firmware of the user's, without labels
    ):
        possible = PossibleCycles.of_program(program, plan, board)
        assert possible == PossibleCycles(1, 3 * board.clock_hz, False)


def test_where_nothing_is_proven_the_range_is_printed(capsys: pytest.CaptureFixture[str]):
    say_unproven(PossibleCycles(1, 48_000_000, False), Output(as_json=False))
    said = capsys.readouterr().out
    assert "no proven bound" in said
    assert str(PossibleCycles(1, 48_000_000, False)) in said


@pytest.mark.parametrize("cycles", [0, 500_000_000, (1 << 32) - 1])
def test_a_report_refuses_them(tmp_path: Path, cycles: int):
    model = random_model()
    reference = quantize(model)
    Q = reference.quantize(random_points(0, 3, model.n_features))
    y = np.zeros(3, np.int64)
    labels, scores = reference.answers(Q)
    path = tmp_path / "results.csv"
    with ResultsFile(path, Origin.of(reference, Q, y), reference.classes) as file:
        for row in range(3):
            said = cycles if row == 1 else 3_000
            values = tuple(map(int, scores[row]))
            file.append(Result(row, 0, int(labels[row]), said, False, values, "port"))
    with refused_by("report.gathering"):
        gather(path, [model], [], UNO)


def test_verify_fails_with_the_point_and_both_numbers(tmp_path: Path):
    model = random_model(features=4, projections=2, prototypes=3, classes=2)
    reference = quantize(model)
    plan = make_plan(reference)
    save_model(model, tmp_path / "model.npz")
    rows = "\n".join(f"class {n % 2},{n},{n},1,2" for n in range(5))
    (tmp_path / "points.csv").write_text(f"label,a,b,c,d\n{rows}\n")
    device = HostileDevice(ReferenceModel(reference, 3_001))
    session = Session("the board", board=UNO, host=SimulatedHost(device))
    possible = PossibleCycles(2_000, 3_000, proven=True)
    built = nullcontext(SimpleNamespace(program=None, plan=plan, possible=possible))
    with (
        mock.patch.object(verify, "trial_build", return_value=built),
        mock.patch.object(agreement, "watched_board", return_value=nullcontext(device)),
        mock.patch.object(device, "url", "the board", create=True),
        mock.patch.object(agreement, "open_session", return_value=session),
    ):
        done = run("verify", tmp_path / "model.npz", tmp_path / "points.csv")
    assert done.exit_code == 1
    words = "at 5 of 5 points, first at point 0: 3,001 cycles, but a prediction "
    assert words in done.stderr.replace("\n", " ")
    assert "2,000 to 3,000, proven from the machine code" in done.stderr


def verify_at_port(folder: Path, cycles: int, *options: str) -> CommandResult:
    """Verify a model against a board at --port that says these cycles, without an emulated one."""
    model = random_model(features=4, projections=2, prototypes=3, classes=2)
    save_model(model, folder / "model.npz")
    rows = "\n".join(f"class {n % 2},{n},{n},1,2" for n in range(5))
    (folder / "points.csv").write_text(f"label,a,b,c,d\n{rows}\n")
    device = HostileDevice(ReferenceModel(quantize(model), cycles))
    session = Session("the board", board=UNO, host=SimulatedHost(device))
    opened = chain([lambda *_: nullcontext()], repeat(lambda *_: session))  # first it is only asked

    def open_session(*device: Any, **more: Any) -> Any:
        return next(opened)(*device, **more)

    with (
        mock.patch.object(verify, "_emulator", return_value=None),
        mock.patch.object(agreement, "open_session", open_session),
    ):
        files = (folder / "model.npz", folder / "points.csv")
        return run("verify", *files, "--port", "the board", *options)


def test_verify_of_a_board_takes_the_range_of_the_program_in_its_project(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    model = random_model(features=4, projections=2, prototypes=3, classes=2)
    write_project(model, tmp_path / "project")
    possible = PossibleCycles(2_000, 3_000, proven=True)
    monkeypatch.setattr(Project, "linked", lambda *_: Path("firmware.elf"))
    monkeypatch.setattr(verify, "read_program", lambda path, _: path)
    monkeypatch.setattr(PossibleCycles, "of_program", lambda *_: possible)

    monkeypatch.chdir(tmp_path)
    anywhere = verify_at_port(tmp_path, 3_001)
    assert anywhere.exit_code == 0, anywhere.output
    assert "the machine code of the firmware at --port is unknown" in anywhere.output
    named = verify_at_port(tmp_path, 3_001, "--project", "project")
    assert named.exit_code == 1
    assert str(possible) in named.stderr
    monkeypatch.chdir(tmp_path / "project")
    assert verify_at_port(tmp_path, 3_001).exit_code == 1
    assert verify_at_port(tmp_path, 3_000).exit_code == 0


def test_verify_of_a_board_refuses_another_model_s_project(tmp_path: Path):
    write_project(random_model(seed=1), tmp_path / "project")
    refused = verify_at_port(tmp_path, 1, "--project", str(tmp_path / "project"))
    assert_one_sentence(refused, "whose firmware has the model")
