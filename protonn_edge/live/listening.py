"""What a board says of its windows, one after the other, until enough was heard."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator

from protonn_edge.errors import CheckFailed
from protonn_edge.hil.link import Line
from protonn_edge.live.frames import AnswerStream, LiveDescription, WindowAnswer
from protonn_edge.live.windowing import UNDECIDED
from protonn_edge.recording.described import read_description
from protonn_edge.stages.decision.rejection import UNKNOWN

_SILENCE_S = 10.0
_SILENT_WINDOWS = 3
_READ_S = 0.25
_ROUNDING_S = 1e-6


class Listener:
    """The line of a board that classifies what it senses.

    Parameters
    ----------
    line : Line
        The open serial line.
    where : str
        Its name, for a sentence.

    Attributes
    ----------
    stream : AnswerStream
    windows : int
        Answers so far.
    missing : int
        Windows that are missing between them: lost on the line, or of lost samples.
    lost : int
        Samples that the board has lost since its reset.
    """

    def __init__(self, line: Line, where: str) -> None:
        self.stream = AnswerStream()
        self.windows = 0
        self.missing = 0
        self.lost = 0
        self._line = line
        self._where = where
        self._first: WindowAnswer | None = None
        self._latest: WindowAnswer | None = None
        self._early: list[WindowAnswer] = []
        self._began = 0.0

    @property
    def description(self) -> LiveDescription:
        """What the board is, once `wait` has returned."""
        assert self.stream.description is not None, "it was waited for"
        return self.stream.description

    @property
    def seconds(self) -> float:
        """Time between the first and the last window, by the board's clock."""
        if self._first is None or self._latest is None:
            return 0.0
        return (self._latest.first - self._first.first) / self.description.rate

    @property
    def measured_rate(self) -> float | None:
        """Samples a second by this computer's clock; None before there is one."""
        elapsed = time.monotonic() - self._began
        return self.seconds * self.description.rate / elapsed if elapsed > 0 else None

    def wait(self) -> None:
        """Read until the board has said what it is.

        Raises
        ------
        CheckFailed
            If it does not within 15 s, or it does not find its sensor.
        """
        silent = (
            f"no board says at {self._where} what it senses; upload what 'protonn-edge build "
            "--sensor' writes"
        )
        self._early += read_description(self._line, self.stream, silent)
        if not self.description.found:
            raise CheckFailed(
                f"the board does not find its {self.description.sensor}; check its wires: SDA at "
                "A4, SCL at A5, VCC, GND; an emulated board needs --sensor"
            )

    def answers(self, seconds: float | None = None) -> Iterator[WindowAnswer]:
        """Yield what the board says of windows, for so many seconds of its clock, or for ever.

        Raises
        ------
        CheckFailed
            If it falls silent, or the line breaks.
        """
        period_s = self.description.hop / self.description.rate
        silence_s = _SILENCE_S + _SILENT_WINDOWS * period_s
        silence_s += self.description.window / self.description.rate
        heard = time.monotonic()
        end = math.inf if seconds is None else seconds - _ROUNDING_S
        while True:
            early, self._early = self._early, []
            found = early or self.stream.feed(self._line.read(_READ_S))
            for answer in found:
                self._count(answer)
                yield answer
                if self.seconds + period_s >= end:
                    return
            now = time.monotonic()
            heard = now if found else heard
            if now - heard > silence_s:
                raise CheckFailed(
                    f"the board has told of no window for {silence_s:.0f} s; look at its wires, "
                    "plug it in again"
                )

    def _count(self, answer: WindowAnswer) -> None:
        if self._latest is not None and answer.first <= self._latest.first:
            self._first = None  # it was reset
        if self._first is None:
            self._first, self._began = answer, time.monotonic()
        elif self._latest is not None:
            passed = (answer.first - self._latest.first) / self.description.hop
            self.missing += max(0, math.ceil(passed) - 1)
        self._latest = answer
        self.windows += 1
        self.lost = answer.lost

    def name_of(self, label: int) -> str | None:
        """Return a class's name; None for a board that has not told one yet."""
        if label == UNDECIDED:
            return None
        return "unknown" if label == UNKNOWN else self.stream.names.get(label, f"class {label}")

    def seconds_at(self, answer: WindowAnswer) -> float:
        """Return when a window ended, since the board's reset and by its clock."""
        return (answer.first + self.description.window) / self.description.rate
