"""Replies, cycles and rows of runs that cannot be."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from itertools import chain, repeat
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple
from unittest import mock

import numpy as np
import pytest
from built_project import write_project
from chains import replace
from click.testing import Result as CommandResult
from command_line import assert_one_sentence, run
from fake_device import HostileDevice, ReferenceModel, SimulatedHost
from model_factory import forms_in_place_of, random_model, random_points
from refusals import refused_by
from simulated_run import N, honest_model, measure_on, subject

from protonn_edge.chips.boards import load_board, load_export_board
from protonn_edge.cli import verify
from protonn_edge.cli.command import Output
from protonn_edge.cli.hil import say_unproven
from protonn_edge.codegen.planner import Limits, device_plans, make_plan
from protonn_edge.codegen.projects.folder import Project
from protonn_edge.codegen.verification import agreement
from protonn_edge.codegen.verification.agreement import PossibleCycles
from protonn_edge.data.naming import NO_CLASS
from protonn_edge.device.protocol import ScoresReply, ScoresRequest, StatsReply, StatsRequest
from protonn_edge.device.results import Origin, Result, ResultsFile, read_results
from protonn_edge.device.session import Session
from protonn_edge.model.file import save_model
from protonn_edge.model.quantization import quantize
from protonn_edge.report.gathering import gather
from protonn_edge.system.errors import InputError

# A reply that takes longer than the watchdog waits is no hang of the program.

CLASSES = 70  # whose reply has 289 bytes: 2.4 s at 1,200 baud


def test_scores_arrive_however_long_they_take_on_the_line(start):
    uno, line = start(BAUD="1200UL", FAKE_CLASSES=f"{CLASSES}u")
    before = uno.stats().cycles
    reply = line.ask(ScoresRequest(bytes([7, 0, 0, 255])))
    assert isinstance(reply, ScoresReply)
    assert len(reply.scores) == CLASSES
    assert uno.stats().cycles - before > 2.2 * 16_000_000
    stats = line.ask(StatsRequest())
    assert isinstance(stats, StatsReply)
    assert stats.resets == 1  # the opening of the line
    assert uno.stats().faults == ()


# Cycles that a linked program rules out are refused by every command that reads them.

UNO, TINY = load_board("uno"), load_export_board("attiny85")


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


# Rows in a results file that cannot be of its run: they are refused before the run goes on.

DONE = 8


def resumed(path: Path, change: Callable[[Result], Result], n: int = DONE) -> tuple[str, int]:
    """Resume a run of which a row is another one; return the error, and the number of requests."""
    reference, _, X, y = subject()
    Q = reference.quantize(X)
    scores = reference.scores(Q)
    rows = [
        Result(i, int(y[i]), int(scores[i].argmax()), 3000, False, tuple(scores[i].tolist()), "x")
        for i in range(n)
    ]
    rows[-1] = change(rows[-1])
    with ResultsFile(path, Origin.of(reference, Q, y), reference.classes, keep=rows):
        pass
    device = HostileDevice(honest_model())
    with pytest.raises(InputError) as caught:
        measure_on([device], results=path, resume=True)
    return str(caught.value), len(device.requests)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"label": NO_CLASS}, "index 7: a class or scores that are impossible for a model of 4"),
        (
            {"predicted": NO_CLASS},
            "index 7: a class or scores that are impossible for a model of 4",
        ),
        ({"label": 2}, "index 7: label 'class 2', but the point has label 'class 3'"),
        ({"predicted": 2}, "index 7: an answer that does not follow from its scores; delete"),
        ({"index": N}, f"line 9: index {N}, but this run's indices are 0 to {N - 1}"),
        ({"index": 3}, "line 9: it repeats index 3"),
    ],
)
def test_a_row_that_does_not_belong_is_refused_before_the_run(
    tmp_path: Path, change: dict[str, int], words: str
) -> None:
    path = tmp_path / "results.csv"
    error, requests = resumed(path, lambda row: replace(row, **change))
    assert words in error
    assert requests <= 1  # HELLO


def test_reading_ends_at_the_first_row_too_many(tmp_path: Path) -> None:
    path = tmp_path / "results.csv"
    resumed(path, lambda row: replace(row, label=2), n=N)
    run = path.read_text().rstrip().rpartition(",")[2]
    path.write_text(path.read_text() + f"{N},class 0,class 0,1,0,x,0,0,0,0,{run}\nno result\n")
    with refused_by("device.results"):
        read_results(path)


def test_a_row_with_more_points_is_of_another_run(tmp_path: Path) -> None:
    path = tmp_path / "results.csv"
    resumed(path, lambda row: replace(row, label=2))
    path.write_text(path.read_text().replace(f"-{N}\n", "-9000000\n"))
    with refused_by("device.results"):
        measure_on([HostileDevice(honest_model())], results=path, resume=True)
