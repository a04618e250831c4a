"""The rows of a text table, and its cells as numbers."""

from __future__ import annotations

import csv
import math
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import chain
from pathlib import Path
from typing import NamedTuple, TextIO

import numpy as np

from protonn_edge.datasets.dataset import FLOAT32_MAX, INDEX_LIMIT, Float32
from protonn_edge.errors import InputError

RECORDING_MARK = "# protonn-edge recording"
"""The beginning of a recording's first line, which is a comment."""

_HEAD = re.compile(
    re.escape(RECORDING_MARK) + r".*?; sensor: ([^;]*); rate: ([0-9.e+-]+) Hz(?:; units: (.*))?"
)
_HEAD_LIMIT = 1_000
_LINE_LIMIT = 1 << 20


@contextmanager
def text_of(path: Path, newline: str | None = None) -> Iterator[TextIO]:
    """Open a file of text; refuse one that is not in UTF-8, or cannot be read."""
    try:
        with path.open(encoding="utf-8-sig", newline=newline) as stream:
            yield stream
    except UnicodeDecodeError as error:
        raise InputError(f"{path} is not text in UTF-8 ({str(error)[:80]}); convert it") from error
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror}; check its permissions") from error


def rows_of(path: Path, delimiter: str) -> Iterator[tuple[int, list[str]]]:
    """Yield the number of the line and the cells of each row that is not blank."""
    with text_of(path, newline="") as stream:
        lines = _uncommented(stream)
        reader = csv.reader(lines, delimiter=delimiter, skipinitialspace=delimiter == " ")
        try:
            for row in reader:
                if row and any(cell and not cell.isspace() for cell in row):
                    if len(row) > INDEX_LIMIT:
                        raise InputError(
                            f"{path}:{reader.line_num} has {len(row):,} columns, the limit is "
                            f"{INDEX_LIMIT:,}; use fewer features"
                        )
                    yield reader.line_num, row
        except csv.Error as error:
            text = f"{path} is not a table ({str(error)[:80]}); write it again"
            raise InputError(text) from error


def first_line(path: Path) -> str:
    """Return the beginning of the first line of a table that is not blank, or nothing."""
    with text_of(path, newline="") as stream:
        lines = _uncommented(stream)
        return next((line[:_LINE_LIMIT] for line in lines if line.strip()), "")


def _uncommented(stream: TextIO) -> Iterator[str]:
    """Return the lines, with the first one of a recording replaced by a blank one."""
    first = stream.readline()
    return chain(["\n" if first.startswith(RECORDING_MARK) else first], stream)


class RecordingHead(NamedTuple):
    """The first line of a recording: names of sensors, samples per second, a text of units."""

    sensor: str
    rate: float
    units: str


def recording_head(path: Path) -> RecordingHead | None:
    """Return what the first line of a recording states; None for other tables."""
    with path.open(encoding="utf-8-sig", errors="replace") as stream:
        found = _HEAD.match(stream.readline(_HEAD_LIMIT).rstrip("\n"))
    try:
        rate = 0.0 if found is None else float(found[2])
    except ValueError:
        return None
    if found is None or not 0 < rate < math.inf:
        return None
    return RecordingHead(found[1], rate, found[3] or "")


class Decimals:
    """Read the cells of a file as numbers, with decimal points or decimal commas but not both.

    Numbers have no decimal commas if the columns' delimiter is a comma. `comma` is true after one.
    """

    def __init__(self, delimiter: str) -> None:
        self._delimiter = delimiter
        self._point = self.comma = False

    def numbers(self, cells: Sequence[str]) -> Float32 | None:
        """Return cells as numbers, or None if one of them is not a finite number."""
        joined = "".join(cells)
        if self._delimiter != ",":
            self._point |= "." in joined
            self.comma |= "," in joined
        if "_" in joined or (self._point and self.comma):
            return None
        try:
            values = np.fromiter(map(float, self._pointed(cells)), np.float64, len(cells))
        except ValueError:
            return None
        if values.size and not np.abs(values).max() <= FLOAT32_MAX:  # false for NaN, too
            return None
        return values.astype(np.float32)

    def refusal(self, cells: Sequence[str]) -> tuple[int, str]:
        """Return which of some cells is not a number, and the rest of a sentence about it."""
        for place, cell in enumerate(cells):
            if Decimals(self._delimiter).numbers([cell]) is None:
                return place, "which is not a finite number; fix or drop the row"
        mixed = next((place for place, cell in enumerate(cells) if "." in cell), 0)
        text = "but the table has decimal points and decimal commas; write all numbers in the same"
        return mixed, f"{text} way"

    def _pointed(self, cells: Sequence[str]) -> Sequence[str]:
        return [cell.replace(",", ".") for cell in cells] if self.comma else cells
