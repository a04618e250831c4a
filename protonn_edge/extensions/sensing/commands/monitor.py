"""``protonn-edge monitor``: Show the classes that a board recognizes with its sensor."""

from __future__ import annotations

import contextlib
import json
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path

import click
from rich.bar import Bar
from rich.console import Console, Group
from rich.live import Live
from rich.table import Table
from rich.text import Text

from protonn_edge.chips.boards import load_board
from protonn_edge.cli.command import Output, additions, command, is_terminal, option, verdict
from protonn_edge.cli.devices import EEPROM
from protonn_edge.cli.options import BOARD, FOLDER, FiniteRange
from protonn_edge.cli.paths import LIVE_FOLDER
from protonn_edge.codegen.export.folder import LIVE
from protonn_edge.codegen.projects.folder import PLAN_FILE, read_plan
from protonn_edge.data.naming import NO_CLASS_NAME, Notice
from protonn_edge.extensions.sensing.commands.monitor_additions import MonitorAddition
from protonn_edge.extensions.sensing.commands.sensor_source import source_options
from protonn_edge.extensions.sensing.commands.source import Pace, SensorSource
from protonn_edge.extensions.sensing.listener import Listener, NamedAnswer
from protonn_edge.extensions.sensing.sensor_board import LiveDescription, WindowAnswer
from protonn_edge.policy.confidence.voting import WHOLE
from protonn_edge.system.errors import InputError, counted
from protonn_edge.system.schema import JsonObject

_BAR_CELLS = 40


@command(
    "monitor",
    needs={"--sensor --eeprom": "--emulate"},
    apart={"--port": "--emulate"},
    examples=("--project live", "--emulate --sensor mpu6050=wave.csv"),
)
def monitor_command(
    source: SensorSource = source_options(
        "Run the firmware on the emulated board.",
        option(
            "The folder that 'build --sensor' wrote: with --emulate, its firmware runs; otherwise, "
            "its model is compared with the board's.",
            FOLDER,
            flag="--project",
            shown=LIVE_FOLDER,
        ),
        eeprom=EEPROM,
    ),
    seconds: float | None = option(
        "Stop after this many seconds by the board's clock.  [default: run until Ctrl-C]",
        FiniteRange(0, 86_400, min_open=True),
    ),
    board_name: str = BOARD,
    added: list[MonitorAddition] = additions("monitor"),
    as_json: bool = option("Print a JSON object for each window.", flag="--json", is_flag=True),
) -> None:
    """Show a board's answers for the samples of its sensor: the class, the scores and the rate.

    The board runs the firmware of 'build --sensor'. Damaged frames are left out, and missing
    windows are counted.
    """
    out = Output(as_json)
    board = load_board(board_name)
    if any(each.shown(out, board, source.port) for each in added):
        return
    drawn = not as_json and is_terminal(sys.stdout)
    talk = next((each for each in added if each.is_on), None)
    pace: Pace = "wall clock" if drawn or talk else "full speed"
    if source.emulate and talk and not is_terminal(sys.stdin):
        pace = "lockstep"  # a line of the pipe for each window
    with contextlib.ExitStack() as stack:
        kind = talk.listener if talk else Listener
        heard = source.heard(out, kind, LIVE, board, board.baud, pace=pace)
        _, listener = stack.enter_context(heard)
        if not source.emulate:
            out.notice(_another_model(source.folder, listener.description))
        with contextlib.suppress(KeyboardInterrupt):
            _watch(out, listener, talk, seconds, as_json=as_json, drawn=drawn)
    _conclude(out, listener, emulated=source.emulate)


def _another_model(folder: Path, board: LiveDescription) -> list[Notice]:
    """Return a warning if the project in a folder has another model than the board."""
    try:
        built = read_plan(folder / PLAN_FILE).model_sha256
    except InputError:  # nothing was built there
        return []
    if built.startswith(board.model_hash):
        return []
    text = (
        f"the board runs model {board.model_hash}, but {folder} has model {built[:16]}; to run the "
        f"folder's model, use 'protonn-edge upload {folder}'"
    )
    return [Notice("model", text, warning=True)]


def _watch(
    out: Output,
    listener: Listener,
    talk: MonitorAddition | None,
    seconds: float | None,
    *,
    as_json: bool,
    drawn: bool,
) -> None:
    """Show the answers: drawn in a terminal, else a line for each."""
    out.say(_introduced(listener))
    drawing: contextlib.AbstractContextManager[Live | None] = contextlib.nullcontext()
    if drawn:
        drawing = Live(console=Console(highlight=False), auto_refresh=False)
    with drawing as live, contextlib.ExitStack() as stack:
        say: Callable[[str], None] = out.say
        tell: Callable[[str], None] = out.remark
        if live is not None:  # names of classes are not markup
            say = tell = partial(live.console.print, markup=False, soft_wrap=True)
        keys = None if talk is None else talk.keys(listener, tell)
        if keys is not None:
            say(keys.introduction)
            stack.enter_context(keys.pressed())
        for answer in listener.answers(seconds):
            warning = listener.stream.take_warning()
            if warning is not None:
                tell(f"warning: {warning}")
            window = listener.named(answer) if isinstance(answer, WindowAnswer) else None
            if window is not None:
                text, record = _line(window), _record(window)
            else:
                assert keys is not None, "other messages come only in reply to keys"
                text, record = keys.replied(answer)
            if as_json:
                click.echo(json.dumps(verdict() | record))
            elif live is not None and window is not None:
                live.update(picture(window), refresh=True)
            else:
                say(text)
            if keys is not None and window is not None:
                keys.read_line()


def _introduced(listener: Listener) -> str:
    board = listener.description
    every = f"every {counted(board.hop, 'sample')} ({board.hop / board.rate:.3g} s)"
    return (
        f"{board.sensor}: windows of {counted(board.window, 'sample')} at {board.rate:.6g} Hz, one "
        f"{'for each sound' if board.triggered else every}; model {board.model_hash}"
    )


def _record(window: NamedAnswer) -> JsonObject:
    answer = window.answer
    said: JsonObject = {
        "class": window.label,
        "reported_class": window.reported,
        "scores": dict(zip(window.names, answer.scores, strict=True)),
        "shares": window.shares,
        "none_of_these": window.none,
    }
    if window.value is not None:
        said = {"name": window.label, "value": float(window.value)}
    place = {"seconds": window.seconds, "first_sample": answer.first}
    return {**place, **said, "lost": answer.lost, "missing": window.missing}


def _line(window: NamedAnswer) -> str:
    if window.value is not None:
        return f"{window.seconds:9.2f} s  {window.label} {window.value}"
    share = {**window.shares, NO_CLASS_NAME: window.none}.get(window.reported or "")
    return (
        f"{window.seconds:9.2f} s  {window.reported or '-'}{'' if share is None else f' {share} %'}"
        f"  (window: {window.label}, score {max(window.answer.scores):,})"
    )


def picture(window: NamedAnswer) -> Group:
    """Return the reported class, the shares as bars, the window's scores, and the rate.

    If the model predicts a number, it is shown in place of class and shares.
    """
    answer, rate, table = window.answer, window.rate, Table.grid(padding=(0, 1))
    for (name, share), score in zip(window.shares.items(), answer.scores, strict=False):
        bar = Bar(WHOLE, 0, share, width=_BAR_CELLS)
        table.add_row(Text(name), f"{share} %".rjust(5), bar, f"score {score:,}")
    table.add_row(
        Text("none of these"),
        f"{window.none} %".rjust(5),
        Bar(WHOLE, 0, window.none, width=_BAR_CELLS),
    )
    state = "" if rate is None else f"{rate:.4g} samples a second, "
    state += f"{counted(window.windows, 'window')}, {window.missing:,} missing, "
    state += f"{counted(answer.lost, 'sample')} lost"
    if window.value is not None:
        return Group(Text(f"{window.label} {window.value}", style="bold"), Text(state))
    return Group(Text(window.reported or "-", style="bold"), table, Text(state))


def _conclude(out: Output, listener: Listener, *, emulated: bool) -> None:
    rate = None if emulated else listener.measured_rate
    clock = "" if rate is None else f", {rate:.4g} samples a second by this computer's clock"
    out.say(
        f"{counted(listener.windows, 'window')} in {listener.seconds:.4g} s{clock}; "
        f"{counted(listener.missing, 'window')} missing, {counted(listener.lost, 'sample')} lost, "
        f"{counted(listener.stream.torn, 'frame')} damaged"
    )
    for part in listener.stream.parts.values():
        if part.summary is not None:
            out.say(part.summary)
    if listener.resets:
        out.say(f"warning: the board was reset {counted(listener.resets, 'time')}")
    if not listener.windows:
        out.say(_nothing_shown(listener.description))


def _nothing_shown(board: LiveDescription) -> str:
    """Return the advice if no window has arrived."""
    if board.triggered:
        return "the board detected no complete sound; make a louder sound, or wait longer"
    wait = f"{board.window / board.rate:.3g} s"
    return f"no window was completed: the first one takes {wait}; wait longer"
