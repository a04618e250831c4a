"""Text files: their lines, the rows of a table, and a recording's first line."""

from __future__ import annotations

import csv
import math
import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from itertools import chain
from pathlib import Path
from typing import NamedTuple, TextIO

from protonn_edge.data.options import RECORDING_MARK, RECORDING_VERSION
from protonn_edge.system.errors import InputError, beyond, cannot_read

TEXT_LIMIT_BYTES = 512 * 2**20
INDEX_LIMIT = 10**6  # features of points whose zeros a file leaves out

_HEAD = re.compile(
    re.escape(RECORDING_MARK) + r".*?; sensor: ([^;]*); rate: ([0-9.e+-]+) Hz(?:; units: (.*))?"
)
_VERSION = re.compile(re.escape(RECORDING_MARK) + r" (\d{1,9})(?=;|$)")
_HEAD_LIMIT = 1_000
_SEPARATOR = re.compile(r'"?sep=.?"?\s*', re.IGNORECASE)  # which Excel reads
_LOOKED_AT = 4096
_SIGNATURES = (
    (b"\x1f\x8b", "compressed with gzip; unpack it"),
    (b"BZh", "compressed with bzip2; unpack it"),
    (b"\xfd7zXZ", "compressed with xz; unpack it"),
    (b"\x28\xb5\x2f\xfd", "compressed with zstd; unpack it"),
    (b"7z\xbc\xaf", "a 7z archive; unpack it"),
    (b"PK\x03\x04", "a zip archive; name it .npz if it contains arrays, or save it as CSV"),
    (b"\x93NUMPY", "a numpy array; save the points and the labels with numpy.savez"),
    (b"\xd0\xcf\x11\xe0", "an Excel file; save it as CSV"),
    (b"\x89HDF", "an HDF5 file; convert it to .npz"),
    (b"PAR1", "a Parquet file; convert it to CSV or .npz"),
    (b"SQLite format 3", "an SQLite database; export a table as CSV"),
    (b"%PDF", "a PDF file; save the table as CSV"),
    (b"\xff\xfe\0\0", "text in UTF-32; save it as UTF-8"),
    (b"\0\0\xfe\xff", "text in UTF-32; save it as UTF-8"),
    (b"\xff\xfe", "text in UTF-16; save it as UTF-8"),
    (b"\xfe\xff", "text in UTF-16; save it as UTF-8"),
)

Row = list[str]


def check_is_text(path: Path) -> None:
    """Refuse a file if its first bytes show an archive, another format, or text in UTF-16."""
    try:
        with path.open("rb") as stream:
            begin = stream.read(_LOOKED_AT)
    except OSError as error:
        raise cannot_read(path, error) from error
    for signature, what in _SIGNATURES:
        if begin.startswith(signature):
            raise InputError(f"{path} is {what}")
    if b"\0" not in begin:
        return
    halves = begin[0::2].count(0), begin[1::2].count(0)
    if min(halves) == 0 and 4 * max(halves) > len(begin):  # Latin letters have one zero byte each
        raise InputError(f"{path} seems to be text in UTF-16; save it as UTF-8")
    raise no_text(path)


def no_text(path: Path) -> InputError:
    """Return the error about a file with null bytes."""
    return InputError(f"{path} has null bytes and is not text; convert it to CSV or .npz")


@contextmanager
def text_of(path: Path, newline: str | None = None) -> Iterator[TextIO]:
    """Open a text file; refuse it if it is not in UTF-8 or cannot be read."""
    try:
        with path.open(encoding="utf-8-sig", newline=newline) as stream:
            yield stream
    except UnicodeDecodeError as error:
        raise InputError(
            f"{path} is not UTF-8 text (byte {error.object[error.start]:#04x} is invalid); save "
            "it in Excel as 'CSV UTF-8', or convert it, for example with iconv -f cp1252 -t utf-8"
        ) from error
    except OSError as error:
        raise cannot_read(path, error) from error


@contextmanager
def lines_of(path: Path) -> Iterator[Iterator[str]]:
    """Open the lines of a table; a recording's comment or ``sep=;`` in the first is left blank."""
    with text_of(path, newline="") as lines:
        first = next(lines, "")
        skipped = first.startswith(RECORDING_MARK) or _SEPARATOR.fullmatch(first)
        yield chain(["\n" if skipped else first], lines)


def rows_in(lines: Iterable[str], path: Path, delimiter: str) -> Iterator[tuple[int, Row]]:
    """Yield the number of lines up to each row, and its cells; no cells if all are blank."""
    if delimiter == " ":
        lines = (" ".join(line.split()) + "\n" for line in lines)
    reader = csv.reader(lines, delimiter=delimiter, skipinitialspace=True)
    try:
        for row in reader:
            if len(row) > INDEX_LIMIT:
                raise beyond(
                    f"{path}:{reader.line_num}",
                    f"{len(row):,} columns",
                    INDEX_LIMIT,
                    "use fewer features",
                )
            is_filled = any(row) and (len(row) > 3 or "".join(row).strip())
            yield reader.line_num, row if is_filled else []
    except csv.Error as error:
        text = f"{path} is not a table ({str(error)[:80]}); save the file again"
        raise InputError(text) from error


class RecordingHead(NamedTuple):
    """The first line of a recording: names of sensors, sampling rate, text of units."""

    sensor: str
    rate: float
    units: str


def recording_head(path: Path) -> RecordingHead | None:
    """Return the facts in the first line of a recording; None for other tables.

    Raises `InputError` for a recording of another version.
    """
    with path.open(encoding="utf-8-sig", errors="replace") as stream:
        line = stream.readline(_HEAD_LIMIT).rstrip("\n")
    version, match = _VERSION.match(line), _HEAD.match(line)
    if version is not None and int(version[1]) != RECORDING_VERSION:
        raise InputError(
            f"{path} is a recording of version {version[1]}, but this protonn-edge reads version "
            f"{RECORDING_VERSION}; install a version that reads it"
        )
    try:
        rate = 0.0 if match is None else float(match[2])
    except ValueError:
        return None
    if match is None or not 0 < rate < math.inf:
        return None
    return RecordingHead(match[1], rate, match[3] or "")
