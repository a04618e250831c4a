"""Firmware of `build` and sketches of `export` that sample a sensor, without a model."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from protonn_edge.chips.boards import load_board
from protonn_edge.cli.command import Output
from protonn_edge.cli.options import board_words
from protonn_edge.codegen.export.folder import LOGGER, check_folder, write_folder
from protonn_edge.codegen.projects.built import built_text
from protonn_edge.codegen.projects.folder import BUILT_FILE, sketch_name
from protonn_edge.extensions.sensing.described import sensor_kind
from protonn_edge.extensions.sensing.sensor_projects import logger_of
from protonn_edge.system.schema import JsonObject
from protonn_edge.system.shell import command_line

LOGGER_FOLDER = Path("logger")
"""Where 'build --sensor' writes without a model, and where 'record' looks."""


def write_logger(
    out: Output,
    sensors: Sequence[str],
    rate: float,
    board_name: str,
    folder: Path,
    *,
    as_sketch: bool,
) -> JsonObject:
    """Write the firmware, as a project or a sketch; print how to use it.

    Returns facts for the JSON object.
    """
    board = load_board(board_name)
    kinds = [sensor_kind(name) for name in sensors]
    logger = logger_of(kinds, rate, board)
    sampling = logger.sampling
    files = logger.sketch(sketch_name(folder)) if as_sketch else logger.firmware()
    done: JsonObject = {
        "board": board.name,
        "folder": str(folder),
        "sensors": [kind.name for kind in sampling.kinds],
        "channels": list(sampling.channels),
        "rate": sampling.actual_rate,
        "baud": logger.baud,
        "bytes_per_second": logger.bytes_a_second,
    }
    check_folder(folder, LOGGER)
    if not as_sketch:
        files[BUILT_FILE] = built_text(done)
    done["files"] = sorted(files)
    write_folder(folder, files, LOGGER)
    kind = "a sketch" if as_sketch else "a PlatformIO project"
    out.say(
        f"{folder}: {kind} that logs {sampling.name} at {sampling.actual_rate:.6g} Hz, "
        f"{logger.bytes_a_second:,.0f} bytes a second at {logger.baud:,} baud"
    )
    record = ["protonn-edge", "record", "-o", "recording.csv", "--label", "NAME"]
    record += board_words(board_name)
    record += [] if logger.baud == board.baud else ["--baud", str(logger.baud)]
    out.say(f"to record, after the upload: {command_line(record)}")
    return done
