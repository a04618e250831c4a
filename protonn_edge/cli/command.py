"""What all commands share: how a result is printed, and how an error ends the program."""

from __future__ import annotations

import io
import json
import math
import os
import re
import signal
import sys
import threading
import warnings
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import Any

import click
import numpy as np
from click.shell_completion import CompletionItem
from rich.console import Console, RenderableType
from rich.markup import escape
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TaskID,
    TextColumn,
    TimeRemainingColumn,
)

from protonn_edge.boards import board_names
from protonn_edge.cli.option_groups import write_options
from protonn_edge.cli.paths import NameOrPath, check_paths
from protonn_edge.datasets import Notice
from protonn_edge.errors import InputError, ProtoNNEdgeError, shortened
from protonn_edge.quantization import PRECISIONS
from protonn_edge.system.extras import sentence_of

json_option = click.option(
    "--json", "as_json", is_flag=True, help="Print one JSON object on standard output."
)


class BoardType(NameOrPath):
    """A board's name, or the path of a file that describes one; a shell completes both."""

    def shell_complete(
        self,
        ctx: click.Context,  # noqa: ARG002  (click's signature)
        param: click.Parameter,  # noqa: ARG002
        incomplete: str,
    ) -> list[CompletionItem]:
        """Return the boards whose names begin so; the shell adds files where there is none."""
        files = CompletionItem(incomplete, type="file")
        begun = (name for name in board_names() if name.startswith(incomplete))
        return [files, *map(CompletionItem, begun)]


board_option = click.option(
    "--board",
    "board_name",
    type=BoardType(),
    metavar=f"[{'|'.join(board_names())}|FILE.toml]",
    default="uno",
    show_default=True,
    help="The board, real or emulated; a .toml file describes one of your own.",
)


_WORD_LIMIT = 300  # characters, of a file name in a sentence
_TERMINATED = 128 + signal.SIGTERM  # as a shell says it
_PRINTED = f"{__name__}.printed"  # in a context's meta: the JSON object is out

_FIRST_NAMES = {  # of options, which still go by them
    "reduce": "average-pooling",
    "strangers": "outlier-exposure",
    "unknown": "rejection",
    "unknown-by": "rejection-by",
}

BUG_EXIT_CODE = 70
"""What a command exits with if this package has a bug: EX_SOFTWARE of BSD's sysexits.h."""

TRACEBACK_VARIABLE = "PROTONN_EDGE_TRACEBACK"
"""The environment variable that, if set, shows where a bug is."""


precision_option = click.option(
    "--precision",
    type=click.Choice(PRECISIONS),
    default=PRECISIONS[0],
    show_default=True,
    help="Of W, B and Z on the device; float32 is there for comparison.",
)


class FiniteRange(click.FloatRange):
    """A range of numbers without those that are none: `click.FloatRange` lets "nan" through."""

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> float:
        """Return the number, or fail as `click.FloatRange` does."""
        number: float = super().convert(value, param, ctx)
        if not math.isfinite(number):
            self.fail(f"{value} is not a finite number.", param, ctx)
        return number

    def _describe_range(self) -> str:
        """Return the range for the help, with ends such as 1e+06."""
        low, high = (None if end is None else f"{end:g}" for end in (self.min, self.max))
        left = "" if low is None else f"{low}{'<' if self.min_open else '<='}"
        right = "" if high is None else f"{'<' if self.max_open else '<='}{high}"
        return f"{left}x{right}"


class ParameterOption(click.Option):
    """An option that is a parameter of a classifier in Python, and goes by that name, too."""

    def names(self) -> dict[str, str]:
        """Return what the command line calls it, by what Python does, without hyphens."""
        return {str(self.name).replace("_", "-"): self.opts[0].removeprefix("--")}


class Command(click.Command):
    """A command that ends in one sentence and the right exit code, whatever its input is."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse the command line; a null byte is in no file's name."""
        names = dict(_FIRST_NAMES)
        for param in self.params:
            if isinstance(param, ParameterOption):
                names |= param.names()
        ctx.token_normalize_func = lambda name: names.get(name, name)
        for word in args:
            if "\0" in word:
                raise click.UsageError(
                    f"{_on_one_line(word)!r} has a null byte, which no name can have; type it again"
                )
        return super().parse_args(ctx, args)

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the options, in groups where there are many."""
        write_options(self, ctx, formatter)

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command; an error becomes a line on standard error, and JSON if asked for."""
        for stream in (sys.stdout, sys.stderr):  # a name must not fail for a terminal's encoding
            if isinstance(stream, io.TextIOWrapper):
                stream.reconfigure(errors="backslashreplace")
        if threading.current_thread() is threading.main_thread():
            # So that what was started is ended, and scratch folders go.
            signal.signal(signal.SIGTERM, lambda *_: sys.exit(_TERMINATED))
        try:
            # Where numbers may leave their range, the code says so itself; elsewhere a result that
            # is infinite or not a number would go on into a model or a figure.
            with _short_warnings(), np.errstate(over="raise", divide="raise", invalid="raise"):
                check_paths(self, ctx.params)
                return super().invoke(ctx)
        except (BrokenPipeError, click.ClickException, click.exceptions.Exit, click.Abort):
            raise  # the reader has seen enough, or click has a sentence; it knows what to do
        except Exception as error:
            found = _refusal(error)
            if found is None and os.environ.get(TRACEBACK_VARIABLE):
                raise
            self._fail(ctx, *(found or (_bug(error), BUG_EXIT_CODE)))

    @staticmethod
    def _fail(ctx: click.Context, sentence: str, exit_code: int) -> None:
        sentence = _on_one_line(sentence)
        if ctx.params.get("as_json") and not ctx.meta.get(_PRINTED):
            with suppress(OSError):  # the output may be what is wrong
                click.echo(json.dumps({"error": sentence}))
        click.echo(f"error: {sentence}", err=True)
        ctx.exit(exit_code)


class Unavailable(Command):
    """A command some library of which is not installed: it says which, whatever it is given."""

    def __init__(self, name: str, sentence: str) -> None:
        def refuse(**_: Any) -> None:
            raise InputError(sentence)

        rest = click.Argument(["words"], nargs=-1, type=click.UNPROCESSED)
        settings = {"ignore_unknown_options": True}
        super().__init__(name, settings, refuse, [rest], help=f"Not available: {sentence}.")
        json_option(self)


def _refusal(error: Exception) -> tuple[str, int] | None:
    """Return the sentence and the exit code of an error that the input is the cause of."""
    if isinstance(error, ProtoNNEdgeError):
        return str(error), error.exit_code
    if isinstance(error, ImportError) and (sentence := sentence_of(error)):
        return sentence, InputError.exit_code
    if isinstance(error, OSError):
        name, reason = error.filename or "the output", error.strerror or str(error)
        return f"cannot use {name}: {reason}; choose another", InputError.exit_code
    if isinstance(error, MemoryError):
        sentence = "this needs more memory than there is; try fewer --prototypes or points"
        return sentence, InputError.exit_code
    if isinstance(error, FloatingPointError):
        sentence = (
            f"a number of the input or of an option is too large or too small to compute with "
            f"({error}); rescale the data, or choose values nearer to the defaults"
        )
        return sentence, InputError.exit_code
    return None


def _bug(error: Exception) -> str:
    words = shortened(" ".join(f"{type(error).__name__}: {error}".split()), 200)
    return (
        f"this is a bug of protonn-edge ({words}); please report it with what the same command "
        f"prints if {TRACEBACK_VARIABLE}=1 is set"
    )


@contextmanager
def _short_warnings() -> Iterator[None]:
    """Show a library's warnings as a sentence, without its place in the source."""
    with warnings.catch_warnings():
        warnings.showwarning = lambda message, *_, **__: click.echo(f"warning: {message}", err=True)
        yield


def _on_one_line(sentence: str) -> str:
    """Return a sentence whose names, which may be anything, are shortened and printable."""
    shown = "".join(c if c.isprintable() else repr(c)[1:-1] for c in sentence)
    half = _WORD_LIMIT // 2
    return re.sub(
        rf"\S{{{_WORD_LIMIT},}}", lambda word: f"{word[0][:half]}...{word[0][-half:]}", shown
    )


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
        self._notices: list[Notice] | None = None
        self._unsaid: list[Notice] = []

    def notice(self, notices: Iterable[Notice]) -> None:
        """Keep what was noticed about data for the JSON object, and print it on standard error.

        It is printed before the next thing that is said, so that what is refused meanwhile stays
        one sentence.
        """
        new = list(notices)
        self._notices = [*(self._notices or ()), *new]
        self._unsaid += new

    def _say_notices(self) -> None:
        for notice in self._unsaid:
            self._progress.print(_on_one_line(str(notice)), markup=False, soft_wrap=True)
        self._unsaid = []

    def say(self, *parts: RenderableType) -> None:
        """Print sentences and tables for people."""
        self._say_notices()
        for part in parts:
            if isinstance(part, str):  # a path in a sentence is neither markup nor to be folded
                self._text.print(part, markup=False, soft_wrap=True)
            else:
                self._text.print(part)

    def finish(self, record: Mapping[str, Any], failure: ProtoNNEdgeError | None = None) -> None:
        """Print the command's JSON object, if it was asked for, and raise `failure` if given.

        A check that fails does not take the figures away: they are in the object, with the
        sentence as its field "error". What was noticed about data is its field "notices".
        """
        self._say_notices()
        if self._as_json:
            more: dict[str, Any] = {} if failure is None else {"error": str(failure)}
            if self._notices is not None:
                more["notices"] = [notice.to_json() for notice in self._notices]
            click.echo(json.dumps({**record, **more}, allow_nan=False))
            click.get_current_context().meta[_PRINTED] = True
        if failure is not None:
            raise failure

    @contextmanager
    def progress(self, description: str, total: int) -> Iterator[ProgressBar]:
        """Show a progress bar on standard error while something takes its time."""
        columns = (
            TextColumn("{task.description}", markup=False),
            BarColumn(),
            MofNCompleteColumn(),
            TimeRemainingColumn(),
            TextColumn("{task.fields[note]}", markup=False),
        )
        hidden = not self._progress.is_terminal
        with Progress(*columns, console=self._progress, transient=True, disable=hidden) as progress:
            task = progress.add_task(description, total=total, note="")
            yield ProgressBar(progress, task)

    @contextmanager
    def status(self, description: str) -> Iterator[None]:
        """Say on standard error what is going on when there is nothing to count."""
        with self._progress.status(escape(description)):
            yield


class ProgressBar:
    """One bar, to be moved on by whatever it is about."""

    def __init__(self, progress: Progress, task: TaskID) -> None:
        self._progress = progress
        self._task = task
        self.done = 0

    def advance(self) -> None:
        """Move on by one."""
        self.done += 1
        self._progress.update(self._task, completed=self.done)

    def move_to(
        self, completed: int, note: str, *, description: str | None = None, total: int | None = None
    ) -> None:
        """Move to a number of things done, perhaps of others, with a few words behind the bar."""
        self._progress.update(
            self._task, completed=completed, note=note, description=description, total=total
        )
