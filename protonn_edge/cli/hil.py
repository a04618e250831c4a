"""``protonn-edge hil``: Measure accuracy, time and energy on a board."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import click

from protonn_edge.chips.boards import UNKNOWN, Board, load_board
from protonn_edge.cli.command import OUTPUT, Output, command, option
from protonn_edge.cli.devices import (
    EMULATOR,
    about_edited_files,
    about_newer_models,
    chosen_emulator,
)
from protonn_edge.cli.options import (
    PATH,
    POINTS,
    PROJECT,
    PROJECT_BOARD,
    FiniteRange,
    Qualified,
    board_words,
    power_draw,
)
from protonn_edge.cli.paths import RESULTS, OutputFile
from protonn_edge.cli.tables import TABLE, points_for, words_of
from protonn_edge.codegen.export.folder import check_project
from protonn_edge.codegen.families import board_of
from protonn_edge.codegen.projects.folder import Project
from protonn_edge.codegen.verification.agreement import (
    Agreement,
    PossibleCycles,
    disagreement,
    outcome,
)
from protonn_edge.data.naming import Notice
from protonn_edge.data.options import TableOptions
from protonn_edge.device.instruments import NONE, instrument_of
from protonn_edge.device.protocol import MOST_REPETITIONS
from protonn_edge.device.results import check_finished
from protonn_edge.learn.evaluation import terminal
from protonn_edge.learn.evaluation.figures import budget_fact, saturation_figure
from protonn_edge.learn.evaluation.measurement import Measurement, measure
from protonn_edge.model.device_model import load_device_model
from protonn_edge.model.integer_chain import IntegerChain
from protonn_edge.model.model import Model, why_clamped
from protonn_edge.model.policy import about_answers
from protonn_edge.system.errors import Interrupted, counted
from protonn_edge.system.figures import facts_of
from protonn_edge.system.shell import command_line


@command(
    "hil",
    needs={"--meter --model": "--port", "--resume": "-o"},
    apart={"--port": "--emulate --emulator", "--model": "--project"},
    examples=("test.csv --emulate -o results.csv", "test.csv --port /dev/ttyACM0 -o results.csv"),
)
def hil_command(
    data: Path = POINTS,
    ports: tuple[str, ...] = option(
        "The board's serial port, such as /dev/ttyACM0; repeat the option for several boards, "
        "which share the points.",
        flag="--port",
        multiple=True,
    ),
    emulate: bool = option(
        "Run the firmware on the emulated board; the default without --port.", is_flag=True
    ),
    emulator: str | None = EMULATOR,
    board_name: str | None = PROJECT_BOARD,
    folder: Path = PROJECT,
    model_file: Path | None = option(
        "The model of a library whose sketch Measure runs on the board; no project is needed, and "
        "without --board, the board states its clock.",
        PATH,
        flag="--model",
    ),
    output: Path | None = option(
        "The results file, with one CSV line per point; the file of a stopped run is not "
        "overwritten, but can be continued with --resume.",
        OutputFile(RESULTS, dir_okay=False),
    ),
    resume: bool = option(
        "Continue with the points that are not yet in the results file.", is_flag=True
    ),
    watts: float | None = power_draw(
        "Measured power draw of the board, in W.  [default: the board's figure]"
    ),
    repeat: int | None = option(
        "For an external meter: at the end, set the busy pin (pin 8 on an Uno) high, and classify "
        "the first point this many times.",
        click.IntRange(1, MOST_REPETITIONS),
    ),
    meter: tuple[str, dict[str, float]] = option(
        "A power meter in the supply of the first board: ppk2:PORT, ina219:PORT, or 'none' for no "
        "meter, with the voltage of the supply if the meter does not measure it; connect the "
        "meter's trigger to the board's busy pin.  [default: none]",
        Qualified(click.STRING, "METER", volts=FiniteRange(0.1, 60)),
        default=(NONE, {}),
    ),
    table: TableOptions = TABLE,
    out: Output = OUTPUT,
) -> None:
    """Classify the test points of DATA on a device and measure accuracy, latency and energy.

    Without labels, there is no accuracy.

    The device is the board at --port or, without --port, the emulated board; it runs the firmware
    that 'build' made in this folder. Several boards share the points; if one is lost, the others
    take over its points.
    """
    if len(set(ports)) < len(ports):
        raise click.UsageError("the same --port is given twice; name each board once")
    if output is not None and not resume:
        check_finished(output)
    instrument = instrument_of(meter[0], meter[1].get("volts"))
    if model_file is None:
        board = board_of([folder]) if board_name is None else load_board(board_name)
        project, model = _project_in(folder, board, out)
    else:
        board = UNKNOWN if board_name is None else load_board(board_name)
        device_model = load_device_model(model_file)
        project, model = device_model.chain, device_model.floats
    board_name = board_name or board.name
    if watts is not None:
        board = replace(board, power_watts=watts)
    given = points_for(model, data, table, out, labels="optional")
    points = given.labelled
    if emulate or not ports:
        emulator = chosen_emulator(out, emulator, board)
    with out.progress(", ".join(ports) or f"emulated {board.name}", len(points[1])) as bar:
        try:
            measurement = measure(
                project,
                points,
                board,
                ports=ports,
                results=output,
                resume=resume,
                repeat=repeat,
                instrument=instrument,
                emulator=emulator,
                on_result=lambda _: bar.advance(),
                rows=given.rows.tolist(),
                values=given.values,
                groups=given.groups,
            )
        except KeyboardInterrupt:
            raise _interrupted(bar.done, output) from None
    out.notice(_troubles(measurement))
    show(measurement, out, model)
    say_agreement([measurement.agreement], out)
    if measurement.summary.counts == "cycles":
        say_unproven(measurement.possible, out)
    is_known = measurement.summary.labelled or given.values is not None
    if output is not None and is_known and model_file is None:
        out.say("write a report:", f"  {_report_line(output, folder, data, board_name, table)}")
    out.finish(measurement.to_json(), measurement.failure)


def _project_in(folder: Path, board: Board, out: Output) -> tuple[Project | IntegerChain, Model]:
    """Return the project in a folder, and its model; print notices of what is not as built."""
    check_project(folder)
    project = Project(folder)
    model = project.model()
    out.notice(about_newer_models(folder))
    out.notice(about_edited_files(folder, board))
    return project, model


def _interrupted(done: int, output: Path | None) -> Interrupted:
    kept = "; give -o FILE to save results"
    if output is not None:
        kept = (
            "; continue with --resume" if output.exists() else "; repeat the command to start again"
        )
    return Interrupted(f"stopped after {done:,} new points{kept}")


def _report_line(
    output: Path, folder: Path, data: Path, board_name: str, table: TableOptions
) -> str:
    words = ["report", str(output), "--project", str(folder), "--data", str(data)]
    words += [*board_words(board_name), *words_of(table)]
    return command_line(["protonn-edge", *words])


def _troubles(measurement: Measurement) -> Iterator[Notice]:
    for share in measurement.shares:
        if share.troubles:
            text = f"{share.device}: {', '.join(share.troubles)}; check the cable and power supply"
            yield Notice("device", text, warning=True)


def show(measurement: Measurement, out: Output, model: Model) -> None:
    """Print a measurement."""
    board, classes = measurement.board, measurement.reference.classes
    quality = measurement.quality
    values = measurement.summary.n * measurement.reference.n_features
    clamped = saturation_figure(measurement.saturations, values, why_clamped(model))
    facts = facts_of([*measurement.figures, clamped])
    if measurement.usage is not None:
        facts.append(budget_fact(board))
    facts += about_answers(measurement.reference.policy)
    if measurement.repetition is not None:
        repeated = measurement.repetition
        facts.append(
            terminal.repetition_fact(repeated.n, repeated.cycles, board, measurement.summary.counts)
        )
        if repeated.power is not None:
            facts += repeated.power.facts(measurement.latency_ms.mean)
    out.say(f"measured on {measurement.agreement.execution}:", terminal.fact_table(facts))
    for name, each in measurement.more.items():
        if each is not None:
            out.say(f"{name.replace('_', ' ')}: {each}")
    if measurement.comparison is not None:
        same = measurement.comparison
        out.say("each board's share:", terminal.device_table(measurement.shares))
        out.say(
            f"of {same.n} points that all boards classified, {same.answers_differ} got different "
            f"answers and {same.cycles_differ} took different numbers of cycles"
        )
    if measurement.summary.labelled:
        confusions = terminal.confusion_parts(measurement.confusion, classes)
        out.say(*confusions, *terminal.class_parts(quality))


def say_unproven(possible: PossibleCycles, out: Output) -> None:
    """Print a note if there is no proven bound on the cycles."""
    if not possible.proven:
        out.say(
            "this build has no proven bound, so the cycles are only checked against the range "
            f"{possible}"
        )


def say_agreement(agreements: Sequence[Agreement], out: Output) -> None:
    """Print which executions gave the same scores, if all did."""
    if disagreement(agreements) is None:
        out.say(f"equal on {counted(agreements[0].n, 'point')}: {outcome(agreements)}")
