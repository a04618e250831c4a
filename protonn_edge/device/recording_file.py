"""The file of a recording: a table that is appended to, so that a killed run loses nothing.

The first line is a comment with the sensor, the rate and the units; a header and one row per sample
follow. Rows are written as they arrive. An incomplete last line, which a killed run may leave, is
removed when the file is opened again.
"""

from __future__ import annotations

import csv
import io
import math
import os
import re
from pathlib import Path
from types import TracebackType
from typing import Self

import numpy as np
from numpy.typing import NDArray

from protonn_edge.datasets.cells import RECORDING_MARK
from protonn_edge.datasets.naming import check_names
from protonn_edge.device.sensor_messages import LoggerDescription
from protonn_edge.errors import InputError
from protonn_edge.system.lock import InUse, try_lock

_VERSION = 1
_TAIL_BYTES = 1 << 16  # more than a line
_SESSION_SEAM_S = 1.0
_SEAM_SAMPLES = 10.0  # enough for `windows` to see a gap
_SESSION = re.compile(r"[^\W\d_].*")
_NUMBER_WORDS = ("nan", "inf", "infinity", "na", "n/a", "null", "none")


class RecordingFile:
    """A recording that is being appended to, in a ``with``.

    Parameters
    ----------
    path : Path
        A recording, an empty file, or a file that does not exist.
    description : LoggerDescription
        Of the logger; a recording that exists must be of the same channels and rate.
    session : str
        The session of the rows; begins with a letter.

    Attributes
    ----------
    begin_s : float
        The time at which this run begins: after the end of the previous one, with a gap.

    Raises
    ------
    InputError
        If the file is no recording, of another sensor, or in use.
    """

    def __init__(self, path: Path, description: LoggerDescription, session: str) -> None:
        check_names([session], "--session", distinct=False)
        if not _SESSION.fullmatch(session) or session.lower() in _NUMBER_WORDS:
            raise InputError(f"--session is {session!r}; begin its name with a letter")
        self._session = session
        self._head = _head(description)
        self._columns = self._head.count(b",", self._head.index(b"\n")) + 1
        self._path = path
        self._take_begin = 0
        try:
            binary = getattr(os, "O_BINARY", 0)  # Windows would write line ends of its own
            self._file = os.open(path, os.O_RDWR | os.O_CREAT | binary, 0o666)
        except OSError as error:
            raise InputError(f"cannot write {path}: {error.strerror}; choose another -o") from error
        try:
            try_lock(self._file)
            last_s = self._repair()
        except InUse as error:
            os.close(self._file)
            raise InputError(f"{path} is being written by another run; wait for it") from error
        except BaseException:
            os.close(self._file)
            raise
        seam_s = max(_SESSION_SEAM_S, _SEAM_SAMPLES / description.rate)
        self.begin_s = 0.0 if last_s is None else last_s + seam_s

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        os.close(self._file)

    def begin_take(self) -> None:
        """Remember where a take begins, so that it can be discarded."""
        self._take_begin = os.lseek(self._file, 0, os.SEEK_END)

    def append(self, label: str, times: NDArray[np.float64], values: NDArray[np.int16]) -> None:
        """Append samples.

        Parameters
        ----------
        label : str
            The label of all of them.
        times : ndarray of shape (samples,)
            In seconds.
        values : ndarray of shape (samples, channels)

        Raises
        ------
        InputError
            If the disk is full.
        """
        text = io.StringIO()
        table = csv.writer(text, lineterminator="\n")
        for time, row in zip(times.tolist(), values.tolist(), strict=True):
            table.writerow([label, self._session, f"{time:.6f}", *row])
        self._write(text.getvalue().encode())

    def discard_take(self) -> None:
        """Remove what was appended since `begin_take`."""
        os.ftruncate(self._file, self._take_begin)
        os.lseek(self._file, 0, os.SEEK_END)

    def _repair(self) -> float | None:
        """Remove an incomplete line; return the time of the last row, None if there is none."""
        size = os.lseek(self._file, 0, os.SEEK_END)
        os.lseek(self._file, 0, os.SEEK_SET)
        begin = os.read(self._file, len(self._head))
        if size < len(self._head) and self._head.startswith(begin):  # killed while writing it
            os.ftruncate(self._file, 0)
            os.lseek(self._file, 0, os.SEEK_SET)
            self._write(self._head)
            return None
        if begin != self._head:
            raise InputError(
                f"{self._path} is not a recording of this sensor at this rate; name another file "
                "with -o"
            )
        tail_begin = max(len(self._head), size - _TAIL_BYTES)
        os.lseek(self._file, tail_begin, os.SEEK_SET)
        tail = os.read(self._file, size - tail_begin)
        whole = tail[: tail.rfind(b"\n") + 1]
        if tail and not whole and tail_begin > len(self._head):
            raise self._no_row()
        os.ftruncate(self._file, tail_begin + len(whole))
        os.lseek(self._file, 0, os.SEEK_END)
        return self._last_time(whole)

    def _last_time(self, lines: bytes) -> float | None:
        if not lines:
            return None
        row = next(csv.reader([lines.splitlines()[-1].decode(errors="replace")]))
        try:
            seconds = float(row[2])
        except (IndexError, ValueError) as error:
            raise self._no_row() from error
        if not math.isfinite(seconds) or len(row) != self._columns:
            raise self._no_row()
        return seconds

    def _no_row(self) -> InputError:
        return InputError(f"the last row of {self._path} is not a row of a recording; remove it")

    def _write(self, content: bytes) -> None:
        try:
            while content:
                content = content[os.write(self._file, content) :]
        except OSError as error:
            raise InputError(
                f"cannot write {self._path}: {error.strerror}; free some space"
            ) from error


def _head(description: LoggerDescription) -> bytes:
    sensors = ", ".join(description.sensors)
    comment = (
        f"{RECORDING_MARK} {_VERSION}; sensor: {sensors}; rate: {description.rate:.10g} Hz; "
        f"units: {description.units}"
    )
    header = ",".join(["label", "session", "time", *description.channels])
    return f"{comment}\n{header}\n".encode()
