"""Record takes of a logger's samples, with labels, in a file.

The file is a table. Its first line is a comment with the sensor, the rate and the units; a header
and one row per sample follow. Rows are written as they arrive, so a killed run loses nothing. An
incomplete last line, which such a run may leave, is removed when the file is opened again. If an
editor saves the file meanwhile, the recording continues in the new file.
"""

from __future__ import annotations

import csv
import io
import math
import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import count
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from protonn_edge.data.naming import check_names
from protonn_edge.data.options import RECORDING_MARK, RECORDING_VERSION
from protonn_edge.device.connection import Deadline, Link
from protonn_edge.device.protocol import Message, ProtocolError
from protonn_edge.extensions.sensing import sensor_board
from protonn_edge.extensions.sensing.sensor_board import LoggerDescription, SamplesMessage
from protonn_edge.system.errors import CheckFailed, InputError, InvalidValue
from protonn_edge.system.files import AppendedFile, write_atomically

_TAIL_BYTES = 1 << 16  # more than a line
_SESSION_SEAM_S = 1.0
_SESSION_SEAM_SAMPLES = 10.0  # enough for `windows` to see a gap
_SESSION = re.compile(r"[^\W\d_].*")
_NUMBER_WORDS = ("nan", "inf", "infinity", "na", "n/a", "null", "none")
_READ_S = 0.5
_SEAM_SAMPLES = 4  # between two takes, so that `windows` sees a gap in time
_MOST_JUMP = 1 << 24  # consecutive samples that can be missing


class RecordingFile(AppendedFile):
    """A recording to which samples are appended: a new file, or one from the same logger.

    The rows belong to a session with a name that begins with a letter. Raises `InputError` if the
    file is not a recording, has other channels or another rate, or is in use.

    Attributes
    ----------
    saved : Path, optional
        A copy of the file from before another program replaced it, if the new one lacks takes of
        this run: the program had read the file before they were recorded, or has removed them.
    """

    saved: Path | None = None

    def __init__(self, path: Path, description: LoggerDescription, session: str) -> None:
        check_names([session], "--session", distinct=False)
        if not _SESSION.fullmatch(session) or session.lower() in _NUMBER_WORDS:
            listed = ", ".join(_NUMBER_WORDS)
            raise InputError(
                f"--session is {session!r}; give a name that begins with a letter and is none of "
                f"{listed}"
            )
        self._session = session
        self._head = _head(description)
        self._columns = self._head.count(b",", self._head.index(b"\n")) + 1
        super().__init__(path)
        try:
            last_s = self._repair()
        except BaseException:
            self._file.close()
            raise
        self._run_begin = self._take_begin = self._file.seek(0, os.SEEK_END)
        seam_s = max(_SESSION_SEAM_S, _SESSION_SEAM_SAMPLES / description.rate)
        # the time at which this run begins: after the end of the previous one, with a gap
        self.begin_s = 0.0 if last_s is None else last_s + seam_s

    def __exit__(self, *problem: object) -> None:
        """Close the file; what a program that replaced it has not read is saved before."""
        try:
            if self.is_replaced and not isinstance(problem[1], InputError):  # which was raised here
                self._follow()
        finally:
            super().__exit__(*problem)

    def begin_take(self) -> None:
        """Remember where a take begins, so that it can be discarded."""
        if self.is_replaced:
            self._follow()
        self._take_begin = self._file.seek(0, os.SEEK_END)

    def append(self, label: str, times: NDArray[np.float64], values: NDArray[np.int16]) -> None:
        """Append samples (samples, channels), at times in seconds; `InputError` if it cannot."""
        text = io.StringIO()
        table = csv.writer(text, lineterminator="\n")
        for time, row in zip(times.tolist(), values.tolist(), strict=True):
            table.writerow([label, self._session, f"{time:.6f}", *row])
        try:
            self._write(text.getvalue().encode())
        except InputError:  # a full disk leaves part of a row, which no program could read
            self._repair()
            raise

    def discard_take(self) -> None:
        """Remove the rows since `begin_take`."""
        if self.is_replaced:
            self._follow()
        self._file.truncate(self._take_begin)

    def _follow(self) -> None:
        """Continue in the file that replaced this one; nothing of this run gets lost.

        The rows of the current take that the new file does not have are appended to it.
        """
        old, begin = self._file, self._take_begin
        of_run = _read(old, self._run_begin)
        before, of_take = of_run[: begin - self._run_begin], of_run[begin - self._run_begin :]
        try:
            self._file = self._opened()
            self._repair()
        except InputError as error:
            if self._file is not old:
                self._file.close()
            self._file = old
            self._save(old)
            raise InputError(
                f"another program replaced {self._path}, and the recording cannot continue there "
                f"({error}); all samples until then are in {self.saved}"
            ) from error
        content = _read(self._file, 0)
        if before not in content:
            self._save(old)
        old.close()
        known = _common(content, of_take)
        self._run_begin = self._take_begin = len(content) - known
        self._write(of_take[known:])

    def _save(self, old: io.FileIO) -> None:
        """Save the content of the file that was replaced."""
        names = (f"{self._path.name}.replaced-{number}" for number in count(1))
        place = next(each for name in names if not (each := self._place.with_name(name)).exists())
        write_atomically(place, _read(old, 0))
        self.saved = self._path.with_name(place.name)

    def _repair(self) -> float | None:
        """Remove an incomplete line; return the time of the last row, None if there is none."""
        size = self._file.seek(0, os.SEEK_END)
        self._file.seek(0)
        begin = self._file.read(len(self._head))
        if size < len(self._head) and self._head.startswith(begin):  # killed while writing it
            self._file.truncate(0)
            self._write(self._head)
            return None
        if begin != self._head:
            raise InvalidValue(
                self._path,
                "not a recording of this sensor at this rate",
                "name another file with -o",
            )
        tail_begin = max(len(self._head), size - _TAIL_BYTES)
        self._file.seek(tail_begin)
        tail = self._file.read(size - tail_begin)
        whole = tail[: tail.rfind(b"\n") + 1]
        if tail and not whole and tail_begin > len(self._head):
            raise self._no_row()
        self._file.truncate(tail_begin + len(whole))
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
        return InvalidValue(self._path, "the last row is not a sample", "remove this row")


def _read(file: io.FileIO, begin: int) -> bytes:
    file.seek(begin)
    return file.readall()


def _common(content: bytes, rows: bytes) -> int:
    """Return how many bytes of the first of these rows are at the end of a file's content."""
    end = len(rows)
    while end > 0 and not content.endswith(rows[:end]):
        end = rows.rfind(b"\n", 0, end - 1) + 1
    return end


def recording_head(sensors: Sequence[str], rate: float, units: str, channels: Sequence[str]) -> str:
    """Return the first two lines of a recording: what recorded it, and its columns."""
    comment = (
        f"{RECORDING_MARK} {RECORDING_VERSION}; sensor: {', '.join(sensors)}; "
        f"rate: {rate:.10g} Hz; units: {units}"
    )
    return f"{comment}\n{','.join(['label', 'session', 'time', *channels])}\n"


def _head(description: LoggerDescription) -> bytes:
    own = description
    return recording_head(own.sensors, own.rate, own.units, own.channels).encode()


@dataclass(frozen=True, eq=False)
class Samples:
    """Consecutive samples."""

    first: int  # the number of the first one, counted from the board's reset
    values: NDArray[np.int16]  # (samples, channels)


class SampleStream(sensor_board.SensorStream[LoggerDescription, Samples]):
    """Decodes the bytes of a logger to samples."""

    KINDS = (LoggerDescription, SamplesMessage)
    LONGEST_FRAME = 260
    OTHER_FIRMWARE = sensor_board.LiveDescription
    OTHER = (
        "the board runs firmware for 'protonn-edge monitor'; upload firmware made with "
        "'protonn-edge build --sensor'"
    )
    CHANGED = "the board's sensor or its sampling rate has changed; name a new file with -o"
    SILENT = (
        "no logger responds at {}; upload the firmware of 'protonn-edge build --sensor', or give "
        "the logger's baud rate with --baud"
    )

    def __init__(self) -> None:
        super().__init__()
        self.lost = 0  # samples missing between those received, for any reason
        self.lost_on_board = 0  # of these, the board reports as lost
        self.resets = 0  # how often the numbers started again
        self._next: int | None = None
        self._board_lost_before = 0

    def _take(self, message: Message, description: LoggerDescription) -> Samples | None:
        if not isinstance(message, SamplesMessage):
            return None
        sample_bytes = 2 * description.n_channels
        if not message.values or len(message.values) % sample_bytes:
            raise ProtocolError(f"a sample has {sample_bytes} bytes")
        values = np.frombuffer(message.values, "<i2").astype(np.int16)
        samples = Samples(message.first, values.reshape(-1, description.n_channels))
        self._count(message.first, len(samples.values), message.lost)
        return samples

    def _count(self, first: int, n: int, board_lost: int) -> None:
        if self._next is None:
            self._board_lost_before = board_lost
        elif first < self._next or first - self._next > _MOST_JUMP:
            self.resets += 1
            self._board_lost_before = 0
        else:
            self.lost += first - self._next
        new = board_lost - self._board_lost_before
        self.lost_on_board += max(0, new)
        self._board_lost_before = board_lost
        self._next = first + n


@dataclass
class RecordedTake:
    """An uninterrupted recording of one label."""

    label: str
    skip: int  # samples to skip before it begins
    wanted: int | None  # its length in samples, lost ones included; None if it is ended by hand
    first: int | None = None  # the number of its first sample, once that is known
    kept: int = 0  # samples in the file
    lost: int = 0  # samples missing between them


class Recorder(sensor_board.SensorBoard[LoggerDescription, Samples]):
    """Records samples of a logger's open line in a file; `where` is its name, for messages."""

    def __init__(self, line: Link, where: str) -> None:
        self.stream = SampleStream()
        super().__init__(line, where, self.stream)
        self.take: RecordedTake | None = None  # the current one
        self.takes: list[RecordedTake] = []  # the finished ones
        self.discarded = 0  # how many were
        self.latest: NDArray[np.int16] | None = None  # the last sample, for display
        self._discardable = False
        self._begin_number: int | None = None
        self._last_number = 0
        self._counted = 0
        self._begin_s = 0.0

    def wait(self) -> None:
        """Read until the logger is described; `DeviceError` as of `SensorBoard`."""
        super().wait()
        self._rate = self.description.rate
        self._began = self._host.now()
        self._silence = Deadline(self._host, max(sensor_board.SILENCE_S, 10 / self._rate))
        self._whole_take = Deadline(self._host, math.inf)

    def record_to(self, file: RecordingFile) -> None:
        """Append takes to a file, once `wait` has returned; their times begin with the next."""
        self._file = file
        self._begin_s = file.begin_s
        self._begin_number = None
        self._discardable = False

    @property
    def measured_rate(self) -> float | None:
        """Samples a second by this computer's clock; None before there are any to count."""
        elapsed = self._silence.renewed_at - self._began
        return self._counted / elapsed if elapsed > 0 and self._counted else None

    @property
    def countdown_s(self) -> float:
        """Seconds until the current take begins."""
        if self.take is None or self.take.first is None:
            return 0.0
        return max(0.0, (self.take.first - self._last_number) / self._rate)

    def begin(self, label: str, seconds: float | None, pause_s: float) -> None:
        """Begin a take after a pause: of a number of seconds, or until `end`."""
        least = _SEAM_SAMPLES if self.takes else 0
        wanted = None if seconds is None else max(1, round(seconds * self._rate))
        allowed_s = math.inf if seconds is None else sensor_board.SLOWEST * (pause_s + seconds)
        self._whole_take = Deadline(self._host, self._silence.seconds + allowed_s)
        self._file.begin_take()
        self._discardable = True
        self.take = RecordedTake(label, max(least, round(pause_s * self._rate)), wanted)

    def end(self) -> None:
        """End the current take."""
        if self.take is not None:
            self.takes.append(self.take)
            self.take = None

    def discard(self) -> bool:
        """Discard the current take, or else the last one; return whether there was one."""
        if not self._discardable:
            return False
        self._discardable = False
        if self.take is None:
            self.takes.pop()
        self._file.discard_take()
        self.take = None
        self.discarded += 1
        return True

    def listen(self, wait_s: float = _READ_S) -> list[Samples]:
        """Record the samples received within some time, and return them.

        Raises `CheckFailed` after ten seconds without any, ten times a take's time, or if the line
        fails.
        """
        heard = list[Samples]()
        for samples in self.receive(wait_s):
            self._keep(samples)
            self._silence.renew()
            heard.append(samples)
        if self._silence.left_s < 0:
            raise CheckFailed(
                f"the board has sent no samples for {self._silence.seconds:.0f} s (the earlier "
                "samples are in the file); plug the board in again, and run the command again"
            )
        take = self.take
        if take is not None and take.wanted is not None and self._whole_take.left_s < 0:
            raise CheckFailed(
                f"only {take.kept:,} of the take's {take.wanted:,} samples arrived (they are in "
                f"the file), although the board reports {self._rate:.4g} samples a second; check "
                "the sensor's wires, and record the take again"
            )
        return heard

    def _keep(self, samples: Samples) -> None:
        n = len(samples.values)
        self._see(samples.first, n)
        self.latest = samples.values[-1]
        take = self.take
        if take is None:
            return
        if take.first is None:
            take.first = samples.first + take.skip
        begin = max(0, take.first - samples.first)
        end = n if take.wanted is None else min(n, take.first + take.wanted - samples.first)
        if end > begin:
            numbers = np.arange(begin, end) + samples.first
            assert self._begin_number is not None, "samples were seen"
            times = self._begin_s + (numbers - self._begin_number) / self._rate
            self._file.append(take.label, times, samples.values[begin:end])
            take.kept += end - begin
            take.lost = int(numbers[-1]) + 1 - take.first - take.kept
        if take.wanted is not None and samples.first + n >= take.first + take.wanted:
            take.lost = take.wanted - take.kept
            self.end()

    def _see(self, first: int, n: int) -> None:
        """Keep track of sample numbers; after a reset they start again, some time later."""
        if self._begin_number is None or first <= self._last_number:
            if self._begin_number is not None:
                passed = self._last_number - self._begin_number
                self._begin_s += passed / self._rate + max(1.0, 10 / self._rate)
                self.end()
            else:
                self._began = self._host.now()
            self._begin_number = first
        else:
            self._counted += first + n - 1 - self._last_number
        self._last_number = first + n - 1
