"""``protonn-edge record``: labelled recordings of a sensor, from a board that runs a logger."""

from __future__ import annotations

import contextlib
import sys
from pathlib import Path

import click

from protonn_edge.boards import load_board
from protonn_edge.cli.command import Command, FiniteRange, Output, board_option, json_option
from protonn_edge.cli.devices import (
    board_url,
    check_heard,
    check_played,
    check_source,
    port_option,
    read_sensors,
    sensor_option,
)
from protonn_edge.cli.paths import RECORDING, OutputFile
from protonn_edge.datasets.naming import check_names
from protonn_edge.device.keys import Keys, record_by_keys
from protonn_edge.device.link import Link
from protonn_edge.device.recorder import Recorder, wait_for_description
from protonn_edge.device.recording_file import RecordingFile
from protonn_edge.device.samples import SampleStream
from protonn_edge.errors import CheckFailed, Interrupted, ProtoNNEdgeError, counted
from protonn_edge.export.folder import LOGGER


@click.command("record", cls=Command)
@click.option(
    "-o",
    "--output",
    type=OutputFile(RECORDING, dir_okay=False),
    required=True,
    help="The recording (.csv); takes are appended to one that exists.",
)
@port_option
@click.option("--emulate", is_flag=True, help="Run the logger on the emulated board.")
@sensor_option
@click.option(
    "--logger",
    "folder",
    type=click.Path(path_type=Path, file_okay=False),
    default=Path("logger"),
    show_default=True,
    help="With --emulate: the folder that 'logger' wrote.",
)
@click.option(
    "--label",
    "labels",
    multiple=True,
    required=True,
    help="A class; given several times, the keys 1 to 9 choose.",
)
@click.option(
    "--seconds",
    type=FiniteRange(0, 86_400, min_open=True),
    help="The length of a take.  [default: until a key]",
)
@click.option(
    "--takes",
    type=click.IntRange(1),
    help="Record so many takes of each label, one after the other, without keys.",
)
@click.option(
    "--pause",
    type=FiniteRange(0, 3600),
    default=1.0,
    show_default=True,
    help="Seconds before each take.",
)
@click.option(
    "--session",
    default="session-1",
    show_default=True,
    help="Whose or which recording this is, for 'train --groups'.",
)
@click.option("--baud", type=click.IntRange(1200, 2_000_000), help="What 'logger' said.")
@board_option
@json_option
def record_command(
    output: Path,
    port: str | None,
    emulate: bool,
    sensors: tuple[str, ...],
    folder: Path,
    labels: tuple[str, ...],
    seconds: float | None,
    takes: int | None,
    pause: float,
    session: str,
    baud: int | None,
    board_name: str,
    as_json: bool,
) -> None:
    """Record labelled samples of a sensor into a table that 'windows' cuts.

    The board runs what 'logger' wrote. In a terminal, keys begin and end takes: 1 to 9 choose a
    label, x throws the last take away, q ends. With --takes, --seconds says how long each take is,
    and no key is needed. What came over the line damaged is dropped, and each sample that is lost
    is counted. Rows are written as they come.
    """
    check_source(port is not None, emulate)
    check_played(sensors, emulate)
    by_keys = takes is None and seconds is None
    by_keys = by_keys or (takes is None and sys.stdin.isatty())
    if by_keys and not (sys.stdin.isatty() and sys.stderr.isatty()):
        raise click.UsageError("there is no terminal for keys; give --seconds, and --takes")
    if takes is not None and seconds is None:
        raise click.UsageError("--takes needs to know how long each is; give --seconds")
    check_names(labels, "--label", distinct=True)
    out = Output(as_json)
    board = load_board(board_name)
    played = read_sensors(sensors, output)
    with contextlib.ExitStack() as stack:
        project = folder if emulate else None
        remedy = f"write a logger with 'protonn-edge logger -o {folder}'"
        found = board_url(
            out, board, port, project, played, remedy, kind=LOGGER, wire_speed=by_keys
        )
        url = stack.enter_context(found)
        line = stack.enter_context(contextlib.closing(Link(url, baud or board.baud)))
        stream = SampleStream()
        with out.status(f"waiting for a logger at {url}"):
            early = wait_for_description(line, stream, url)
        assert stream.description is not None, "it has been waited for"
        names = [kind.name for kind in stream.description.kinds]
        check_heard(out, played, names, stream.description.rate, emulate=emulate)
        file = stack.enter_context(RecordingFile(output, stream.description, session))
        recorder = Recorder(line, stream, file, early)
        failure: ProtoNNEdgeError | None = None
        try:
            if by_keys:
                with Keys() as keys:
                    record_by_keys(recorder, keys, labels, seconds, pause)
            else:
                assert seconds is not None, "it was asked for"
                _record_takes(out, recorder, labels, seconds, takes or 1, pause)
        except CheckFailed as error:
            failure = error
        except KeyboardInterrupt:
            failure = Interrupted("stopped; what was recorded is in the file")
        recorder.end()
    source = None if emulate else url
    _report(out, recorder, output, session, source, failure)


def _record_takes(
    out: Output,
    recorder: Recorder,
    labels: tuple[str, ...],
    seconds: float,
    takes: int,
    pause: float,
) -> None:
    with out.progress("takes", takes * len(labels)) as bar:
        for label in labels:
            for _ in range(takes):
                done = len(recorder.takes)
                recorder.begin(label, seconds, pause)
                while len(recorder.takes) == done:
                    recorder.listen()
                bar.advance()


def _report(
    out: Output,
    recorder: Recorder,
    output: Path,
    session: str,
    port: str | None,
    failure: ProtoNNEdgeError | None,
) -> None:
    stream = recorder.stream
    description = stream.description
    assert description is not None, "it was waited for"
    kept = sum(take.kept for take in recorder.takes)
    lost = sum(take.lost for take in recorder.takes)
    measured = None if port is None else recorder.measured_rate
    clock = "" if measured is None else f", {measured:.4g} by this computer's clock"
    out.say(
        f"{output}: {counted(len(recorder.takes), 'take')}, {counted(kept, 'sample')} of "
        f"{', '.join(description.channels)} at {description.rate:.6g} Hz{clock}"
    )
    if lost or stream.torn:
        out.say(
            f"  lost in them: {counted(lost, 'sample')}; damaged on the line: "
            f"{counted(stream.torn, 'frame')}; lost on the board: "
            f"{counted(stream.lost_on_board, 'sample')}"
        )
    if stream.resets:
        out.say(
            f"warning: the board was reset {counted(stream.resets, 'time')}, which ends a take; "
            "check its supply"
        )
    out.finish(
        {
            "recording": str(output),
            "port": port,
            "channels": list(description.channels),
            "units": description.units,
            "rate": description.rate,
            "measured_rate": measured,
            "session": session,
            "takes": [
                {"label": take.label, "samples": take.kept, "lost": take.lost}
                for take in recorder.takes
            ],
            "samples": kept,
            "lost": lost,
            "torn_frames": stream.torn,
            "lost_on_board": stream.lost_on_board,
            "resets": stream.resets,
            "discarded": recorder.discarded,
        },
        failure,
    )
