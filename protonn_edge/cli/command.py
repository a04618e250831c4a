"""What all commands share: printing results, and exiting on errors."""

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
from typing import TYPE_CHECKING, Any

import click
import numpy as np
from click.shell_completion import CompletionItem
from rich.console import Console, RenderableType
from rich.markup import escape

from protonn_edge.boards import board_names
from protonn_edge.cli.option_groups import write_options
from protonn_edge.cli.paths import NameOrPath, check_paths
from protonn_edge.errors import InputError, Interrupted, ProtoNNEdgeError, shortened
from protonn_edge.quantization import PRECISIONS
from protonn_edge.system.lazy import sentence_of

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

    from protonn_edge.datasets import Notice

json_option = click.option(
    "--json", "as_json", is_flag=True, help="Print one JSON object on standard output."
)


class BoardType(NameOrPath):
    """A board's name, or the path of a board file; shell completion offers both."""

    def shell_complete(
        self,
        ctx: click.Context,  # noqa: ARG002  (click's signature)
        param: click.Parameter,  # noqa: ARG002
        incomplete: str,
    ) -> list[CompletionItem]:
        """Return the matching board names; the shell completes files if there are none."""
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
    help="The board, real or emulated; a .toml file describes a custom board.",
)


port_option = click.option(
    "--port",
    help="The board's serial port, such as /dev/ttyACM0 or COM3.  [default: detected by its USB "
    "identity]",
)

_WORD_LIMIT = 300  # characters of a file name in an error
_TERMINATED = 128 + signal.SIGTERM  # the exit code that shells report
_PRINTED = f"{__name__}.printed"  # in a context's meta: the JSON object was printed

BUG_EXIT_CODE = 70
"""Exit code for a bug of this package: EX_SOFTWARE of BSD's sysexits.h."""

TRACEBACK_VARIABLE = "PROTONN_EDGE_TRACEBACK"
"""The environment variable that, if set, prints the traceback of a bug."""


precision_option = click.option(
    "--precision",
    type=click.Choice(PRECISIONS),
    default=PRECISIONS[0],
    show_default=True,
    help="Number format of W, B and Z on the device; float32 is for comparison.",
)


class FiniteRange(click.FloatRange):
    """A range of finite numbers: `click.FloatRange` accepts "nan"."""

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> float:
        """Return the number, or fail like `click.FloatRange`."""
        number: float = super().convert(value, param, ctx)
        if not math.isfinite(number):
            self.fail(f"{value} is not a finite number.", param, ctx)
        return number

    def _describe_range(self) -> str:
        """Return the range for the help text, with limits such as 1e+06."""
        low, high = (None if end is None else f"{end:g}" for end in (self.min, self.max))
        left = "" if low is None else f"{low}{'<' if self.min_open else '<='}"
        right = "" if high is None else f"{'<' if self.max_open else '<='}{high}"
        return f"{left}x{right}"


class Command(click.Command):
    """A command that ends in one sentence and the right exit code for any input."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse the command line; refuse null bytes, which no file name can have."""
        for word in args:
            if "\0" in word:
                raise click.UsageError(
                    f"{_on_one_line(word)!r} contains a null byte, which no name can have; type it "
                    "again"
                )
        return super().parse_args(ctx, args)

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the options, in groups if there are many."""
        write_options(self, ctx, formatter)

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command; print an error on standard error, and as JSON with --json."""
        for stream in (sys.stdout, sys.stderr):  # names print in any encoding
            if isinstance(stream, io.TextIOWrapper):
                stream.reconfigure(errors="backslashreplace")
        if threading.current_thread() is threading.main_thread():
            # So that child processes are ended and scratch folders removed.
            signal.signal(signal.SIGTERM, lambda *_: sys.exit(_TERMINATED))
        try:
            # Code that may overflow handles it itself; anywhere else an infinity or NaN would
            # silently end up in a model or a figure.
            with _short_warnings(), np.errstate(over="raise", divide="raise", invalid="raise"):
                check_paths(self, ctx.params)
                return super().invoke(ctx)
        except KeyboardInterrupt:
            stopped = Interrupted()
            self._fail(ctx, str(stopped), stopped.exit_code)
        except (BrokenPipeError, click.ClickException, click.exceptions.Exit, click.Abort):
            raise  # the reader closed the pipe, or click prints its own message
        except Exception as error:
            found = _refusal(error)
            if found is None and os.environ.get(TRACEBACK_VARIABLE):
                raise
            self._fail(ctx, *(found or (_bug(error), BUG_EXIT_CODE)))

    @staticmethod
    def _fail(ctx: click.Context, sentence: str, exit_code: int) -> None:
        sentence = _on_one_line(sentence)
        if ctx.params.get("as_json") and not ctx.meta.get(_PRINTED):
            with suppress(OSError):  # the output itself may have failed
                click.echo(json.dumps({"error": sentence}))
        click.echo(f"error: {sentence}", err=True)
        ctx.exit(exit_code)


class Unavailable(Command):
    """A command whose library is not installed: it reports which one, for any arguments."""

    def __init__(self, name: str, sentence: str) -> None:
        def refuse(**_: Any) -> None:
            raise InputError(sentence)

        rest = click.Argument(["words"], nargs=-1, type=click.UNPROCESSED)
        settings = {"ignore_unknown_options": True}
        super().__init__(name, settings, refuse, [rest], help=f"Not available: {sentence}.")
        json_option(self)


def _refusal(error: Exception) -> tuple[str, int] | None:
    """Return the sentence and the exit code of an error caused by the input."""
    if isinstance(error, ProtoNNEdgeError):
        return str(error), error.exit_code
    if isinstance(error, ImportError) and (sentence := sentence_of(error)):
        return sentence, InputError.exit_code
    if isinstance(error, OSError):
        name, reason = error.filename or "the output", error.strerror or str(error)
        return f"cannot use {name}: {reason}; choose another", InputError.exit_code
    if isinstance(error, MemoryError):
        sentence = "this needs more memory than is available; try fewer --prototypes or points"
        return sentence, InputError.exit_code
    if isinstance(error, FloatingPointError):
        sentence = (
            "a number in the input or an option is too large or too small to compute with "
            f"({error}); rescale the data, or choose values closer to the defaults"
        )
        return sentence, InputError.exit_code
    return None


def _bug(error: Exception) -> str:
    words = shortened(" ".join(f"{type(error).__name__}: {error}".split()), 200)
    return (
        f"this is a bug in protonn-edge ({words}); please report it with the output of the same "
        f"command when {TRACEBACK_VARIABLE}=1 is set"
    )


@contextmanager
def _short_warnings() -> Iterator[None]:
    """Show a library's warnings as one sentence, without the source line."""
    with warnings.catch_warnings():
        warnings.showwarning = lambda message, *_, **__: click.echo(f"warning: {message}", err=True)
        yield


def _on_one_line(sentence: str) -> str:
    """Return the sentence with long names shortened and unprintable characters escaped."""
    shown = "".join(c if c.isprintable() else repr(c)[1:-1] for c in sentence)
    half = _WORD_LIMIT // 2
    return re.sub(
        rf"\S{{{_WORD_LIMIT},}}", lambda word: f"{word[0][:half]}...{word[0][-half:]}", shown
    )


class Output:
    """Where a command prints: text to one stream, the JSON object to the other.

    - `as_json`: if true, only the JSON object goes to standard output, and text to standard error.
    """

    def __init__(self, as_json: bool) -> None:
        self._as_json = as_json
        self._text = Console(stderr=as_json, highlight=False)
        self._progress = Console(stderr=True, highlight=False)
        self._notices: list[Notice] | None = None
        self._unsaid: list[Notice] = []

    def notice(self, notices: Iterable[Notice]) -> None:
        """Record warnings about the data for the JSON object, and print them on standard error.

        They are printed before the next text, so that an error in between remains a single
        sentence.
        """
        new = list(notices)
        self._notices = [*(self._notices or ()), *new]
        self._unsaid += new

    def _say_notices(self) -> None:
        for notice in self._unsaid:
            self.remark(str(notice))
        self._unsaid = []

    def remark(self, sentence: str) -> None:
        """Print a sentence on standard error, above a progress bar if there is one."""
        self._progress.print(_on_one_line(sentence), markup=False, soft_wrap=True)

    def say(self, *parts: RenderableType) -> None:
        """Print sentences and tables."""
        self._say_notices()
        for part in parts:
            if isinstance(part, str):  # paths are not markup and must not be wrapped
                self._text.print(part, markup=False, soft_wrap=True)
            else:
                self._text.print(part)

    def finish(self, record: Mapping[str, Any], failure: ProtoNNEdgeError | None = None) -> None:
        """Print the command's JSON object with --json, and raise `failure` if given.

        If a check fails, the object still has the figures, and the sentence in its field "error".
        Warnings about the data are in its field "notices".
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
        """Show a progress bar on standard error during a long operation."""
        from rich.progress import (  # noqa: PLC0415 - few commands have one
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
        hidden = not self._progress.is_terminal
        with Progress(*columns, console=self._progress, transient=True, disable=hidden) as progress:
            task = progress.add_task(description, total=total, note="")
            yield ProgressBar(progress, task)

    @contextmanager
    def status(self, description: str) -> Iterator[None]:
        """Show on standard error what is running when there is nothing to count."""
        with self._progress.status(escape(description)):
            yield


class ProgressBar:
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
        """Set the number of things done, optionally a new total, and a note behind the bar."""
        self._progress.update(
            self._task, completed=completed, note=note, description=description, total=total
        )
