"""What a command shows while it works: a bar in a terminal, or lines for another program.

If the environment variable `PROTONN_EDGE_PROGRESS` is ``json``, each line on standard error that
begins with ``{`` is a JSON object: a task, how much of it is done, and a note.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Protocol

import click
from rich.console import Console
from rich.markup import escape

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

PROGRESS_VARIABLE = "PROTONN_EDGE_PROGRESS"
"""The environment variable that asks for lines."""

_LINES_A_SECOND = 10


class ProgressBar(Protocol):
    """The progress of an operation, which advances it."""

    done: int

    def advance(self) -> None:
        """Advance by one."""

    def move_to(
        self, completed: int, note: str, *, description: str | None = None, total: int | None = None
    ) -> None:
        """Set the number of things done, optionally a new total, and a note after the bar."""


@contextmanager
def progress_bar(console: Console, description: str, total: int) -> Iterator[ProgressBar]:
    """Show the progress of a long operation."""
    if _as_lines():
        yield LineProgress(description, total)
        return
    from rich.progress import (  # few commands have one
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeRemainingColumn,
    )

    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
        TextColumn("{task.fields[note]}", markup=False),
    )
    hidden = not console.is_terminal
    with Progress(*columns, console=console, transient=True, disable=hidden) as progress:
        task = progress.add_task(description, total=total, note="")
        yield DrawnProgress(progress, task)


@contextmanager
def progress_status(console: Console, description: str) -> Iterator[None]:
    """Show which task is running, if it has nothing to count."""
    if _as_lines():
        _print_line(task=description)
        yield
        return
    with console.status(escape(description)):
        yield


def _as_lines() -> bool:
    return os.environ.get(PROGRESS_VARIABLE) == "json"


def _print_line(**record: object) -> None:
    click.echo(json.dumps(record), err=True)


class DrawnProgress:
    """One bar, advanced by the operation that it shows."""

    def __init__(self, progress: Progress, task: TaskID) -> None:
        self._progress = progress
        self._task = task
        self.done = 0

    def advance(self) -> None:
        """Advance by one."""
        self.done += 1
        self._progress.update(self._task, completed=self.done)

    def move_to(
        self, completed: int, note: str, *, description: str | None = None, total: int | None = None
    ) -> None:
        """Set the number of things done, optionally a new total, and a note after the bar."""
        self._progress.update(
            self._task, completed=completed, note=note, description=description, total=total
        )


class LineProgress:
    """A line for another program at most every tenth of a second, and at the end."""

    def __init__(self, description: str, total: int) -> None:
        self._record = {"task": description, "total": total, "done": 0, "note": ""}
        self._next = 0.0
        self.done = 0

    def advance(self) -> None:
        """Advance by one."""
        self.move_to(self.done + 1, "")

    def move_to(
        self, completed: int, note: str, *, description: str | None = None, total: int | None = None
    ) -> None:
        """Set the number of things done, optionally a new total, and a note after the bar."""
        self.done = completed
        self._record |= {"done": completed, "note": note}
        self._record |= {"task": description} if description else {}
        self._record |= {} if total is None else {"total": total}
        if time.monotonic() >= self._next or completed == self._record["total"]:
            self._next = time.monotonic() + 1 / _LINES_A_SECOND
            _print_line(**self._record)
