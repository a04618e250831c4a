"""``protonn-edge report``: Write an HTML report of the results of 'hil'."""

from __future__ import annotations

import shlex
import webbrowser
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from protonn_edge.chips.boards import load_board
from protonn_edge.cli.command import OUTPUT, Command, Output, argument, command, option
from protonn_edge.cli.options import (
    FOLDER,
    PATH,
    POINTS_PATH,
    PROJECT_BOARD,
    power_draw,
    shape,
)
from protonn_edge.cli.paths import REPORT, OutputFile
from protonn_edge.cli.tables import READ_FLAGS, TABLE, points_for
from protonn_edge.codegen.export.folder import check_project
from protonn_edge.codegen.families import board_of
from protonn_edge.codegen.projects.folder import Project
from protonn_edge.data.naming import Notice
from protonn_edge.data.options import TableOptions
from protonn_edge.device.results import EMULATED, read_results
from protonn_edge.learn.evaluation.terminal import class_parts, fact_table
from protonn_edge.learn.parameters import IMAGE_SHAPE
from protonn_edge.model.file import load_model
from protonn_edge.model.model import Model
from protonn_edge.report import content
from protonn_edge.report.evidence import Evidence, evidence_facts
from protonn_edge.report.gathering import gather
from protonn_edge.system.errors import InputError
from protonn_edge.system.extensions import extensions
from protonn_edge.system.files import write_atomically
from protonn_edge.system.schema import JsonObject

_WORDS = f"{__name__}.words"  # in a context's meta: the command line as it was given


class _RememberingCommand(Command):
    """Keeps the words of the command line for the report."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        ctx.meta[_WORDS] = list(args)
        return super().parse_args(ctx, args)


@command(
    "report",
    _RememberingCommand,
    needs={READ_FLAGS: "--data"},
    examples=("results.csv --data test.csv --open",),
)
def report_command(
    results: Path = argument(PATH),
    model_path: Path | None = option(
        "The model that was run.  [default: the project's model]", PATH, flag="--model"
    ),
    data: Path | None = option(
        "The test points, to show mistakes and the cost of rounding.", POINTS_PATH
    ),
    folder: Path | None = option(
        "The folder that 'build' wrote.  [default: the folder of the results, the current folder, "
        "or a folder in one of them with the model that was run]",
        FOLDER,
        flag="--project",
    ),
    board_name: str | None = PROJECT_BOARD,
    image_shape: tuple[int, int] | None = option(
        "Show points as images of this size, such as 16x16.  [default: the model's image size]",
        shape(IMAGE_SHAPE.names, IMAGE_SHAPE.what),
    ),
    measured: tuple[Path, ...] = option(
        "Also show a JSON file that another command wrote, such as inspect --teach "
        "(docs/harness.md); repeatable.",
        PATH,
        flag="--with",
        multiple=True,
    ),
    watts: float | None = power_draw(
        "The measured power of the board, in W.  [default: the board's figure]"
    ),
    output: Path = option(
        "The report.", OutputFile(REPORT, dir_okay=False), shown=Path("report.html")
    ),
    open_it: bool = option("Open the report in the browser.", flag="--open", is_flag=True),
    table: TableOptions = TABLE,
    out: Output = OUTPUT,
) -> None:
    """Write a report on RESULTS, a file that 'hil' wrote, as one self-contained HTML file.

    The page can run the firmware on an emulated Uno. Project folders are read, but nothing in them
    is executed. If a folder lacks the compiled firmware, the firmware is compiled in a temporary
    folder, from the package's own sources.
    """
    board = None if board_name is None else load_board(board_name)
    readers = [_reader_of(path) for path in measured]
    if not results.is_file():
        raise InputError(f"{results} is not a file; name a results file that 'hil -o' wrote")
    projects = _projects(folder, results)
    board = board or board_of(project.folder for project in projects)
    if watts is not None:
        board = replace(board, power_watts=watts)
    models = _models(model_path, projects)
    given = {} if data is None else _given(models[0], data, table, out)
    with out.status("gathering"):
        one = gather(results, models, projects, board, image_shape=image_shape, **given)
    known_sha256 = one.reference.model_sha256
    if board_name is None and not any(each.has(known_sha256) for each in projects):
        out.notice(_assumed_board(one))
    sections = list[content.Section]()
    for path, (kind, read) in zip(measured, readers, strict=True):
        if kind == "power":
            one = replace(one, power=read(path, known_sha256))
        else:
            sections.append(read(path, known_sha256))
    out.say(f"{one.name}:", fact_table(evidence_facts(one)), *class_parts(one.quality))
    write_report(one, output, out, added=sections, command=_command())
    if open_it:
        show_report(output)
    out.finish({"report": str(output), **_run_record(one)})


def _reader_of(path: Path) -> tuple[str, Callable[[Path, str], Any]]:
    """Return the kind of a file of another command, and the function that reads it."""
    parts = [each for one in extensions() for each in one.report_parts()]
    readers = {each.key: each for each in parts if isinstance(each, content.ShownFile)}
    found = readers.keys() & content.keys_in(path)
    if not found:
        raise content.not_output(path, " or ".join(each.written_by for each in readers.values()))
    kind = min(found)
    return kind, readers[kind].read


def _run_record(one: Evidence) -> JsonObject:
    quality = one.quality and one.quality.to_json()
    figures = [each.to_json() for each in one.figures]
    measured = {**one.summary.to_json(), "quality": quality, **one.measured[1]}
    return {"results": one.name, **measured, "figures": figures}


def write_report(one: Evidence, output: Path, out: Output, **more: Any) -> None:
    """Write the report of a run, with more parameters of `render_page`; print its path."""
    # Half a second of imports that other commands save.
    from protonn_edge.report.page import render_page

    with out.status("drawing"):
        script = content.page_script()
        page = render_page(one, script, **more)
    write_atomically(output, page)
    if script.text is None:
        out.say(f"the page has no emulated Uno: {script.missing}")
    out.say(f"the report is {output}, {len(page.encode()) / 1000:,.0f} kB")


def show_report(path: Path) -> None:
    """Open a report in the user's browser."""
    webbrowser.open(path.resolve().as_uri())


def _given(model: Model, data: Path, table: TableOptions, out: Output) -> JsonObject:
    """Return the arguments of `gather` that follow from the points in DATA."""
    points = points_for(model, data, table, out, labels="optional")
    columns = points.columns
    if not model.feature_names:  # as the page names features
        columns = tuple(
            each if each.feature is None else replace(each, name=f"feature {each.feature}")
            for each in columns
        )
    return {
        "data": points.labelled,
        "rows": points.rows.tolist(),
        "values": points.values,
        "groups": points.groups,
        "columns": [column.feature_name for column in columns],
        "data_name": data.name + (", on which the model was trained" * points.trained_on),
    }


def _assumed_board(one: Evidence) -> list[Notice]:
    """Return what to notice about results of boards that no project of the model names."""
    ports = {each.device for each in one.answered if not each.device.startswith(EMULATED)}
    text = (
        f"times and energy are those of the board {one.board.name}, because no folder has the "
        "project that was measured; give --board NAME if it was another board"
    )
    return [Notice("board", text, warning=True)] if ports else []


def _projects(folder: Path | None, results: Path) -> list[Project]:
    if folder is None:
        near = [*dict.fromkeys((results.parent, Path()))]
        built = [project for project in map(Project, near) if project.built]
        measured = read_results(results).origin
        if measured is None or any(each.has(measured.model) for each in built):
            return built
        below = sorted(inside for place in near for inside in _folders_in(place))
        return [each for each in map(Project, below) if each.has(measured.model)] or built
    project = Project(folder)
    if not project.built:
        check_project(folder)
        project.model()  # the error of an empty folder
    return [project]


def _folders_in(place: Path) -> list[Path]:
    """Return the folders in a place, none if it cannot be read."""
    try:
        return [inside for inside in place.iterdir() if inside.is_dir()]
    except PermissionError:
        return []


def _models(path: Path | None, projects: Sequence[Project]) -> list[Model]:
    if path is not None:
        return [load_model(path)]
    models = [project.model() for project in projects]
    if not models:
        raise InputError(
            "there is no built project next to the results, in the current folder, or in a folder "
            "in one of them; use --model to name the model that was run"
        )
    return models


def _command() -> str:
    """Return the command line that was given; of a path only the name.

    Without --json, which changes nothing of the page.
    """
    words = [word for word in click.get_current_context().meta[_WORDS] if word != "--json"]
    return shlex.join(["protonn-edge", "report", *(Path(word).name or word for word in words)])
