"""``protonn-edge export``: Export a model as an Arduino or PlatformIO library, or as C."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from protonn_edge.chips.boards import Board, load_export_board
from protonn_edge.cli.command import OUTPUT, Output, additions, command, option
from protonn_edge.cli.firmware_additions import OtherExport, SensorFirmware, extensions_of, the_one
from protonn_edge.cli.options import (
    ANY_BOARD,
    BYTES,
    MODEL_OR_NONE,
    PATH,
    POINTS_PATH,
    TRY,
    named_values,
)
from protonn_edge.cli.paths import there
from protonn_edge.cli.tables import READ_FLAGS, TABLE, points_for
from protonn_edge.cli.trying import refused_wrong_answers, say_tried
from protonn_edge.codegen.export import Export, Imprint, Kind, check_place, export, is_archive
from protonn_edge.codegen.plan import check_parts
from protonn_edge.codegen.renderer import check_prefix
from protonn_edge.data.options import TableOptions
from protonn_edge.learn.evaluation.terminal import fact_table
from protonn_edge.model.device_model import DeviceModel, load_device_model
from protonn_edge.system.extensions import AddedOptions
from protonn_edge.system.shell import command_line

if TYPE_CHECKING:
    from rich.table import Table


_NEXT: dict[Kind, str] = {
    "arduino": "put the folder into 'libraries' in your sketchbook, and run examples/SelfTest",
    "platformio": "put the folder into 'lib' in your project, and run examples/BareSelfTest",
    "c": "run 'make test' in the folder",
}
_MEASURE = {
    "Measure.ino": "upload examples/Measure",
    "measure.h": "call the function of measure/measure.h in your program",
}
_ADD_ARCHIVE = (
    "in the Arduino IDE, choose 'Sketch > Include Library > Add .ZIP Library', and run the "
    "example SelfTest of the library"
)


@command(
    "export",
    needs={
        READ_FLAGS: "--data",
        "--platformio --c --data --max-flash --max-sram": "model_file",
    },
    apart={"--arduino": "--platformio --c", "--platformio": "--c"},
    examples=(
        "model.npz --arduino digits",
        "model.npz --c digits --data test.csv",
    ),
)
def export_command(
    model_file: Path | None = MODEL_OR_NONE,
    arduino: Path | None = option(
        "Write an Arduino library into this folder, or into a file FOLDER.zip, which the Arduino "
        "IDE can add.",
        PATH,
        metavar="FOLDER",
    ),
    platformio: Path | None = option(
        "Write a PlatformIO library into this folder.", PATH, metavar="FOLDER"
    ),
    c: Path | None = option("Write plain C99 into this folder.", PATH, metavar="FOLDER"),
    data: Path | None = option(
        "Points to choose the 20 test vectors from.  [default: points generated from the model]",
        POINTS_PATH,
    ),
    library: dict[str, str] = named_values(
        "name, author, url (of its web page) or version (such as 1.0.0) of the library, or the "
        "prefix of its C names and files, by which several models in a program must differ; "
        "repeatable.  [default: the folder's name and, except with --arduino, a prefix made of it; "
        "protonn-edge's version]",
        **dict.fromkeys(("name", "author", "url", "version", "prefix"), click.STRING),
    ),
    board_name: str = ANY_BOARD,
    max_flash: int | None = option(
        "Flash limit for the self-test; smaller values leave more for your sketch.  [default: the "
        "board's]",
        BYTES,
    ),
    max_sram: int | None = option(
        "SRAM limit for a sketch with the model, including the stack.  [default: the board's]",
        BYTES,
    ),
    added: list[AddedOptions] = additions("export"),
    tries: bool = TRY,
    table: TableOptions = TABLE,
    out: Output = OUTPUT,
) -> None:
    """Write MODEL as a library for the Arduino IDE or PlatformIO, or as plain C.

    Each export has a self-test: 20 test vectors with the scores that the integer model computes for
    them. Before anything is written, a library must pass its self-test on the emulated board,
    compiled as the Arduino IDE compiles it; plain C must pass it on this computer. An earlier
    export in the folder is replaced; a folder with other files is refused. With --sensor, the
    library also has the sketch Live, which reads a sensor and classifies its samples;
    without MODEL, --arduino writes a sketch that sends the samples of the sensor to 'record'.
    """
    others = [each for each in added if isinstance(each, OtherExport)]
    other = next((each for each in others if each.is_given), None)
    live = the_one(added, SensorFirmware)
    if other is None:
        kind, folder = _place({"arduino": arduino, "platformio": platformio, "c": c}, others)
        if model_file is None:
            logger = _logger(live, folder)
            out.finish(logger.write_logger(out, board_name, folder, as_sketch=True)[0])
            return
        check_place(folder)
    name, prefix = library.pop("name", None), library.pop("prefix", None)
    if prefix is not None:
        check_prefix(prefix)
    imprint = Imprint(**library)
    board = load_export_board(board_name)
    exported = None if model_file is None else _loaded(model_file, added, board)
    points = None
    if data is not None and exported is not None:
        points = points_for(exported.floats, data, table, out, measured=False).X
    if other is not None:
        other.write(out, exported, points, tries=tries)
        return
    assert exported is not None
    windowing = None if live is None else live.windowing(exported.floats, board)
    out.notice(() if windowing is None else windowing.notices)
    with refused_wrong_answers(out, {"kind": kind, "folder": str(folder)}):
        done = export(
            exported,
            kind,
            folder,
            board,
            name=name,
            points=points,
            flash_bytes=max_flash,
            sram_bytes=max_sram,
            prefix=prefix,
            windowing=windowing,
            imprint=imprint,
            tries=tries,
        )
    out.say(f"{done.name} in {folder}:", _facts(done, board))
    say_tried(out, done.tried)
    out.say(f"next: {_next(kind, folder, done.files)}; it prints PASS")
    out.say(*_to_measure(done.files, model_file, data))
    made = {"kind": kind, "folder": str(folder), "files": list(done.files)}
    facts = ("name", "prefix", "vectors", "flash_bytes", "sram_bytes", "model_sha256")
    written = {name: getattr(done, name) for name in facts}
    ended = {"plan": done.plan.to_json(), "tried": done.tried.to_json()}
    out.finish({**made, **written, **ended})


def _place(folders: Mapping[Kind, Path | None], others: Sequence[OtherExport]) -> tuple[Kind, Path]:
    """Return the kind of export that was chosen, and its folder."""
    given = [(kind, folder) for kind, folder in folders.items() if folder is not None]
    if not given:
        more = "".join(f", or {each.OF_MODEL}" for each in others if each.OF_MODEL)
        raise click.UsageError(f"give --arduino, --platformio or --c, with a folder{more}")
    return given[0]


def _logger(live: SensorFirmware | None, folder: Path) -> SensorFirmware:
    """Return the sensor that a sketch sends the samples of."""
    if live is None or not live.is_given:
        raise click.UsageError("name a model file or, to record samples, give --sensor")
    if is_archive(folder):
        raise click.UsageError(f"{folder}: a sketch is a folder; omit .zip")
    return live


def _loaded(path: Path, added: Sequence[AddedOptions], board: Board) -> DeviceModel:
    names = extensions_of(added)
    if board.cpu.in_words:
        check_parts(names, board.cpu)
    return load_device_model(path, names)


def _facts(done: Export, board: Board) -> Table:
    facts = [
        ("files", f"{len(done.files)}"),
        ("C names begin with", f"{done.prefix}_"),
        ("test vectors", f"{done.vectors}"),
        ("kernel", done.plan.kernel),
        ("flash of a sketch", _of_memory(done.plan.flash_bytes, board.flash_bytes, board)),
        ("flash of SelfTest", _of_memory(done.flash_bytes, board.flash_bytes, board)),
        ("SRAM of a sketch", _of_memory(done.sram_bytes, board.sram_bytes, board)),
    ]
    return fact_table(facts)


def _next(kind: Kind, folder: Path, files: Sequence[str]) -> str:
    """Return how to run the self-test; the one without a framework is only for AVR chips."""
    if kind == "arduino" and is_archive(folder):
        return _ADD_ARCHIVE
    bare = any("BareSelfTest" in name for name in files)
    steps = _NEXT[kind] if bare else _NEXT[kind].replace("BareSelfTest", "SelfTest")
    return f"unpack the file, then {steps}" if is_archive(folder) else steps


def _to_measure(files: Sequence[str], model_file: Path | None, data: Path | None) -> list[str]:
    """Return how to measure on a board, if an extension has added a program for it."""
    names = {Path(each).name for each in files}
    points = there("test.csv", "DATA") if data is None else str(data)
    words = ["protonn-edge", "hil", points, "--model", str(model_file), "--port", "PORT"]
    steps = [step for name, step in _MEASURE.items() if name in names]
    return [f"to measure your board, {step}, and run:\n  {command_line(words)}" for step in steps]


def _of_memory(needed: int, available: int, board: Board) -> str:
    excess = f": too much for the {board.name}" if needed > available else ""
    return f"about {needed:,} of {available:,} B{excess}"
