"""Types of options, and the options that several commands have, each declared once."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar

import click
from click.shell_completion import CompletionItem

from protonn_edge.boards import POWER_WATTS, board_names
from protonn_edge.cli.command import argument, option
from protonn_edge.cli.paths import MODEL, NameOrPath, OutputFile
from protonn_edge.quantization import PRECISIONS

PATH = click.Path(path_type=Path)
FOLDER = click.Path(path_type=Path, file_okay=False)


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


class ShapeType(click.ParamType[tuple[int, int]]):
    """A shape of two sides, such as 16x16.

    - `name`: what they are called, such as "HxW".
    - `what`: what the sides are, with an example.
    - `second`: the second side, if it may be omitted.
    """

    def __init__(self, name: str, what: str, second: int | None = None) -> None:
        self.name, self._what, self._second = name, what, second

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[int, int]:
        """Return both sides."""
        found = re.fullmatch(r"(\d{1,6})(?:x(\d{1,6}))?", str(value))
        first, second = (int(found[1]), int(found[2] or self._second or 0)) if found else (0, 0)
        if not first or not second:
            self.fail(f"{value!r} is not {self._what}", param, ctx)
        return first, second


def image_shape() -> ShapeType:
    """Return the type of height and width of an image, such as 16x16."""
    return ShapeType("HxW", "a height and a width, such as 16x16")


class Some(click.ParamType[tuple[str, ...]]):
    """A choice of several words, each at most once, such as W,B."""

    name = "NAME[,NAME...]"

    def __init__(self, words: Sequence[str]) -> None:
        self._words = tuple(words)

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[str, ...]:
        """Return the words."""
        words = tuple(value.split(",")) if isinstance(value, str) else tuple(value)
        if not set(words) <= set(self._words) or len(set(words)) < len(words):
            known = ", ".join(self._words)
            self.fail(
                f"{value!r} must be one or more of {known}, such as {self._words[0]}", param, ctx
            )
        return words


class Bytes(click.ParamType[int]):
    """A number of bytes, such as 16kB, 900 B or 16000."""

    name = "BYTES"
    _UNITS: ClassVar[dict[str, int]] = {"": 1, "b": 1, "kb": 1_000, "kib": 1_024}

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """Return the number of bytes."""
        found = re.fullmatch(r"\s*(\d{1,9}(?:\.\d{1,6})?)\s*([A-Za-z]*)\s*", str(value))
        unit = None if found is None else self._UNITS.get(found[2].lower())
        count = 0 if found is None or unit is None else int(float(found[1]) * unit)
        if not count:
            self.fail(
                f"{value!r} is not a number of bytes, such as 16kB, 900B or 16000", param, ctx
            )
        return count


class Level(click.ParamType[float]):
    """A number above 0, or auto, which is 0."""

    name = "LEVEL|auto"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> float:
        """Return the number."""
        try:
            level = 0.0 if value == "auto" else float(value)
        except ValueError:
            level = -1.0
        if not 0 <= level < math.inf or (level == 0 and value != "auto"):
            self.fail(f"{value!r} is neither a number above 0 nor auto", param, ctx)
        return level


class Share(click.ParamType[float]):
    """A share between 0 and 1, such as 1%, 0.5 % or 0.01."""

    name = "SHARE"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> float:
        """Return the share."""
        found = re.fullmatch(r"\s*(\d{1,9}(?:\.\d{1,9})?)\s*(%?)\s*", str(value))
        share = 0.0 if found is None else float(found[1]) / (100 if found[2] else 1)
        if not 0 < share < 1:
            self.fail(f"{value!r} is not a share between 0 and 1, such as 1% or 0.01", param, ctx)
        return share


# --- the options of several commands -------------------------------------------------------------

MODEL_FILE = argument(PATH, metavar="MODEL")
POINTS = argument(PATH)
MODEL_OUTPUT = option("The model file (.npz).", OutputFile(MODEL), required=True)
BOARD = option(
    "The board, real or emulated; a .toml file describes a custom board.",
    BoardType(),
    flag="--board",
    metavar=f"[{'|'.join(board_names())}|FILE.toml]",
    shown="uno",
)
PORT = option(
    "The board's serial port, such as /dev/ttyACM0 or COM3.  [default: detected by its USB "
    "identity]"
)
PRECISION = option(
    "Number format of W, B and Z on the device; float32 is for comparison.",
    click.Choice(PRECISIONS),
    shown=PRECISIONS[0],
)
TRY = option(
    "Let what was made answer a few points on the emulated board before it is written, and "
    "compare every score with NumPy.",
    flag="--try/--no-try",
    shown=True,
)
UPLOAD = option("Upload it right after the build, as 'upload' does.", flag="--upload", is_flag=True)
GROUPS = option(
    "An array of DATA, or a file with a line per training point: the person, day or sensor it "
    "came from.",
    NameOrPath(),
)


def flash_limit(text: str) -> Any:
    """Declare the option for the largest flash."""
    return option(text, Bytes())


def watts(text: str) -> Any:
    """Declare the option for the power draw of a board."""
    return option(text, FiniteRange(*POWER_WATTS))


def baud(text: str) -> Any:
    """Declare the option for the baud rate of the serial line."""
    return option(text, click.IntRange(1200, 2_000_000))


def seed_option(most: int) -> Any:
    """Declare the option for the seed, up to a number."""
    text = "Seed of all random numbers."
    return option(text, click.IntRange(0, most), shown=0)


def board_words(board_name: str) -> list[str]:
    """Return the words of a command line that choose a board."""
    return [] if board_name == "uno" else ["--board", board_name]
