"""What a board says of its windows, one after the other, until enough was heard."""

from __future__ import annotations

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
_NUMBERS = 1 << 16  # of windows, before they begin again


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
        Windows that are missing between them: those that the board has sent, and that did not come.
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
        self._early: list[WindowAnswer] = []
        self._began = 0.0
        self._begin = 0  # the number of the sample with which listening began, and of the latest
        self._latest = self._described = 0
        self._window: WindowAnswer | None = None  # the latest one

    @property
    def description(self) -> LiveDescription:
        """What the board is, once `wait` has returned."""
        assert self.stream.description is not None, "it was waited for"
        return self.stream.description

    @property
    def seconds(self) -> float:
        """For how long it has been listened to, by the board's clock."""
        return (self._latest - self._begin) / self.description.rate

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
            f"no board with a sensor and a model responds at {self._where}; upload what "
            "'protonn-edge build --sensor' writes"
        )
        self._early += read_description(self._line, self.stream, silent)
        if not self.description.found:
            name = self.description.sensor
            raise CheckFailed(
                f"the board does not find its {name}; check its wires: SDA at A4, SCL at A5, VCC, "
                f"GND; an emulated board needs --sensor {name}=FILE"
            )
        self._began = time.monotonic()
        self._begin = self._latest = self._described = self.stream.next

    def answers(self, seconds: float | None = None) -> Iterator[WindowAnswer]:
        """Yield what the board says of windows, for so many seconds of its clock, or for ever.

        Raises
        ------
        CheckFailed
            If it falls silent, or the line breaks.
        """
        board = self.description
        silence_s = _SILENCE_S + (board.window + _SILENT_WINDOWS * board.hop) / board.rate
        until_next_s = 0.0 if board.from_onset else board.hop / board.rate
        heard = time.monotonic()
        while True:
            early, self._early = self._early, []
            found = early or self.stream.feed(self._line.read(_READ_S))
            for answer in found:
                self._follow(answer)
                if self._is_over(seconds):
                    return
                self._count(answer)
                yield answer
                if self._is_over(seconds, until_next_s):
                    return
            described = self._follow_description()
            if self._is_over(seconds):
                return
            now = time.monotonic()
            if found or (described and board.from_onset):  # in silence it tells of no window
                heard = now
            if now - heard > silence_s:
                raise CheckFailed(
                    f"the board has sent no window for {silence_s:.0f} s; check its wires, and "
                    "plug it in again"
                )

    def _is_over(self, seconds: float | None, further_s: float = 0.0) -> bool:
        """Whether so many seconds have passed, or will have further on; no more of them count."""
        if seconds is None or self.seconds + further_s <= seconds + _ROUNDING_S:
            return False
        self._latest = min(self._latest, self._begin + round(seconds * self.description.rate))
        return True

    def _follow(self, answer: WindowAnswer) -> None:
        if self._window is not None and answer.first <= self._window.first:
            self._begin_again()
        self._latest = max(self._latest, answer.first + self.description.window)

    def _follow_description(self) -> bool:
        """Return whether the board has described itself again; follow its samples by that."""
        if self.stream.next == self._described:
            return False
        self._described = self.stream.next
        if self._described < self._latest - self.description.window:  # less than a window waits
            self._begin_again()
        self._latest = max(self._latest, self._described)
        return True

    def _begin_again(self) -> None:
        """Follow a board that was reset: its numbers begin at 0."""
        self._began, self._begin, self._latest = time.monotonic(), 0, 0
        self._window = None

    def _count(self, answer: WindowAnswer) -> None:
        if self._window is not None:
            self.missing += (answer.number - self._window.number - 1) % _NUMBERS
        self._window = answer
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
