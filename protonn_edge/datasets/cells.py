"""The rows and cells of a text table, and its delimiter."""

from __future__ import annotations

import csv
import math
import re
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from protonn_edge.datasets.dataset import FLOAT32_MAX, INDEX_LIMIT
from protonn_edge.errors import InputError

DELIMITERS = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "pipes", " ": "blanks"}
"""Delimiters of columns, and their plurals for messages."""

RECORDING_MARK = "# protonn-edge recording"
"""The beginning of a recording's first line, which is a comment."""

_HEAD = re.compile(
    re.escape(RECORDING_MARK) + r".*?; sensor: ([^;]*); rate: ([0-9.e+-]+) Hz(?:; units: (.*))?"
)

_SNIFFED = (",", ";", "\t", "|")
_WORDS = {"comma": ",", "semicolon": ";", "tab": "\t", r"\t": "\t", "pipe": "|", "space": " "}
_SNIFFED_ROWS = 100
_LINE_LIMIT = 1_000
_SNIFFED_CHARACTERS = 1 << 18
_DECIMAL_COMMA = re.compile(r"\s*[+-]?\d+(,\d+)?([eE][+-]?\d+)?\s*")


def delimiter_called(text: str) -> str:
    """Return the delimiter that an option names: the character, or a word such as ``tab``.

    Raises
    ------
    InputError
        If it is none of `DELIMITERS`.
    """
    delimiter = _WORDS.get(text.lower(), text)
    if delimiter not in DELIMITERS:
        raise InputError(
            f"the delimiter is {text[:40]!r}; give comma, semicolon, tab, pipe or space"
        )
    return delimiter


def rows_of(path: Path, delimiter: str) -> Iterator[tuple[int, list[str]]]:
    """Yield the number of the line and the cells of each row that is not blank.

    Raises
    ------
    InputError
        If the file is not text in UTF-8, or not a table.
    """
    try:
        with path.open(encoding="utf-8-sig", newline="") as stream:
            lines = _uncommented(stream)
            reader = csv.reader(lines, delimiter=delimiter, skipinitialspace=delimiter == " ")
            for row in reader:
                if row and any(cell and not cell.isspace() for cell in row):
                    if len(row) > INDEX_LIMIT:
                        raise InputError(
                            f"{path}:{reader.line_num} has {len(row):,} columns, the limit is "
                            f"{INDEX_LIMIT:,}; use fewer features"
                        )
                    yield reader.line_num, row
    except UnicodeDecodeError as error:
        raise InputError(f"{path} is not text in UTF-8 ({str(error)[:80]}); convert it") from error
    except csv.Error as error:
        raise InputError(f"{path} is not a table ({str(error)[:80]}); write it again") from error
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror}; check its permissions") from error


class RecordingHead(NamedTuple):
    """The first line of a recording: names of sensors, samples per second, a text of units."""

    sensor: str
    rate: float
    units: str


def recording_head(path: Path) -> RecordingHead | None:
    """Return what the first line of a recording states; None for other tables."""
    with path.open(encoding="utf-8-sig", errors="replace") as stream:
        found = _HEAD.match(stream.readline(_LINE_LIMIT).rstrip("\n"))
    try:
        rate = 0.0 if found is None else float(found[2])
    except ValueError:
        return None
    if found is None or not 0 < rate < math.inf:
        return None
    return RecordingHead(found[1], rate, found[3] or "")


def _uncommented(lines: Iterable[str]) -> Iterator[str]:
    """Yield lines, with the first one of a recording replaced by a blank one."""
    for number, line in enumerate(lines):
        yield "\n" if number == 0 and line.startswith(RECORDING_MARK) else line


def sniffed_delimiter(path: Path, usual: str) -> str:
    """Return the delimiter of columns: `usual`, unless another one divides all rows better.

    A delimiter that gives each of the first rows the same number of columns is preferred; then the
    one that leaves the fewest cells with another delimiter in them. A comma in a number may be a
    decimal one: ``5,1;3,5`` is two numbers with a semicolon, not three cells.
    """
    try:
        with path.open(encoding="utf-8-sig", newline="") as stream:
            text = stream.read(_SNIFFED_CHARACTERS)
        lines = list(_uncommented(text.splitlines(keepends=True)))
    except (UnicodeDecodeError, OSError):
        return usual  # reading the rows will raise the error
    if len(lines) > 1 and not lines[-1].endswith("\n"):
        lines.pop()  # it may be incomplete
    candidates = [usual, *(each for each in _SNIFFED if each != usual)]
    return max(candidates, key=lambda delimiter: _fit(lines, delimiter))  # the first of equal ones


def _fit(lines: list[str], delimiter: str) -> tuple[bool, float]:
    try:
        reader = csv.reader(lines, delimiter=delimiter)
        rows = list(islice((row for row in reader if "".join(row).strip()), _SNIFFED_ROWS))
    except csv.Error:
        return False, 0.0
    widths = {len(row) for row in rows}
    if len(widths) != 1 or widths == {1}:
        header_only = len(rows) > 1 and {len(row) for row in rows[1:]} == {len(rows[0]) - 1}
        if not (header_only and len(rows[0]) > 2 and not rows[0][-1].strip()):
            return False, 0.0
    cells = [cell for row in rows for cell in row]
    others = [each for each in _SNIFFED if each != delimiter]
    clean = sum(
        not any(other in cell for other in others)
        or (delimiter != "," and _DECIMAL_COMMA.fullmatch(cell) is not None)
        for cell in cells
    )
    return True, clean / len(cells)


def is_number(cell: str) -> bool:
    """Return whether a cell is a finite number that a float32 holds."""
    try:
        return abs(float(cell)) <= FLOAT32_MAX and "_" not in cell
    except ValueError:
        return False


def with_point(cell: str) -> str:
    """Return a number with a decimal comma as one with a point; other text as it is."""
    return cell.replace(",", ".") if _DECIMAL_COMMA.fullmatch(cell) else cell
