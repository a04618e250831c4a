"""What all commands share: how a result is printed, and how an error ends the program."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import click
from rich.console import Console, RenderableType
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TaskID,
    TextColumn,
    TimeRemainingColumn,
)

from protonn_edge.boards import board_names
from protonn_edge.errors import ProtoNNEdgeError

json_option = click.option(
    "--json", "as_json", is_flag=True, help="Print one JSON object on standard output."
)
board_option = click.option(
    "--board",
    "board_name",
    type=click.Choice(board_names()),
    default="uno",
    show_default=True,
    help="The board to build for.",
)


class Command(click.Command):
    """A command that ends with one sentence and the right exit code where the package raises."""

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command; a `ProtoNNEdgeError` becomes a line on standard error."""
        try:
            return super().invoke(ctx)
        except ProtoNNEdgeError as error:
            if ctx.params.get("as_json"):
                click.echo(json.dumps({"error": str(error)}))
            click.echo(f"error: {error}", err=True)
            ctx.exit(error.exit_code)


class Output:
    """Where a command's words go: people's text to one stream, the JSON object to the other.

    Parameters
    ----------
    as_json : bool
        If true, standard output carries the JSON object alone and text goes to standard error.
    """

    def __init__(self, as_json: bool) -> None:
        self._as_json = as_json
        self._text = Console(stderr=as_json, highlight=False)
        self._progress = Console(stderr=True, highlight=False)

    def say(self, *parts: RenderableType) -> None:
        """Print sentences and tables for people."""
        for part in parts:
            if isinstance(part, str):  # a path in a sentence is neither markup nor to be folded
                self._text.print(part, markup=False, soft_wrap=True)
            else:
                self._text.print(part)

    def finish(self, record: Mapping[str, Any]) -> None:
        """Print the command's JSON object, if it was asked for."""
        if self._as_json:
            json.dump(record, sys.stdout, allow_nan=False)
            sys.stdout.write("\n")

    @contextmanager
    def progress(self, description: str, total: int) -> Iterator[ProgressBar]:
        """Show a progress bar on standard error while something takes its time."""
        columns = (
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TimeRemainingColumn(),
            TextColumn("{task.fields[note]}"),
        )
        hidden = not self._progress.is_terminal
        with Progress(*columns, console=self._progress, transient=True, disable=hidden) as progress:
            task = progress.add_task(description, total=total, note="")
            yield ProgressBar(progress, task)

    @contextmanager
    def status(self, description: str) -> Iterator[None]:
        """Say on standard error what is going on when there is nothing to count."""
        with self._progress.status(description):
            yield


class ProgressBar:
    """One bar, to be moved on by whatever it is about."""

    def __init__(self, progress: Progress, task: TaskID) -> None:
        self._progress = progress
        self._task = task

    def advance(self) -> None:
        """Move on by one."""
        self._progress.update(self._task, advance=1)

    def move_to(self, completed: int, note: str) -> None:
        """Move to a number of things done, with a few words behind the bar."""
        self._progress.update(self._task, completed=completed, note=note)
