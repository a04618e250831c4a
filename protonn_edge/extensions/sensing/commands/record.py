"""``protonn-edge record``: Record labelled samples of a sensor in a table."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Sequence
from pathlib import Path

import click
from rich.bar import Bar
from rich.console import Console, Group
from rich.live import Live
from rich.table import Table
from rich.text import Text

from protonn_edge.chips.boards import load_board
from protonn_edge.cli.command import OUTPUT, Output, command, is_terminal, option
from protonn_edge.cli.options import BOARD, FOLDER, FiniteRange, baud_rate
from protonn_edge.cli.paths import OutputFile, check_ending
from protonn_edge.codegen.export.folder import LOGGER
from protonn_edge.data.tables.cells import check_labels
from protonn_edge.extensions.sensing.commands.logger import LOGGER_FOLDER
from protonn_edge.extensions.sensing.commands.sensor_source import source_options
from protonn_edge.extensions.sensing.commands.source import Pace, SensorSource
from protonn_edge.extensions.sensing.keys import Keys
from protonn_edge.extensions.sensing.recorder import Recorder, RecordingFile
from protonn_edge.system.errors import CheckFailed, Interrupted, ProtoNNEdgeError, counted

_LISTEN_S = 0.05
_DRAWS_A_SECOND = 10.0
_BAR_CELLS = 40


@command(
    "record",
    needs={"--sensor --project": "--emulate", "--takes": "--seconds"},
    apart={"--port": "--emulate"},
    examples=("-o recording.csv --label rest --label wave --session anna",),
)
def record_command(
    output: Path = option(
        "The recording (.csv); if it exists, takes are appended.",
        OutputFile(dir_okay=False),
        required=True,
    ),
    source: SensorSource = source_options(
        "Run the logger on the emulated board.",
        option(
            "With --emulate: the folder that 'build --sensor' wrote without a model.",
            FOLDER,
            flag="--project",
            shown=LOGGER_FOLDER,
        ),
    ),
    labels: tuple[str, ...] = option(
        "A class; repeat the option for several, and choose one with the keys 1 to 9.",
        flag="--label",
        multiple=True,
        required=True,
    ),
    seconds: float | None = option(
        "The length of a take in seconds.  [default: until you press a key]",
        FiniteRange(0, 86_400, min_open=True),
    ),
    takes: int | None = option(
        "Record this many takes of each label in turn, without keys.", click.IntRange(1)
    ),
    pause: float = option("Seconds to wait before each take.", FiniteRange(0, 3600), shown=1.0),
    session: str = option("The person or session, for 'train --groups'.", shown="session-1"),
    baud: int | None = baud_rate("The baud rate that 'build --sensor' printed."),
    board_name: str = BOARD,
    out: Output = OUTPUT,
) -> None:
    """Record labelled samples of a sensor into a table for 'windows'.

    The board runs the firmware that 'build --sensor' writes without a model. In a terminal, keys
    start and stop takes: 1 to 9 choose a label, x discards the last take, q quits. With --takes,
    each take lasts --seconds, and no keys are needed. Damaged frames are dropped, and every lost
    sample is counted. Rows are written as they arrive.
    """
    by_keys = takes is None and seconds is None
    by_keys = by_keys or (takes is None and is_terminal(sys.stdin))
    if by_keys and not (is_terminal(sys.stdin) and is_terminal(sys.stderr)):
        raise click.UsageError("there is no terminal to read keys from; give --seconds and --takes")
    check_labels(labels, "--label", distinct=True)
    check_ending(output, "the recording", ".csv")
    board = load_board(board_name)
    with contextlib.ExitStack() as stack:
        pace: Pace = "wall clock" if by_keys else "full speed"
        heard = source.heard(
            out, Recorder, LOGGER, board, baud or board.baud, pace=pace, output=output
        )
        url, recorder = stack.enter_context(heard)
        file = RecordingFile(output, recorder.description, session)
        recorder.record_to(stack.enter_context(file))
        failure: ProtoNNEdgeError | None = None
        try:
            if by_keys:
                with Keys("give --seconds and --takes") as keys:
                    record_by_keys(recorder, keys, labels, seconds, pause)
            else:
                assert seconds is not None, "without keys, a take needs a length"
                _record_takes(out, recorder, labels, seconds, takes or 1, pause)
        except CheckFailed as error:
            failure = error
        except KeyboardInterrupt:
            failure = Interrupted(f"stopped; the samples recorded so far are in {output}")
        recorder.end()
    if file.saved is not None:
        out.say(
            f"warning: another program replaced {output} during the recording, without some of its "
            f"takes; the earlier content of the file is in {file.saved}"
        )
    _report(out, recorder, output, session, None if source.emulate else url, failure)


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
    stream, description = recorder.stream, recorder.description
    kept = sum(take.kept for take in recorder.takes)
    lost = sum(take.lost for take in recorder.takes)
    measured = None if port is None else recorder.measured_rate
    clock = "" if measured is None else f" ({measured:.4g} Hz by this computer's clock)"
    out.say(
        f"{output}: {counted(len(recorder.takes), 'take')}, {counted(kept, 'sample')} of "
        f"{', '.join(description.channels)} at {description.rate:.6g} Hz{clock}"
    )
    if lost or stream.torn:
        out.say(
            f"  lost in these takes: {counted(lost, 'sample')}; damaged on the line: "
            f"{counted(stream.torn, 'frame')}; lost on the board: "
            f"{counted(stream.lost_on_board, 'sample')}"
        )
    if stream.resets:
        out.say(
            f"warning: the board was reset {counted(stream.resets, 'time')}, which ends a take in "
            "progress; check the board's power supply"
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


def record_by_keys(
    recorder: Recorder, keys: Keys, labels: Sequence[str], seconds: float | None, pause: float
) -> None:
    """Record takes as keys are pressed, until q; the first nine labels have keys.

    A take lasts `seconds`, or ends with a key, after a pause in seconds.
    """
    console = Console(stderr=True, highlight=False)
    with Live(console=console, refresh_per_second=_DRAWS_A_SECOND, transient=True) as live:
        while act_on(recorder, keys.pressed(), labels, seconds, pause):
            recorder.listen(_LISTEN_S)
            live.update(picture(recorder, labels))


def act_on(
    recorder: Recorder, key: str, labels: Sequence[str], seconds: float | None, pause: float
) -> bool:
    """Act on a key; return whether to continue."""
    if key == "q":
        return False
    if key == "x":
        recorder.discard()
    elif key and recorder.take is not None:
        recorder.end()
    elif key.isascii() and key.isdigit() and 1 <= int(key) <= len(labels):
        recorder.begin(labels[int(key) - 1], seconds, pause)
    return True


def picture(recorder: Recorder, labels: Sequence[str]) -> Group:
    """Return the channels as bars, and the meaning of the keys."""
    description = recorder.description
    table = Table.grid(padding=(0, 1))
    values = [] if recorder.latest is None else recorder.latest.tolist()
    low, high = description.kinds[0].low, description.kinds[0].high
    for name, value in zip(description.channels, values, strict=False):
        bar = Bar(high - low, 0, value - low, width=_BAR_CELLS)
        table.add_row(name, str(value).rjust(6), bar)
    take = recorder.take
    if take is None:
        chosen = "  ".join(f"{i} {label}" for i, label in enumerate(labels[:9], 1))
        doing = f"{counted(len(recorder.takes), 'take')}; {chosen}  x discard the last take  q quit"
    elif not take.kept:
        doing = f"{take.label} in {recorder.countdown_s:.1f} s"
    else:
        doing = (
            f"{take.label}: {counted(take.kept, 'sample')}; x discards the take, other keys end it"
        )
    stream = recorder.stream
    lost = f"{counted(stream.lost, 'sample')} lost, {counted(stream.torn, 'frame')} damaged"
    return Group(table, Text(doing), Text(lost))
