"""The takes of a recording that can be edited: parts of one file, or the files of a folder."""

from __future__ import annotations

import csv
import io
import math
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from protonn_edge.data.options import RECORDING_MARK, TableOptions
from protonn_edge.data.takes.recordings import runs_of
from protonn_edge.data.takes.takes import takes_in
from protonn_edge.extensions.sensing.recordings.recorded import read_recording
from protonn_edge.system.arrays import Array
from protonn_edge.system.errors import InputError, InvalidValue, counted
from protonn_edge.system.files import read_file

RECORDING_LIMIT_BYTES = 1 << 30
_SEAM = 4.5  # sample periods: `record` leaves at least five between two takes
_AT_ONCE = 1 << 14
_LABEL_CELLS = 3  # label, session, time


@dataclass(frozen=True, eq=False)
class EditableTake:
    """A take: consecutive samples of one class and session."""

    label: str
    session: str
    values: Array  # (samples, channels)
    file: str  # its file, below the recording's folder
    # where each sample's row begins in the file, and where the last one ends: (samples + 1,)
    rows: NDArray[np.int64]

    @property
    def n(self) -> int:
        """The number of samples."""
        return len(self.values)


@dataclass(frozen=True, eq=False)
class EditableRecording:
    """A recording as it is now, with all that an edit needs to know."""

    path: Path
    takes: list[EditableTake]
    channels: tuple[str, ...]
    rate: float | None
    units: str = ""
    sensor: str = ""

    @property
    def is_folder(self) -> bool:
        """Whether each take has a file of its own."""
        return self.path.is_dir()

    def take(self, number: int) -> EditableTake:
        """Return a take by its number, from 1; raises `InputError` if there is none."""
        if not 1 <= number <= len(self.takes):
            raise InvalidValue(
                "--take",
                f"{number:,}, but {self.path} has {counted(len(self.takes), 'take')}",
                "list them without options",
            )
        return self.takes[number - 1]


def is_recording(path: Path) -> bool:
    """Return whether `record` wrote a file."""
    try:
        with path.open("rb") as file:
            return file.read(len(RECORDING_MARK)) == RECORDING_MARK.encode()
    except OSError:
        return False


def read_takes(path: Path, options: TableOptions | None = None) -> EditableRecording:
    """Read the takes of a recording; raises `InputError` for other files and folders.

    - `options`: how a folder is read, such as the pattern of its names
    """
    if path.is_dir():
        return _in_folder(path, options or TableOptions())
    content = read_file(path, limit_bytes=RECORDING_LIMIT_BYTES)
    if not content.startswith(RECORDING_MARK.encode()):
        raise InvalidValue(
            path,
            "neither a recording that 'record' wrote nor a folder of takes",
            "use another file or folder",
        )
    return _in_file(path, content)


# --- one file -------------------------------------------------------------------------------------


def _in_file(path: Path, content: bytes) -> EditableRecording:
    begin = content.find(b"\n", content.find(b"\n") + 1) + 1  # behind the comment and the header
    if not begin:
        raise InvalidValue(path, "no header", "record it again")
    lines = content[:begin].decode(errors="replace").split("\n")
    comment, header = (line.rstrip("\r") for line in lines[:2])
    facts = dict(each.partition(": ")[::2] for each in comment.split("; ", 3)[1:])
    try:
        rate = float(facts["rate"].removesuffix(" Hz"))
        channels = tuple(next(csv.reader([header]))[_LABEL_CELLS:])
    except (KeyError, ValueError, csv.Error) as error:
        raise InvalidValue(path, "no sampling rate in its first line", "record it again") from error
    if not 0 < rate < math.inf:
        raise InvalidValue(path, f"a sampling rate of {rate:g} Hz", "record it again")
    parts = _parts(path, content, begin, len(channels), rate)
    takes = [EditableTake(*cells, values, path.name, rows) for cells, values, rows in parts]
    units, sensor = facts.get("units", ""), facts.get("sensor", "")
    return EditableRecording(path, takes, channels, rate, units, sensor)


def _parts(
    path: Path, content: bytes, begin: int, channels: int, rate: float
) -> Iterator[tuple[tuple[str, str], NDArray[np.int64], NDArray[np.int64]]]:
    """Yield label and session, the values, and the places of the rows of each take.

    The rows of a label and a session begin with the same bytes. An incomplete last row is left out.
    """
    buffer = np.frombuffer(content, np.uint8)
    ends = np.flatnonzero(buffer[begin:] == ord("\n")) + begin + 1
    starts = np.concatenate([[begin], ends])
    row = 0
    while row < len(ends):
        cells, prefix = _named(path, row, content[starts[row] : ends[row]], channels)
        end = row + _alike(buffer, starts[row:-1], prefix)
        block = content[starts[row] : ends[end - 1]]
        table = _numbers(block, end - row, channels)
        if table is None:
            between = f"a row between {row + 1:,} and {end:,} is not a sample"
            raise InvalidValue(path, between, "remove this row")
        steps = np.diff(table[:, 0]) * rate
        seams = np.flatnonzero((steps > _SEAM) | (steps <= 0)) + 1
        for first, last in zip([0, *seams], [*seams, end - row], strict=True):
            places = starts[row + first : row + last + 1]
            yield cells, table[first:last, 1:].astype(np.int64), places
        row = end


def _named(path: Path, row: int, line: bytes, channels: int) -> tuple[tuple[str, str], bytes]:
    """Return the label and the session of a row, and the bytes that contain them."""
    try:
        text = line.decode().rstrip("\r\n")
        cells = next(csv.reader([text]))
    except UnicodeDecodeError as error:
        name = f"row {row + 1:,} is not UTF-8 text"
        raise InvalidValue(path, name, "save it in Excel as 'CSV UTF-8'") from error
    except (csv.Error, StopIteration):
        cells = []
    tail = ",".join(cells[2:])
    if len(cells) != _LABEL_CELLS + channels or not text.endswith(tail):
        raise InvalidValue(path, f"row {row + 1:,} is not a sample", "remove this row")
    return (cells[0], cells[1]), text.removesuffix(tail).encode()


def _numbers(block: bytes, rows: int, channels: int) -> NDArray[np.float64] | None:
    """Return times and values, (rows, 1 + channels), of rows that begin alike; None for others."""
    # Of these rows, each has as many commas as the first one.
    if block.count(b",") != rows * block[: block.index(b"\n")].count(b","):
        return None
    of_numbers = range(_LABEL_CELLS - 1, _LABEL_CELLS + channels)
    try:
        table = np.loadtxt(
            io.BytesIO(block),
            delimiter=",",
            comments=None,
            quotechar='"',
            usecols=of_numbers,
            ndmin=2,
        )
    except ValueError:
        return None
    return table if len(table) == rows and np.isfinite(table).all() else None


def _alike(buffer: NDArray[np.uint8], starts: NDArray[np.int64], prefix: bytes) -> int:
    """Return how many of the rows at these places begin with the same bytes."""
    wanted, places = np.frombuffer(prefix, np.uint8), np.arange(len(prefix))
    for at in range(0, len(starts), _AT_ONCE):
        some = starts[at : at + _AT_ONCE]
        inside = np.minimum(some[:, None] + places, len(buffer) - 1)
        same = (buffer[inside] == wanted).all(axis=1)
        if not same.all():
            return at + int(same.argmin())
    return len(starts)


# --- a folder -------------------------------------------------------------------------------------


def _in_folder(folder: Path, options: TableOptions) -> EditableRecording:
    recorded = read_recording(folder, options)
    files, classes = takes_in(folder, options.name, labelled=True), recorded.dataset.classes
    if recorded.take_of is None or any(len(each.files) > 1 for each in files):
        raise InvalidValue(
            folder, "takes of several files", "edit the files of each take in another program"
        )
    if (beside := next((each.labels_file for each in files if each.labels_file), None)) is not None:
        raise InvalidValue(
            folder,
            f"labels in a file of intervals, {beside.name}",
            "edit this file instead",
        )
    takes = list[EditableTake]()
    # the lines of a file are in another order than samples that were sorted
    is_sorted = any(each.kind in ("order", "in_turn") for each in recorded.dataset.notices)
    for first, end in runs_of(recorded.take_of):
        one = files[int(recorded.take_of[first])]
        name = one.path.relative_to(folder).as_posix()
        group = recorded.groups[first] if recorded.groups is not None else ""
        session = "" if group == one.name else group
        label = classes[recorded.dataset.y_train[first]]
        places = np.empty(0, np.int64) if is_sorted else _places(one.path, end - first)
        takes.append(EditableTake(label, session, recorded.samples[first:end], name, places))
    instrument = recorded.dataset.instrument
    sensor = "" if instrument is None else instrument.sensor or ""
    units = {each.text for each in instrument.units} if instrument else set()
    unit = units.pop() if len(units) == 1 else ""
    return EditableRecording(folder, takes, recorded.channels, recorded.rate, unit, sensor)


def _places(path: Path, n: int) -> NDArray[np.int64]:
    """Return where the samples of a file begin, and the last one ends; empty if that is unknown."""
    content = read_file(path, limit_bytes=RECORDING_LIMIT_BYTES)
    if path.suffix.lower() == ".wav":
        places = _sample_places(content)
    elif path.suffix.lower() in (".csv", ".tsv"):
        ends = np.flatnonzero(np.frombuffer(content, np.uint8) == ord("\n")) + 1
        places = np.concatenate([[0], ends])[-n - 1 :]
    else:
        return np.empty(0, np.int64)
    whole = len(places) == n + 1 and places[-1] == len(content)
    is_wave = path.suffix.lower() == ".wav"
    return places if len(places) == n + 1 and (whole or is_wave) else np.empty(0, np.int64)


def _sample_places(content: bytes) -> NDArray[np.int64]:
    """Return where the samples of a WAV file begin, and where the last one ends."""
    at, step = 12, 0
    while at + 8 <= len(content):
        name, size = struct.unpack_from("<4sI", content, at)
        if name == b"fmt ":
            step = struct.unpack_from("<H", content, at + 20)[0]
        if name == b"data" and step:
            end = min(at + 8 + size, len(content))  # a program that streams states a larger size
            return np.arange(at + 8, end + 1, step)
        at += 8 + size + size % 2
    raise InputError("there is no sound in the file; record it again")


def with_sizes(content: bytes, removed: int) -> bytes:
    """Return a WAV file from which bytes of samples were removed, with the sizes in its header.

    A program that streams states a size of 0, or the largest number.
    """
    edited, at = bytearray(content), 12
    while edited[at : at + 4] != b"data":
        size = struct.unpack_from("<I", edited, at + 4)[0]
        at += 8 + size + size % 2
    for place in (4, at + 4):
        size = struct.unpack_from("<I", edited, place)[0]
        struct.pack_into("<I", edited, place, max(0, size - removed))
    return bytes(edited)
