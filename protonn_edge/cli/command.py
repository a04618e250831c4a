"""The common part of all commands: options, help, printing results, and exiting on errors.

An option is the default of a parameter: of a command's function, or of a dataclass of options.
"""

from __future__ import annotations

import io
import json
import os
import re
import sys
import warnings
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, suppress
from dataclasses import asdict, dataclass, fields, replace
from functools import cache
from inspect import cleandoc, signature
from itertools import product
from typing import IO, TYPE_CHECKING, Any, TextIO

import click
import numpy as np

from protonn_edge.cli.additions import added_to
from protonn_edge.cli.foreign_errors import bug, sentence_about
from protonn_edge.cli.option_groups import GROUPS, group_of, row
from protonn_edge.cli.paths import check_paths, shown_name
from protonn_edge.cli.stopping import heeding_signals
from protonn_edge.model.rule_kinds import options_of_rules
from protonn_edge.system.errors import (
    InputError,
    Interrupted,
    ProtoNNEdgeError,
    printable,
    shortened,
)
from protonn_edge.system.schema import JsonObject

if TYPE_CHECKING:
    from rich.console import RenderableType

    from protonn_edge.cli.progress import ProgressBar
    from protonn_edge.data.naming import Notice
    from protonn_edge.system.extensions import AddedOptions

_WORD_LIMIT = 300  # characters of a file name in an error
_PRINTED = f"{__name__}.printed"  # in a context's meta: the JSON object was printed

_FEW = 20  # options in one list

BUG_EXIT_CODE = 70
"""Exit code for a bug of this package: EX_SOFTWARE of BSD's sysexits.h."""

TRACEBACK_VARIABLE = "PROTONN_EDGE_TRACEBACK"
"""If this environment variable is set, a command that fails because of a bug prints a traceback."""


@dataclass(frozen=True)
class Declared:
    """The options, or the argument, that give a parameter of a command its value."""

    # by the parameter's name: what click parses, and the value of the parsed text
    parameters: Callable[[str], list[click.Parameter]]
    value: Callable[[str, Mapping[str, Any]], Any]
    # the same with the options of extensions and of other kinds of classifiers, if there are some
    extended: Callable[[], Declared] | None = None

    @property
    def whole(self) -> Declared:
        """The same with all of these options."""
        return self if self.extended is None else self.extended()


class _Option(click.Option):
    """An option in a group of the help, with other names, for which a message suggests it."""

    group: str = ""
    also: Sequence[str] = ()


def option(
    text: str | None,
    kind: object = None,
    *,
    flag: str = "",
    shown: object = None,
    group: str = "",
    also: Sequence[str] = (),
    **settings: Any,
) -> Any:
    """Declare an option, as the default of the parameter of a command.

    - `text`: its help.
    - `kind`: its type; by default that of its default value, else a text.
    - `flag`: its name; by default the parameter's, with -o for an output.
    - `shown`: its default value, which the help shows.
    - `group`: the title of its group in the help, if it is not in the table of groups.
    - `also`: what other programs and commands call it, without hyphens.
    - `**settings`: of `click.Option`.
    """
    if shown is not None:
        settings |= {"default": shown, "show_default": True}

    def parameters(name: str) -> list[click.Parameter]:
        flags = ["-o"] if name == "output" else []
        flags.append(flag or f"--{name.replace('_', '-')}")
        made = _Option([*flags, name], type=kind, help=text, **settings)
        made.group, made.also = group, also
        return [made]

    return Declared(parameters, lambda name, given: given[name])


def argument(kind: object, **settings: Any) -> Any:
    """Declare an argument; like `option`."""
    return Declared(
        lambda name: [click.Argument([name], type=kind, **settings)],
        lambda name, given: given[name],
    )


def together(make: Callable[..., object], parts: Mapping[str, Declared]) -> Any:
    """Declare a value that a function makes of several options, named as its parameters."""
    return Declared(
        lambda _: [each for name, part in parts.items() for each in part.parameters(name)],
        lambda _, given: make(**{name: part.value(name, given) for name, part in parts.items()}),
        (lambda: together(make, {name: part.whole for name, part in parts.items()}))
        if any(part.extended for part in parts.values())
        else None,
    )


def options_of(kind: type[Any]) -> Any:
    """Declare an object of a dataclass that has declared options as its fields' defaults."""
    parts: dict[str, Any] = {each.name: each.default for each in fields(kind)}
    return together(kind, parts)


def additions(name: str) -> Any:
    """Declare what rules add to a command, and extensions: a list of objects with their options."""

    def listed(kinds: Mapping[str, type[Any]]) -> Any:
        parts = {extension: options_of(kind) for extension, kind in kinds.items()}
        return together(lambda **added: list(added.values()), parts)

    return replace(listed(options_of_rules(name)), extended=lambda: listed(added_to(name)))


def command(
    name: str,
    kind: type[Command] | None = None,
    *,
    needs: Mapping[str, str] | None = None,
    apart: Mapping[str, str] | None = None,
    examples: Sequence[str] = (),
) -> Callable[[Callable[..., None]], Command]:
    """Return a decorator that makes a command of a function with declared parameters.

    - `needs`: options, such as "--hop --votes", without effect unless one of others is given
    - `apart`: options that cannot be used together with any of others
    - `examples`: arguments after the command's name; the first is the most common use

    Another option may have a value, as in "--classifier=best", or be an argument, as in "data".
    """

    def of(declared: Declared, added: Collection[type[AddedOptions]], help_text: str) -> Command:
        shown = (*examples, *(example for each in added for example in each.EXAMPLES))
        lines = [f"  protonn-edge {name} {words}".rstrip() for words in shown]
        made = (kind or Command)(
            name,
            params=declared.parameters(name),
            callback=lambda **given: declared.value(name, given),
            help=help_text,
            epilog="\n".join(["\b", "Examples:" if len(shown) > 1 else "Example:", *lines]),
        )
        # The rules of added options come first, since they say more: an added option may need
        # another one, which excludes an option of the command.
        every = *(each.NEEDS for each in added), needs or {}
        made.needs = {flags: others for rules in every for flags, others in rules.items()}
        every = *(each.APART for each in added), apart or {}
        made.apart = {flags: others for rules in every for flags, others in rules.items()}
        made.examples = shown
        return made

    def decorated(function: Callable[..., None]) -> Command:
        parts = {each.name: each.default for each in signature(function).parameters.values()}
        declared, text = together(function, parts), cleandoc(function.__doc__ or "")
        made = of(declared, options_of_rules(name).values(), text)
        if declared.extended is not None:
            made.extend = cache(lambda: of(declared.whole, added_to(name).values(), text))
        return made

    return decorated


class Command(click.Command):
    """A command that ends in one sentence and the right exit code for any input."""

    needs: Mapping[str, str] = {}
    apart: Mapping[str, str] = {}
    examples: Sequence[str] = ()
    # returns the command with the options of extensions, which are imported for it
    extend: Callable[[], Command] | None = None
    asks_always = False  # whether extensions add to it without a word, too

    @property
    def extended(self) -> Command:
        """The command with the options of extensions, and of all kinds of classifiers."""
        return self if self.extend is None else self.extend()

    def for_words(self, words: Sequence[str]) -> Command:
        """Return the command that can read these words: extended if an option is not its own."""
        own = {flag for each in self.params for flag in (*each.opts, *each.secondary_opts)}
        options = {word.partition("=")[0] for word in words if word.startswith("-")}
        return self if options <= own and not self.asks_always else self.extended

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse the command line; what cannot be read is one sentence with what is meant."""
        for word in args:
            if "\0" in word:
                raise click.UsageError(
                    f"{word!r} contains a null byte, which no argument can have; type the "
                    "argument again"
                )
        try:
            return super().parse_args(ctx, [*args])
        except click.UsageError as error:
            from protonn_edge.cli.misread import explained  # seldom needed

            ctx.command = self.extended  # whose options may be meant
            raise click.UsageError(explained(error, ctx, args, self.examples), ctx) from error

    def _check_combined(self, ctx: click.Context) -> None:
        """Raise `InputError` by the first row of `apart` or `needs` that applies."""
        given = set[str]()
        shown = {each.opts[0]: shown_name(each) for each in self.params}
        for param in self.params:
            value = ctx.params.get(str(param.name))
            if value is not None and value is not False and value not in ((), param.default):
                given |= {*param.opts, *(f"{flag}={value}" for flag in param.opts)}
        closed = set[str]()
        for flags, others in self.apart.items():
            for pair in product(flags.split(), others.split()):
                closed.update(set(pair) - given if given.intersection(pair) else ())
                if given.issuperset(pair):
                    both = " and ".join(shown.get(name, name) for name in pair)
                    raise InputError(f"{both} cannot be used together; give only one of them")
        for flags, others in self.needs.items():
            for flag in flags.split():
                if flag in given and given.isdisjoint(others.split()):
                    needed = " or ".join(shown.get(name, name) for name in others.split())
                    give = f"give {needed}, too, or " * (not closed.issuperset(others.split()))
                    raise InputError(f"{flag} works only with {needed}; {give}omit {flag}")

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the options, in groups if there are many."""
        options = [each for each in self.get_params(ctx) if isinstance(each, click.Option)]
        shown = [(each, record) for each in options if (record := each.get_help_record(ctx))]
        if len(shown) <= _FEW:
            with formatter.section("Options"):
                formatter.write_dl([record for _, record in shown])
            return
        grouped: dict[str, list[tuple[str, str]]] = {}
        for each, _ in shown:
            grouped.setdefault(group_of(each), []).append(row(each, ctx))
        for title in [title for title, rows in grouped.items() if len(rows) == 1 and title]:
            grouped.setdefault("", []).extend(grouped.pop(title))  # one row needs no title
        for title in dict.fromkeys((*GROUPS, *filter(None, grouped), "")):
            if title in grouped:
                with formatter.section(title or "Other options"):
                    formatter.write_dl(grouped[title])

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command; raise what ends it as `Failed`."""
        for stream in (sys.stdout, sys.stderr):  # names print in any encoding
            if isinstance(stream, io.TextIOWrapper):
                stream.reconfigure(errors="backslashreplace")

        def failed(sentence: str, exit_code: int) -> Failed:
            as_json = bool(ctx.params.get("as_json")) and _PRINTED not in ctx.meta
            return Failed(sentence, exit_code, as_json=as_json)

        def stopped() -> Failed:
            return failed(str(Interrupted()), Interrupted.exit_code)

        try:
            # Code that may overflow handles it itself; anywhere else an infinity or NaN would
            # silently end up in a model or a figure.
            errors = np.errstate(over="raise", divide="raise", invalid="raise")
            with warnings.catch_warnings(), errors, heeding_signals(stopped, self.name):
                # A library's warning is one sentence, without the source line.
                warnings.showwarning = lambda warning, *_, **__: click.echo(
                    f"warning: {warning}", err=True
                )
                self._check_combined(ctx)
                check_paths(self, ctx.params)
                return super().invoke(ctx)
        except KeyboardInterrupt as error:
            raise stopped() from error
        except (BrokenPipeError, click.ClickException, click.exceptions.Exit, click.Abort):
            raise  # the reader closed the pipe, or it has a sentence already
        except Exception as error:
            refusal = _refusal(error)
            if refusal is None and os.environ.get(TRACEBACK_VARIABLE):
                raise
            raise failed(*(refusal or (bug(error, TRACEBACK_VARIABLE), BUG_EXIT_CODE))) from error


class Failed(click.ClickException):
    """The end of a command, by one sentence and an exit code."""

    def __init__(self, sentence: str, exit_code: int, *, as_json: bool) -> None:
        super().__init__(_on_one_line(sentence))
        self.exit_code = exit_code  # type: ignore[misc]
        self._as_json = as_json

    def show(self, _file: IO[Any] | None = None) -> None:
        """Print the sentence on standard error and, if wanted, a JSON object."""
        if self._as_json:
            with suppress(OSError):  # the output itself may have failed
                click.echo(json.dumps(verdict(self.message)))
        click.echo(f"error: {self.message}", err=True)


def _refusal(error: Exception) -> tuple[str, int] | None:
    """Return the sentence and the exit code of an error caused by the input."""
    if isinstance(error, ProtoNNEdgeError):
        return str(error), error.exit_code
    sentence = sentence_about(error)
    return None if sentence is None else (sentence, InputError.exit_code)


def _on_one_line(sentence: str) -> str:
    """Return the sentence with long names shortened and unprintable characters escaped."""
    return re.sub(
        rf"\S{{{_WORD_LIMIT},}}", lambda word: shortened(word[0], _WORD_LIMIT), printable(sentence)
    )


def verdict(error: str | None = None) -> JsonObject:
    """Return the first entries of every JSON object: whether all went well, else the error."""
    return {"ok": True} if error is None else {"ok": False, "error": error}


def is_terminal(stream: TextIO | None) -> bool:
    """Return whether a standard stream, None if it is closed, is a terminal."""
    return stream is not None and stream.isatty()


class Output:
    """Where a command prints: text, or the JSON object, with the text on standard error."""

    def __init__(self, as_json: bool) -> None:
        from rich.console import Console

        self._as_json = as_json
        stream = sys.stderr if as_json else sys.stdout
        piped = not is_terminal(stream) and "COLUMNS" not in os.environ
        self._text = Console(stderr=as_json, highlight=False, width=10_000 if piped else None)
        self._progress = Console(stderr=True, highlight=False)
        self._notices: list[Notice] | None = None
        self._unsaid: list[Notice] = []

    def notice(self, notices: Iterable[Notice]) -> None:
        """Record warnings about the data for the JSON object; print them before the next text."""
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

    def finish(self, record: Mapping[str, object], failure: ProtoNNEdgeError | None = None) -> None:
        """Print the JSON object with --json, which includes `failure`, and raise that."""
        self._say_notices()
        if self._as_json:
            whole = verdict(None if failure is None else str(failure)) | dict(record)
            if self._notices is not None:
                whole["notices"] = [asdict(notice) for notice in self._notices]
            click.echo(json.dumps(whole, allow_nan=False))
            click.get_current_context().meta[_PRINTED] = True
        if failure is not None:
            raise failure

    def progress(self, description: str, total: int) -> AbstractContextManager[ProgressBar]:
        """Show a progress bar on standard error during a long operation."""
        from protonn_edge.cli.progress import progress_bar

        return progress_bar(self._progress, description, total)

    def status(self, description: str) -> AbstractContextManager[None]:
        """Show on standard error which task is running, if it has nothing to count."""
        from protonn_edge.cli.progress import progress_status

        return progress_status(self._progress, description)


OUTPUT = together(
    Output,
    {"as_json": option("Print one JSON object on standard output.", flag="--json", is_flag=True)},
)
"""Where a command prints, by its option --json."""


class Unavailable(Command):
    """A command without its library: for any arguments, it reports the missing one."""

    def __init__(self, name: str, sentence: str) -> None:
        def refuse(**_: object) -> None:
            raise InputError(sentence)

        rest = click.Argument(["words"], nargs=-1, type=click.UNPROCESSED)
        settings = {"ignore_unknown_options": True}
        params = [rest, *OUTPUT.parameters("out")]
        super().__init__(name, settings, refuse, params, help=f"Not available: {sentence}.")
