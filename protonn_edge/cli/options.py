"""Types of options, and the options that several commands have, each declared once."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

import click
from click.shell_completion import CompletionItem

from protonn_edge.cli.command import Declared, argument, option
from protonn_edge.cli.paths import MODEL, GivenPath, NameOrPath, OutputFile, PointsFile
from protonn_edge.system.errors import shortened

PATH = GivenPath()
FOLDER = GivenPath(file_okay=False)


class BoardType(NameOrPath):
    """A board's name, or the path of a board file; shell completion offers both."""

    def __init__(self, *, of_exports: bool = False) -> None:
        self._of_exports = of_exports

    def offered(self) -> list[str]:
        """Return the names of boards."""
        from protonn_edge.chips.boards import export_board_names, firmware_board_names

        return export_board_names() if self._of_exports else firmware_board_names()

    def get_metavar(self, param: click.Parameter, ctx: click.Context) -> str:  # noqa: ARG002
        """Return all names, for the help."""
        return f"[{'|'.join(self.offered())}|FILE.toml]"

    def shell_complete(
        self, _ctx: click.Context, _param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        """Return the matching board names; the shell completes files if there are none."""
        files = CompletionItem(incomplete, type="file")
        begun = (name for name in self.offered() if name.startswith(incomplete))
        return [files, *map(CompletionItem, begun)]


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


_Parsed = TypeVar("_Parsed")


class Qualified(click.ParamType[tuple[Any, ...]]):
    """A value with settings after it, as in ``6,rate=10``: a tuple of the value and a dict."""

    def __init__(
        self, first: click.ParamType[Any], name: str, **settings: click.ParamType[Any]
    ) -> None:
        self._first, self._settings = first, settings
        letters = {"integer range": "N", "float range": "X"}
        self.name = name + "".join(
            f"[,{each}={letters[kind.name]}]" for each, kind in settings.items()
        )

    def get_metavar(self, param: click.Parameter, ctx: click.Context) -> str:  # noqa: ARG002
        """Return the form of the text, for the help."""
        return self.name

    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[Any, ...]:
        """Return the value and its settings."""
        if isinstance(value, tuple):  # a default
            return value
        first, *texts = str(value).split(",")
        pairs = [named_value(text, self._settings, param, ctx) for text in texts]
        return self._first.convert(first, param, ctx), dict(each_once(ctx, param, pairs))


def named_value(
    text: str,
    kinds: Mapping[str, click.ParamType[Any]],
    param: click.Parameter | None,
    ctx: click.Context | None,
) -> tuple[str, object]:
    """Return the name and the value in a text such as ``rate=10``, or fail like `click`."""
    name, equals, value = text.partition("=")
    if name not in kinds or not equals:
        raise click.BadParameter(
            f"{shortened(repr(text))} is not one of {', '.join(f'{each}=...' for each in kinds)}.",
            ctx,
            param,
        )
    if not value:
        raise click.BadParameter(f"{text!r} has no value; give {name}=...", ctx, param)
    return name, kinds[name].convert(value, param, ctx)


def each_once(
    ctx: click.Context | None, param: click.Parameter | None, pairs: Sequence[tuple[str, _Parsed]]
) -> Sequence[tuple[str, _Parsed]]:
    """Return names with values, as the callback of an option, or fail if a name is repeated."""
    names = [name for name, _ in pairs]
    for name in names:
        if names.count(name) > 1:
            what = f"{shortened(repr(name))} has" if name else "there are"
            raise click.BadParameter(f"{what} several values; give only one of them.", ctx, param)
    return pairs


class _NamedValue(click.ParamType[tuple[str, object]]):
    name = "NAME=VALUE"

    def __init__(self, kinds: Mapping[str, click.ParamType[Any]]) -> None:
        self._kinds = kinds

    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[str, object]:
        return named_value(str(value), self._kinds, param, ctx)


def named_values(text: str, **kinds: click.ParamType[Any]) -> Any:
    """Declare a repeatable option ``NAME=VALUE``; its value is a dict."""
    kind, metavar = _NamedValue(kinds), "NAME=VALUE"
    declared = option(text, kind, multiple=True, metavar=metavar, callback=each_once)
    return Declared(declared.parameters, lambda name, given: dict(given[name]))


class Parsed(click.ParamType[_Parsed]):
    """A type with this name in the help, parsed by a function that returns None for bad texts."""

    def __init__(self, name: str, refusal: str, read: Callable[[str], _Parsed | None]) -> None:
        self.name, self._refusal, self._read = name, refusal, read

    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> _Parsed:
        """Return the parsed text."""
        parsed = self._read(str(value))
        if parsed is None:
            self.fail(f"{value!r} {self._refusal}", param, ctx)
        return parsed


def shape(name: str, what: str, second: int | None = None) -> Parsed[tuple[int, int]]:
    """Return the type of two sides, such as 16x16; the second one may have a default.

    The help names both, such as "HxW"; an error describes the sides, with an example.
    """

    def read(text: str) -> tuple[int, int] | None:
        match = re.fullmatch(r"(\d{1,6})(?:x(\d{1,6}))?", text)
        first, last = (int(match[1]), int(match[2] or second or 0)) if match else (0, 0)
        return (first, last) if first and last else None

    return Parsed(name, f"is not {what}", read)


def some_of(choices: Sequence[str]) -> Parsed[tuple[str, ...]]:
    """Return the type of one or more of several words, such as W,B."""

    def read(text: str) -> tuple[str, ...] | None:
        given = tuple(text.split(","))
        return given if set(given) <= set(choices) and len(set(given)) == len(given) else None

    refusal = f"must be one or more of {', '.join(choices)}, such as {choices[0]}"
    return Parsed("NAME[,NAME...]", refusal, read)


def _bytes(text: str) -> int | None:
    match = re.fullmatch(r"\s*(\d{1,9}(?:\.\d{1,6})?)\s*([A-Za-z]*)\s*", text)
    unit = None if match is None else _UNITS.get(match[2].lower())
    return None if match is None or unit is None else int(float(match[1]) * unit) or None


def _level(text: str) -> float | None:
    try:
        level = 0.0 if text == "auto" else float(text)
    except ValueError:
        return None
    return level if text == "auto" or 0 < level < math.inf else None


def _share(text: str) -> float | None:
    match = re.fullmatch(r"\s*(\d{0,9}\.?\d{1,9}(?:e-?\d{1,2})?)\s*(%?)\s*", text)
    share = -1.0 if match is None else float(match[1]) / (100 if match[2] else 1)
    return share if 0 <= share < 1 else None


def _part(text: str) -> float | tuple[str, ...] | None:
    names = tuple(each.strip() for each in text.split(","))
    share = _share(text)
    return share if share is not None else names if all(names) else None


_UNITS = {"": 1, "b": 1, "kb": 1_000, "kib": 1_024}
BYTES = Parsed("BYTES", "is not a number of bytes, such as 16kB, 900B or 16000", _bytes)
LEVEL = Parsed("LEVEL|auto", "is neither a number above 0 nor 'auto'", _level)
SHARE = Parsed(
    "SHARE",
    "is not a share between 0 and 1, such as 1% or 0.01",
    lambda text: _share(text) or None,
)


POINTS_PATH = PointsFile()
MODEL_FILE = argument(PATH, metavar="MODEL")
MODEL_OR_NONE = argument(PATH, metavar="[MODEL]", required=False)
POINTS = argument(POINTS_PATH)
PROJECT = option(
    "The folder that 'build' wrote.  [default: the current folder]",
    FOLDER,
    flag="--project",
    default=Path(),
)
MODEL_OUTPUT = option("The model file (.npz).", OutputFile(MODEL), required=True)


def _board_option(*, of_project: bool = False, of_exports: bool = False) -> Any:
    return option(
        "A board's name, or your own .toml file.  [default: the project's, or uno]"
        if of_project
        else "A board's name, or your own .toml file.",
        BoardType(of_exports=of_exports),
        flag="--board",
        shown=None if of_project else "uno",
    )


BOARD = _board_option()
PROJECT_BOARD = _board_option(of_project=True)
ANY_BOARD = _board_option(of_exports=True)
PORT = option(
    "The board's serial port, such as /dev/ttyACM0 or COM3.  [default: detected by its USB "
    "identity]"
)
HOLDOUT = option(
    "Share to hold out for testing, or names of groups; 0: none.  [default: 20%]",
    Parsed("SHARE|NAMES", "is not a share from 0 to below 1, such as 20%, nor has it names", _part),
    flag="--holdout",
    also=("test", "test-size"),
)
HOLDOUT_ROWS = option(
    "Hold out rows at random, even if they drift.", flag="--holdout-rows", is_flag=True
)

TRY = option(
    "Before writing anything, run a few points on the emulated board and compare every score with "
    "NumPy's.",
    flag="--try/--no-try",
    shown=True,
)
UPLOAD = option(
    "Upload the firmware after the build, as 'upload' does.", flag="--upload", is_flag=True
)
GROUPS = option(
    "Array, column or file with each point's person or day.",
    NameOrPath(),
)
METRIC = option(
    "Metric in cross-validation: accuracy, balanced-accuracy, macro-f1 or recall:CLASS.",
    metavar="METRIC",
    shown="accuracy",
)


def power_draw(text: str) -> Any:
    """Declare the option for the power draw of a board."""
    from protonn_edge.chips.boards import POWER_WATTS

    return option(text, FiniteRange(*POWER_WATTS))


def baud_rate(text: str) -> Any:
    """Declare the option for the baud rate of the serial line."""
    return option(text, click.IntRange(1200, 2_000_000))


def seed_option(most: int) -> Any:
    """Declare the option for the seed, up to a number."""
    text = "Seed of all random numbers."
    return option(text, click.IntRange(0, most), shown=0, also=("random-state",))


def board_words(board_name: str) -> list[str]:
    """Return the words of a command line that choose a board."""
    return [] if board_name == "uno" else ["--board", board_name]
