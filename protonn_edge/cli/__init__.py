"""The command line: one thin module per command, which is loaded when it is used."""

from __future__ import annotations

import gc
import json
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import Any

import click
from click.shell_completion import CompletionItem

from protonn_edge import __version__
from protonn_edge.errors import Interrupted
from protonn_edge.system.rounding import fix_rounding

COMMANDS = {
    "demo": "Run a complete example on included data",
    "data": "Examine a data file before you train on it",
    "logger": "Write firmware that samples a sensor at a steady rate",
    "record": "Record labelled samples of a sensor in a table",
    "windows": "Cut a recording into windows for 'train'",
    "train": "Train a model from labelled data",
    "tune": "Search for the most accurate model that fits the board",
    "convert": "Convert models from and to the formats of other programs",
    "calibrate": "Adapt a model's answers to points that it was not trained on",
    "inspect": "Show the contents of a model, in floats and in integers",
    "predict": "Classify points on this computer",
    "build": "Build a model's firmware and check that it fits the board",
    "upload": "Upload a project's firmware to the board",
    "monitor": "Show the classes that a board recognizes with its sensor",
    "health": "Check that a board's answers look as expected",
    "export": "Export a model as an Arduino or PlatformIO library, or as C",
    "verify": "Check that NumPy, C and the board compute equal scores",
    "hil": "Measure accuracy, time and energy on a board",
    "meter": "Write the sketch of a power meter for 'hil'",
    "certify": "List the proven and measured properties of a build",
    "report": "Write an HTML report of the results of 'hil'",
    "emulate": "Run firmware on an emulated board",
    "boards": "List the boards, or check a board's file",
}
"""What each command does, by name, in the order of work; its module has the same name."""

_AS_JSON = f"{__name__}.as_json"  # in a context's meta: whether --json is given
EXAMPLES = {
    "demo": ["-o demo"],
    "data": ["train.csv --html train.html", "nuts.csv --label nut --delimiter semicolon"],
    "logger": ["--sensor mpu6050 --rate 100 -o logger"],
    "record": ["-o recording.csv --label rest --label wave --session anna"],
    "windows": ["recording.csv -o windows.npz --window 128 --stride 32 --test 0.3"],
    "train": [
        "train.csv -o model.npz",
        "train.csv -o small.npz --budget 2kB --groups person",
        "windows.npz -o model.npz --features mean,deviation,min,max,crossings,bands:4",
        "images.npz -o digits.npz --image-shape 28x28 --features deskew,gradients:4x4",
    ],
    "tune": [
        "train.csv -o model.npz --timeout 60",
        "train.csv -o model.npz --max-flash 8000 --max-latency-ms 1 --search search.jsonl",
    ],
    "convert": ["svm.skops --data train.csv -o model.npz"],
    "calibrate": ["model.npz calibration.csv --rejection 1% -o rejecting.npz"],
    "inspect": ["model.npz --data test.csv"],
    "predict": ["model.npz new.csv -o predicted.csv"],
    "build": ["model.npz", "model.npz --board nano --max-sram 400 --data test.csv --max-drop 0.5"],
    "upload": ["", "--port /dev/ttyACM0"],
    "monitor": ["--project live", "--emulate --sensor mpu6050=wave.csv"],
    "health": ["model.npz", "model.npz --port /dev/ttyACM0 --json"],
    "export": ["model.npz --arduino digits", "model.npz --c digits --data test.csv"],
    "verify": ["model.npz test.csv"],
    "hil": ["test.csv --emulate -o results.csv", "test.csv --port /dev/ttyACM0 -o results.csv"],
    "meter": ["-o meter"],
    "certify": [".", "library", "sketch.ino.elf", ". --check certificate.json"],
    "report": ["results.csv --data test.csv --open"],
    "emulate": [".pio/build/uno/firmware.elf --pty uno"],
    "boards": ["", "my_board.toml"],
}
"""Arguments after the command's name; the first is the most common use."""


class _Commands(click.Group):
    """A group that imports a command's module when the command is called."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002  (click's signature)
        """Return the names of all commands."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        """Return the command of this name, or None if there is none."""
        if cmd_name not in COMMANDS:
            return None
        command = _imported(cmd_name)
        lines = [f"  protonn-edge {cmd_name} {example}".rstrip() for example in EXAMPLES[cmd_name]]
        heading = "Examples:" if len(lines) > 1 else "Example:"
        command.short_help, command.epilog = COMMANDS[cmd_name], "\n".join(["\b", heading, *lines])
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Return the command that is called; suggest one like it if there is none."""
        if args[0] not in COMMANDS and not ctx.resilient_parsing:
            naming = import_module("protonn_edge.datasets.naming")  # slow, and seldom needed
            ctx.fail(f"No such command {args[0]!r}{naming.did_you_mean(args[0], COMMANDS) or '.'}")
        return super().resolve_command(ctx, args)

    def main(self, *arguments: Any, **settings: Any) -> Any:
        """Run the command line; a help text that cannot be printed is an error in one sentence."""
        try:
            return super().main(*arguments, **settings)
        except OSError as error:
            click.echo(
                f"error: cannot print the help text: {error.strerror}; redirect the output",
                err=True,
            )
            sys.exit(2)

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse the arguments before the command's name; remember whether --json follows."""
        ctx.meta[_AS_JSON] = "--json" in args
        return super().parse_args(ctx, args)

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command; Ctrl-C before it has begun ends as one while it runs."""
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            stopped = Interrupted()
            if ctx.meta[_AS_JSON]:
                click.echo(json.dumps({"error": str(stopped)}))
            click.echo(f"error: {stopped}", err=True)
            ctx.exit(stopped.exit_code)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        """Write the purpose of each command, in the order of work, without importing any."""
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """Return matching commands and options, without importing any."""
        begun = [name for name in COMMANDS if name.startswith(incomplete)]
        options = click.Command.shell_complete(self, ctx, incomplete)
        return [*(CompletionItem(name, help=COMMANDS[name]) for name in begun), *options]


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


def _imported(name: str) -> click.Command:
    """Return a command; if a library of an extra is missing, one that reports it."""
    # Starting NumPy's threads takes a quarter of the CPU time of a command such as 'inspect', and
    # training uses one anyway.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    fix_rounding()
    try:
        with _uncollected(f"{__name__}.{name}"):
            command: click.Command = getattr(import_module(f"{__name__}.{name}"), f"{name}_command")
    except ImportError as error:
        from protonn_edge.cli.command import Unavailable  # noqa: PLC0415 - it imports NumPy
        from protonn_edge.system.lazy import sentence_of  # noqa: PLC0415

        sentence = sentence_of(error)
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
