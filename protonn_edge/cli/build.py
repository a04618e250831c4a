"""``protonn-edge build``: Build a model's firmware and check that it fits the board."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import click

from protonn_edge.chips.boards import Board, load_board
from protonn_edge.cli import options
from protonn_edge.cli.command import OUTPUT, Output, additions, command, option
from protonn_edge.cli.firmware_additions import SensorFirmware, extensions_of, the_one
from protonn_edge.cli.paths import there
from protonn_edge.cli.tables import READ_FLAGS, TABLE, points_for
from protonn_edge.cli.trying import refused_wrong_answers, say_tried
from protonn_edge.cli.upload import upload, upload_line
from protonn_edge.codegen.export.folder import LIVE, LOGGER, written_in
from protonn_edge.codegen.families import family_of
from protonn_edge.codegen.projects.built import built_text
from protonn_edge.codegen.projects.checks import OverBudget, usage_record
from protonn_edge.codegen.projects.folder import BUILT_FILE, GENERATED, check_folder
from protonn_edge.codegen.projects.project import Build, BuildOptions, build
from protonn_edge.codegen.verification.tryout import NOT_TRIED, Tried
from protonn_edge.data.options import TableOptions
from protonn_edge.learn.evaluation.comparison import Comparison
from protonn_edge.learn.evaluation.figures import bound_figures
from protonn_edge.learn.evaluation.terminal import (
    budget_facts,
    fact_table,
    plan_table,
    stage_parts,
)
from protonn_edge.model.device_model import load_device_model
from protonn_edge.model.head import Remedies
from protonn_edge.system.errors import CheckFailed, DoesNotFit, InputError, counted
from protonn_edge.system.extensions import AddedOptions
from protonn_edge.system.figures import facts_of, percent
from protonn_edge.system.files import write_atomically
from protonn_edge.system.schema import JsonObject
from protonn_edge.system.shell import command_line


@command(
    "build",
    needs={
        f"--max-drop {READ_FLAGS}": "--data",
        "--port": "--upload",
        "--data --max-flash --max-sram": "model_file",
    },
    examples=(
        "model.npz",
        "model.npz --board nano --max-sram 400 --data test.csv --max-drop 0.5",
    ),
)
def build_command(
    model_file: Path | None = options.MODEL_OR_NONE,
    board_name: str = options.BOARD,
    output: Path | None = option(
        "The project's folder; missing files are created.  [default: the current folder; with "
        "--sensor, the folder 'live' or, without MODEL, 'logger']",
        options.FOLDER,
    ),
    data: Path | None = option(
        "Labelled points for comparing float and integer accuracy.", options.POINTS_PATH
    ),
    max_drop: float | None = option(
        "Fail if quantization loses more than this many percentage points of accuracy; needs "
        "--data.",
        options.FiniteRange(0, 100),
    ),
    max_flash: int | None = option(
        "Flash limit for the whole firmware, such as 8kB.  [default: the board's]", options.BYTES
    ),
    max_sram: int | None = option(
        "SRAM limit for the whole firmware, including the stack.  [default: the board's]",
        options.BYTES,
    ),
    added: list[AddedOptions] = additions("build"),
    tries: bool = options.TRY,
    uploads: bool = options.UPLOAD,
    port: str | None = options.PORT,
    table: TableOptions = TABLE,
    out: Output = OUTPUT,
) -> None:
    """Build the firmware of MODEL and check that it fits the board.

    The firmware is written only if, on the emulated board, it gives the same scores as NumPy for a
    few points. Upload it with 'upload', or with 'pio run -t upload' in the project's folder. With
    --sensor, the board reads a sensor and classifies its samples, and 'monitor' shows the answers;
    without MODEL, the board sends the samples to 'record': a timer starts each sample, and numbered
    frames with checksums let no loss go undetected.
    """
    board, live = load_board(board_name), the_one(added, SensorFirmware)
    if model_file is None:
        if live is None or not live.is_given:
            raise click.UsageError("name a model file or, to record samples, give --sensor")
        _check_sensors(board)
        done, output = live.write_logger(out, board_name, output, as_sketch=False)
        out.finish(done | _uploaded(out, output, board, uploads, port))
        return
    names = extensions_of(added)
    family_of(board).check_extensions(names, board)
    source = load_device_model(model_file, names)
    if live is not None and live.is_given:
        _check_sensors(board)
        done, output, line = live.build(out, source, board, output, tries=tries)
        out.finish(done | _uploaded(out, output, board, uploads, port, line))
        return
    output = output or Path()
    _check_kind(output)
    check_folder(output, board)
    record = {
        "board": board.name,
        "model_bytes": source.chain.model_bytes,
        "model_sha256": source.chain.model_sha256,
    }
    facts = list[tuple[str, str]]()
    if data is not None:
        points = points_for(source.floats, data, table, out)
        compared = Comparison.of(source, *points.labelled)
        facts = compared.facts()
        record |= compared.to_json()
        if compared.losses:
            without = source.floats.policy.without_words
            out.say(*stage_parts(compared.losses, compared.n, without=without))
        _check_drop(out, record, max_drop, source.floats.head.remedies)
    settings = BuildOptions(max_flash, max_sram, tries=tries)
    try:
        with refused_wrong_answers(out, record), out.status(f"building for {board.name}"):
            built = build(source, board, output, settings)
    except OverBudget as failure:
        out.finish(record | failure.usage.to_json(settings.within(board)), failure)
    except DoesNotFit as failure:  # seen before anything was linked
        out.finish(record | {"fits": False}, failure)
    record |= usage_record(built.usage, settings.within(board)) | _shown(out, built, board, facts)
    write_atomically(output / GENERATED / BUILT_FILE, built_text(record))
    line = _hil_line(output, board_name, data) if _is_emulated(built.tried, board) else ""
    out.finish(record | _uploaded(out, output, board, uploads, port, line))


def _shown(out: Output, built: Build, board: Board, facts: list[tuple[str, str]]) -> JsonObject:
    """Print the build, and return it for the JSON object."""
    facts += [] if built.usage is None else budget_facts(built.usage, board)
    facts += facts_of(bound_figures(built.possible, board))
    if facts:
        out.say(f"firmware for {board.name}:", fact_table(facts))
    if built.plan.steps:
        out.say("plan of the firmware:", plan_table(built.plan))
    say_tried(out, built.tried)
    return {
        "plan": built.plan.to_json(),
        "cycles": built.possible.to_json(board),
        "tried": built.tried.to_json(),
    }


def _uploaded(
    out: Output,
    folder: Path,
    board: Board,
    uploads: bool,
    port: str | None,
    emulated: str = "",
) -> JsonObject:
    """Print where the firmware is; upload it if requested, else print how to, or to emulate it."""
    written = written_in(folder)
    is_whole = written.kind in (LIVE, LOGGER)  # with all that its list names
    out.say(_wrote(folder, written.digests if is_whole else family_of(board).written))
    if uploads:
        return {"upload": upload(out, folder, port, board.environment)}
    connected = family_of(board).connected(board)
    out.say(
        f"next, with the board connected {connected}:",
        f"  {upload_line(folder, board.environment)}",
    )
    if emulated:
        out.say("or, on an emulated board:", f"  {emulated}")
    return {}


def _wrote(folder: Path, names: Iterable[str]) -> str:
    """Return a sentence with the place of a build's files and folders, named with ``/``."""
    parts = []
    for part in sorted({name.partition("/")[0] for name in names}):
        n = sum(each.is_file() for each in (folder / part).rglob("*"))
        parts.append(f"{part}/ ({counted(n, 'file')})" if (folder / part).is_dir() else part)
    where = "the current folder (choose another with -o)" if folder == Path() else str(folder)
    return f"wrote {', '.join(parts)} into {where}"


def _hil_line(folder: Path, board_name: str, data: Path | None) -> str:
    """Return the command that measures a project's firmware on an emulated board."""
    words = [] if folder == Path() else ["--project", str(folder)]
    words += ["--emulate", *options.board_words(board_name)]
    points = str(data) if data is not None else there("test.csv", "DATA")
    return command_line(["protonn-edge", "hil", points, *words])


def _is_emulated(tried: Tried, board: Board) -> bool:
    """Return whether a board can be emulated here, by the trial or, without one, by its chip."""
    if tried != NOT_TRIED:
        return not tried.left_out
    try:
        family_of(board).find_emulator(None, board)
    except InputError:
        return False
    return True


def _check_sensors(board: Board) -> None:
    if not family_of(board).sensors:
        raise InputError(
            f"there is no firmware for {board.name} that reads a sensor yet; use 'protonn-edge "
            f"export MODEL --arduino FOLDER --board {board.name}', whose sketches take the "
            "values of your sensor"
        )


def _check_kind(folder: Path) -> None:
    kind = written_in(folder).kind
    if kind in (LOGGER, LIVE):
        raise InputError(
            f"{folder} contains {kind}, which 'build' does not replace; remove this folder, or "
            "choose another one with -o"
        )


def _check_drop(
    out: Output, record: JsonObject, max_drop: float | None, remedies: Remedies
) -> None:
    """Fail if the build is less accurate than the float model by more percentage points."""
    in_float, in_built = record["float_accuracy"], record["accuracy"]
    if max_drop is not None and 100 * (in_float - in_built) > max_drop:
        failure = CheckFailed(
            f"the integer model loses {100 * (in_float - in_built):.2f} percentage points of "
            f"accuracy ({percent(in_float)} to {percent(in_built)}), but --max-drop allows "
            f"only {max_drop:g}; train with {remedies.accuracy}"
        )
        out.finish(record, failure)
