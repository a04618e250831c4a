"""Record takes by pressing keys in a terminal, which shows the channels live."""

from __future__ import annotations

import os
import select
import sys
import time
from collections.abc import Sequence
from types import TracebackType
from typing import Any, Self

from rich.bar import Bar
from rich.console import Console, Group
from rich.live import Live
from rich.table import Table
from rich.text import Text

from protonn_edge.device.recorder import Recorder
from protonn_edge.errors import InputError, counted

try:
    import termios
    import tty
except ImportError:  # Windows has none
    termios = None  # type: ignore[assignment]

_LISTEN_S = 0.05
_DRAWS_A_SECOND = 10.0
_BAR_CELLS = 40


class Keys:
    """The keys that are pressed, one at a time; a context manager that restores the terminal.

    Raises
    ------
    InputError
        On entering, on a system without such terminals.
    """

    def __init__(self) -> None:
        self._settings: list[Any] | None = None

    def __enter__(self) -> Self:
        if termios is None:
            raise InputError("keys cannot be read on Windows; give --seconds and --takes")
        self._settings = termios.tcgetattr(sys.stdin)
        tty.setcbreak(sys.stdin)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if self._settings is not None:
            termios.tcsetattr(sys.stdin, termios.TCSADRAIN, self._settings)

    def pressed(self) -> str:
        """Return the key that was pressed, "" if none was."""
        if not select.select([sys.stdin], [], [], 0)[0]:
            return ""
        return os.read(sys.stdin.fileno(), 1).decode("ascii", errors="replace") or "q"


def record_by_keys(
    recorder: Recorder, keys: Keys, labels: Sequence[str], seconds: float | None, pause: float
) -> None:
    """Record takes as keys are pressed, until q.

    Parameters
    ----------
    recorder : Recorder
    keys : Keys
        Or an object with its method `pressed`.
    labels : sequence of str
        The first nine have keys.
    seconds : float or None
        The length of a take; None to end it with a key.
    pause : float
        Seconds before each take.
    """
    console = Console(stderr=True, highlight=False)
    drawn = 0.0
    with Live(console=console, auto_refresh=False, transient=True) as live:
        while act_on(recorder, keys.pressed(), labels, seconds, pause):
            recorder.listen(_LISTEN_S)
            now = time.monotonic()
            if now - drawn > 1 / _DRAWS_A_SECOND:
                live.update(picture(recorder, labels), refresh=True)
                drawn = now


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
    description = recorder.stream.description
    assert description is not None, "a recorder has it"
    table = Table.grid(padding=(0, 1))
    values = [] if recorder.latest is None else recorder.latest.tolist()
    low, high = description.kinds[0].low, description.kinds[0].high
    for name, value in zip(description.channels, values, strict=False):
        bar = Bar(high - low, 0, value - low, width=_BAR_CELLS)
        table.add_row(name, str(value).rjust(6), bar)
    take = recorder.take
    if take is None:
        chosen = "  ".join(f"{i} {label}" for i, label in enumerate(labels[:9], 1))
        doing = f"{counted(len(recorder.takes), 'take')}; {chosen}  x throw the last away  q quit"
    elif not take.kept:
        doing = f"{take.label} in {recorder.countdown_s:.1f} s"
    else:
        doing = f"{take.label}: {counted(take.kept, 'sample')}; any key ends it, x throws it away"
    stream = recorder.stream
    lost = f"{counted(stream.lost, 'sample')} lost, {counted(stream.torn, 'frame')} damaged"
    return Group(table, Text(doing), Text(lost))
