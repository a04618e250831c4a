"""``protonn-edge verify``: Check that NumPy, C and the board agree, and what a build proves."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import asdict, dataclass
from pathlib import Path

import click
import numpy as np
from numpy.typing import NDArray
from rich.table import Table

from protonn_edge.chips.boards import Board, load_board
from protonn_edge.cli.command import OUTPUT, Output, additions, argument, command, option
from protonn_edge.cli.devices import EMULATOR, chosen_emulator
from protonn_edge.cli.firmware_additions import BuildChecks, extensions_of, the_one
from protonn_edge.cli.hil import say_agreement, say_unproven
from protonn_edge.cli.options import (
    BOARD,
    FOLDER,
    PATH,
    POINTS_PATH,
)
from protonn_edge.cli.tables import READ_FLAGS, TABLE, points_for
from protonn_edge.cli.train_options import was_given
from protonn_edge.codegen.export.folder import check_project
from protonn_edge.codegen.families import read_program
from protonn_edge.codegen.plan import DevicePlan
from protonn_edge.codegen.projects.folder import Project
from protonn_edge.codegen.projects.project import trial_build
from protonn_edge.codegen.verification import agreement as compared
from protonn_edge.data.options import TableOptions
from protonn_edge.learn.evaluation.accuracy import is_labelled, share_right
from protonn_edge.learn.evaluation.figures import accuracy_figure, saturation_figure
from protonn_edge.learn.evaluation.terminal import row_table
from protonn_edge.model.device_model import DeviceModel, load_device_model
from protonn_edge.model.integer_chain import IntegerChain
from protonn_edge.model.model import why_clamped
from protonn_edge.system import shell
from protonn_edge.system.errors import InputError, unneeded
from protonn_edge.system.extensions import AddedOptions
from protonn_edge.system.schema import JsonObject


@command(
    "verify",
    needs={"--project": "--port", f"--port --emulator {READ_FLAGS}": "data"},
    examples=("model.npz test.csv",),
)
def verify_command(
    path: Path = argument(PATH),
    data: Path | None = argument(POINTS_PATH, metavar="[DATA]", required=False),
    board_name: str = BOARD,
    port: str | None = option(
        "Port of a board that runs this model's firmware, for example /dev/ttyACM0."
    ),
    folder: Path | None = option(
        "The project folder of the firmware at --port, whose machine code gives the range of "
        "possible cycles.  [default: the current folder, if it has this model]",
        FOLDER,
        flag="--project",
    ),
    emulator: str | None = EMULATOR,
    added: list[AddedOptions] = additions("verify"),
    table: TableOptions = TABLE,
    out: Output = OUTPUT,
) -> None:
    """Check PATH: a model with the points of DATA, or a build.

    Of a model, the scores of NumPy, host C, the emulated board and, with --port, a real one are
    compared.

    Without DATA, PATH is a project that 'build' wrote, an exported library, or any ELF file. Its
    claims are listed: each is proven, measured on some points, or not checked. If a claim is false,
    the command fails, and no certificate is written.

    If DATA is the ELF file of a sketch that passes an array to pnn_predict of the model's library,
    this function is proven to compute the model for every input, or the reason is named.

    The points are the test part of DATA; if there is none, the points that training held out from
    DATA; otherwise, all points. Any difference in the scores is a failure.
    """
    checks = the_one(added, BuildChecks)
    if data is None or data.suffix.lower() == ".elf":
        _certify(checks, out, path, data, board_name)
        return
    if was_given("entry"):
        raise unneeded("--entry", f"does not apply to {data}, which has points")
    board, names = load_board(board_name), extensions_of(added)
    compiled = load_device_model(path, names)
    model, reference = compiled.floats, compiled.chain
    points = points_for(model, data, table, out, labels="optional")
    X, y = points.labelled
    Q = reference.quantize(X)

    emulator = _emulator(out, emulator, board)
    device = _Device(out, board, compiled, Q)
    possible_at_port = None
    if port is not None:
        with compared.open_session(port, reference, board):
            pass  # fail at once if the board is missing or has another model
        possible_at_port = _possible_at_port(folder, reference, board, out)
    with out.status("host C"):
        agreements = [compared.verify_host(reference, Q)]
    if emulator is not None:
        agreements.append(device.emulated(emulator))
    if port is not None:
        agreements.append(device.at(port, port, possible_at_port))

    if compared.disagreement(agreements) is not None:
        out.say("scores against the NumPy model:", _table(agreements))
    say_agreement(agreements, out)
    claims = [] if checks is None else checks.point_claims(reference, X, Q)
    for claim in claims[1:]:
        out.say(f"{claim.standing}: {claim.statement}")
    saturations = reference.quantizer.saturations(X)
    if saturations:
        out.say(str(saturation_figure(saturations, X.size, why_clamped(model))))
    out.finish(
        {
            "n": len(Q),
            "mismatches": sum(agreement.mismatches for agreement in agreements),
            "lost": sum(agreement.lost for agreement in agreements),
            "cycles_out_of_range": sum(each.cycles_out_of_range for each in agreements),
            "saturations": saturations,
            "claims": [asdict(claim) for claim in claims],
            "executions": [asdict(agreement) for agreement in agreements],
            "model_sha256": reference.model_sha256,
            **_accuracy(reference.predict(Q), y),
            **reference.policy.measured(reference.scores(Q), points.values, points.groups)[1],
        },
        failure=compared.disagreement(agreements),
    )


verify_command.asks_always = True  # what proves builds


def _accuracy(answers: NDArray[np.int64], y: NDArray[np.int64]) -> JsonObject:
    """Return the accuracy and its interval; None without labels."""
    if not is_labelled(y):
        return {"accuracy": None, "accuracy_interval": None}
    figure = accuracy_figure(share_right(answers, y), len(y))
    return {"accuracy": figure.value, "accuracy_interval": figure.interval}


def _certify(
    checks: BuildChecks | None,
    out: Output,
    path: Path,
    elf: Path | None,
    board_name: str,
) -> None:
    """Print what is proven of a build, or of a sketch with a model's library."""
    if elf is None and path.suffix == ".npz":
        raise click.UsageError("name DATA, too: the points to compare scores on")
    if checks is None:
        raise InputError("no extension that proves builds is installed; name DATA, too")
    if elf is None:
        checks.certify(out, path, board_name)
    else:
        checks.certify_sketch(out, elf, path, board_name)


def _emulator(out: Output, name: str | None, board: Board) -> str | None:
    """Return the emulator of the board; None if there is none and it was not requested."""
    try:
        return chosen_emulator(out, name, board)
    except InputError as error:
        if name is not None or shell.LINUX:
            raise
        out.say(f"no board is emulated: {error}")
        return None


@dataclass(frozen=True, eq=False)
class _Device:
    """The inputs of a comparison with a device."""

    out: Output
    board: Board
    model: DeviceModel
    Q: NDArray[np.uint8]

    def at(
        self, name: str, url: str, possible: compared.PossibleCycles | None
    ) -> compared.Agreement:
        """Compare the firmware at a line with NumPy."""
        with self.out.progress(name, len(self.Q)) as bar:
            agreement, _ = compared.verify_device(
                name,
                url,
                self.model.chain,
                self.Q,
                sink=lambda _: bar.advance(),
                board=self.board,
                possible=possible,
            )
        return agreement

    def emulated(self, emulator: str) -> compared.Agreement:
        """Compare firmware that is built now with NumPy on the emulated board."""
        board = self.board
        with ExitStack() as stack:
            with self.out.status(f"building for {board.name}"):
                trial = stack.enter_context(trial_build(self.model, board))
            emulated = compared.watched_board(trial.program, trial.plan, board, emulator)
            url = stack.enter_context(emulated).url
            agreement = self.at(f"emulated {board.name}", url, trial.possible)
            say_unproven(trial.possible, self.out)
            return agreement


def _possible_at_port(
    folder: Path | None, reference: IntegerChain, board: Board, out: Output
) -> compared.PossibleCycles | None:
    """Return the possible cycles of a prediction; None if cycles are not counted."""
    project = Project(folder or Path())
    if folder is not None or (project.built and project.is_of(reference)):
        plan = _plan_of(project, reference)
        linked = project.linked(board)
        if linked is not None:
            return compared.PossibleCycles.of_program(read_program(linked, board), plan, board)
    out.say(
        "the machine code of the firmware at --port is unknown, so any number of cycles is "
        "accepted; use --project to name the folder that 'build' wrote"
    )
    return compared.PossibleCycles.by_clock(board)


def _plan_of(project: Project, reference: IntegerChain) -> DevicePlan:
    """Return the plan of a project's firmware, which must have this model."""
    check_project(project.folder)
    built, plan = project.generated()
    if built.model_sha256 != reference.model_sha256:
        raise InputError(
            f"--project is {project.folder}, whose firmware has the model "
            f"{built.model_sha256[:16]}, but MODEL is {reference.model_sha256[:16]}; choose "
            "another folder, or omit --project"
        )
    return plan


def _table(agreements: list[compared.Agreement]) -> Table:
    headings = ("execution", "points", "mismatches", "unanswered", "first mismatch")
    rows = [
        (
            one.execution,
            *(f"{n:,}" for n in (one.n, one.mismatches, one.lost)),
            str(one.first or "-"),
        )
        for one in agreements
    ]
    return row_table(headings, rows, {0, 4})
