"""Takes: which samples of a logger are kept, and under which label."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from protonn_edge.device.description import read_description
from protonn_edge.device.link import Line
from protonn_edge.device.recording_file import RecordingFile
from protonn_edge.device.samples import Samples, SampleStream
from protonn_edge.errors import CheckFailed

_SILENCE_S = 10.0
_SLOWEST = 10.0  # an emulated board on a busy computer takes as many times as long
_READ_S = 0.5
_SEAM_SAMPLES = 4  # between two takes, so that `windows` sees a gap in time


@dataclass
class Take:
    """An uninterrupted recording of one label.

    Attributes
    ----------
    label : str
    skip : int
        Samples to skip before it begins.
    wanted : int or None
        Its length in samples, lost ones included; None if it is ended by hand.
    first : int or None
        The number of its first sample, once that is known.
    kept, lost : int
        Samples in the file, and those missing between them.
    """

    label: str
    skip: int
    wanted: int | None
    first: int | None = None
    kept: int = 0
    lost: int = 0


class Recorder:
    """Records the samples of a logger's line in a file.

    Parameters
    ----------
    line : Line
        The open serial line.
    stream : SampleStream
        The decoder, which has read the description.
    file : RecordingFile
        Where takes are appended.
    early : sequence of Samples
        The samples received with the description.

    Attributes
    ----------
    stream : SampleStream
    take : Take or None
        The current one.
    takes : list of Take
        The finished ones.
    discarded : int
        The number of discarded ones.
    latest : ndarray of shape (channels,) or None
        The last sample, for display.
    """

    def __init__(
        self, line: Line, stream: SampleStream, file: RecordingFile, early: Sequence[Samples] = ()
    ) -> None:
        self.stream = stream
        self.take: Take | None = None
        self.takes: list[Take] = []
        self.discarded = 0
        self.latest: NDArray[np.int16] | None = None
        self._early = list(early)
        self._discardable = False
        self._line = line
        self._file = file
        self._begin_s = file.begin_s
        self._begin_number: int | None = None
        self._last_number = 0
        self._heard = self._began = self._end = time.monotonic()
        self._counted = 0
        assert stream.description is not None, "a logger that has said what it is"
        self._rate = stream.description.rate

    @property
    def measured_rate(self) -> float | None:
        """Samples a second by this computer's clock; None before there are any to count."""
        elapsed = self._heard - self._began
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
        self._end = time.monotonic() + self._silence_s + _SLOWEST * (pause_s + (seconds or 0.0))
        self._file.begin_take()
        self._discardable = True
        self.take = Take(label, max(least, round(pause_s * self._rate)), wanted)

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

    def listen(self, wait_s: float = _READ_S) -> None:
        """Record the samples received within some time.

        Raises
        ------
        CheckFailed
            If no samples were received for ten seconds, a take of some seconds takes ten times as
            long, or the line fails.
        """
        early, self._early = self._early, []
        data = self._line.read(0.0 if early else wait_s)
        received = [*early, *self.stream.feed(data)]
        for samples in received:
            self._keep(samples)
        now = time.monotonic()
        if received:
            self._heard = now
        elif now - self._heard > self._silence_s:
            raise CheckFailed(
                f"the board has sent no samples for {self._silence_s:.0f} s; what was recorded is "
                "in the file; plug it in again and continue"
            )
        take = self.take
        if take is not None and take.wanted is not None and now > self._end:
            raise CheckFailed(
                f"the take has only {take.kept:,} of {take.wanted:,} samples, though the board "
                f"reports {self._rate:.4g} a second; what was recorded is in the file"
            )

    @property
    def _silence_s(self) -> float:
        """Seconds without samples that are too many."""
        return max(_SILENCE_S, 10 / self._rate)

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
                self._began = time.monotonic()
            self._begin_number = first
        else:
            self._counted += first + n - 1 - self._last_number
        self._last_number = first + n - 1


def wait_for_description(line: Line, stream: SampleStream, where: str) -> list[Samples]:
    """Read until a logger's description is complete; return the samples received with it.

    Raises
    ------
    CheckFailed
        If there is none within 15 s, or the logger does not find its sensor.
    """
    silent = (
        f"no logger responds at {where}; upload what 'protonn-edge logger' writes, or give the "
        "--baud that it was made for"
    )
    early = read_description(line, stream, silent)
    assert stream.description is not None, "it has been read"
    if not stream.description.found:
        name = stream.description.kinds[0].name
        raise CheckFailed(
            f"the board does not find its {name}; check its wires: SDA at A4, SCL at A5, VCC, "
            f"GND; an emulated board needs --sensor {name}=FILE"
        )
    return early
