"""The command line: one thin module per command, which is loaded when it is used."""

from __future__ import annotations

import gc
import os
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.shell_completion import CompletionItem

from protonn_edge import __version__
from protonn_edge.system.errors import InputError
from protonn_edge.system.extensions import folders_in_packages
from protonn_edge.system.rounding import fix_rounding
from protonn_edge.system.wording import COMMAND_LINE, speaking

if TYPE_CHECKING:
    from protonn_edge.cli.command import Command

_ORDER = (
    *(
        "demo",
        "studio",
        "data",
        "speak",
        "record",
        "takes",
        "windows",
        "train",
        "tune",
        "convert",
        "inspect",
        "predict",
    ),
    *("build", "upload", "monitor", "export", "verify", "hil", "report", "emulate"),
)
"""The order of work, in which commands are listed; those that are not named here come last."""


def _commands() -> Iterator[tuple[str, str, str]]:
    """Yield the names of commands, their modules, and, by the first lines of these, their work."""
    here = (__name__, Path(__file__).parent)
    for package, folder in (here, *folders_in_packages("commands")):
        for path in folder.glob("*.py"):
            with path.open(encoding="utf-8") as lines:
                first = lines.readline()
            if summary := re.match(rf'"""``protonn-edge {path.stem}``: (.*?)\.?(?:""")?$', first):
                yield path.stem, f"{package}.{path.stem}", summary[1]


_PLACES = {name: place for place, name in enumerate(_ORDER)}
_FOUND = sorted(_commands(), key=lambda found: (_PLACES.get(found[0], 99), found[0]))

COMMANDS = {name: summary for name, _, summary in _FOUND}
"""What each command does, by its name.

A command is a module that its first line describes, here or in a folder `commands` of an extension.
"""

MODULES = {name: module for name, module, _ in _FOUND}
"""The module of each command."""


class _Commands(click.Group):
    """A group that imports a command's module when the command is called."""

    def list_commands(self, _ctx: click.Context) -> list[str]:
        """Return the names of all commands."""
        return list(COMMANDS)

    def get_command(self, _ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return the command of this name, or None if there is none."""
        if cmd_name not in COMMANDS:
            return None
        command = _imported(cmd_name).extended
        command.short_help = COMMANDS[cmd_name]
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Return the command that is called; suggest one like it if there is none."""
        name, *words = args
        if name in COMMANDS:
            command = _imported(name)
            completes = ctx.resilient_parsing
            return name, command.extended if completes else command.for_words(words), words
        if not ctx.resilient_parsing:
            from protonn_edge.cli.misread import of_command

            ctx.fail(of_command(args, COMMANDS))
        return None, None, words

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse the options in front of a command; those of a command belong behind its name."""
        try:
            return super().parse_args(ctx, [*args])
        except click.NoSuchOption:
            from protonn_edge.cli.misread import of_command

            ctx.fail(of_command(args, COMMANDS))

    def main(self, *arguments: Any, **settings: Any) -> Any:
        """Run the command line; an error is one sentence, and with --json an object, too."""
        args = settings.pop("args", arguments[0] if arguments else None)
        words = sys.argv[1:] if args is None else [*args]
        try:
            with speaking(COMMAND_LINE):
                sys.exit(super().main(words, **settings, standalone_mode=False))
        except click.ClickException as error:
            failed = _failed(error, as_json="--json" in words)
        except OSError as error:
            printed = f"cannot print the help text: {error.strerror}; redirect the output"
            failed = _failed(click.UsageError(printed), as_json=False)
        failed.show()
        sys.exit(failed.exit_code)

    def format_commands(self, _ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the purpose of each command, in the order of work, without importing any."""
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """Return matching commands and options, without importing any."""
        begun = [name for name in COMMANDS if name.startswith(incomplete)]
        options = click.Command.shell_complete(self, ctx, incomplete)
        return [*(CompletionItem(name, help=COMMANDS[name]) for name in begun), *options]


def _failed(error: click.ClickException, *, as_json: bool) -> click.ClickException:
    """Return an error that shows one sentence, with `as_json` an object on standard output, too."""
    from protonn_edge.cli.command import Failed  # it imports NumPy
    from protonn_edge.cli.misread import sentence_of

    if isinstance(error, Failed):
        return error
    return Failed(sentence_of(error), error.exit_code, as_json=as_json)


@contextmanager
def _uncollected(module: str) -> Iterator[None]:
    """Import a module without looking for garbage among all others, which takes a fifth longer."""
    if module in sys.modules:
        yield
        return
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()  # modules stay
        gc.enable()


def _imported(name: str) -> Command:
    """Return a command; one that reports it, if a library or a part of an extension is missing."""
    # Starting NumPy's threads takes a quarter of the CPU time of a command such as 'inspect', and
    # training uses one anyway.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    fix_rounding()
    try:
        with _uncollected(MODULES[name]):
            command: Command = getattr(import_module(MODULES[name]), f"{name}_command")
    except (ImportError, InputError) as error:
        from protonn_edge.cli.command import Unavailable  # it imports NumPy
        from protonn_edge.system.lazy import sentence_of

        sentence = str(error) if isinstance(error, InputError) else sentence_of(error)
        if sentence is None:
            raise
        return Unavailable(name, sentence)
    return command


@click.group(
    cls=_Commands,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.version_option(__version__, prog_name="protonn-edge")
def main() -> None:
    """Train classifiers, run them on 8-bit microcontrollers, and measure them.

    With --json, a command prints JSON on standard output, and text on standard error. Exit codes: 0
    done, 1 a check failed, 2 bad input or usage, 70 a bug in protonn-edge (set
    PROTONN_EDGE_TRACEBACK=1 to print the traceback), 130 stopped by Ctrl-C.
    """
