"""Read a board's answers for its windows, one after the other, for some time."""

from __future__ import annotations

import time
from collections.abc import Iterator

from protonn_edge.chain.decision.rejection import UNKNOWN
from protonn_edge.device.answers import UNDECIDED, AnswerStream, LiveDescription, WindowAnswer
from protonn_edge.device.description import read_description
from protonn_edge.device.link import Line
from protonn_edge.errors import CheckFailed

_SILENCE_S = 10.0
_SILENT_WINDOWS = 3
_SLOWEST = 10.0  # an emulated board on a busy computer takes as many times as long
_READ_S = 0.25
_ROUNDING_S = 1e-6
_NUMBERS = 1 << 16  # numbers of windows, before they start again


class Listener:
    """Reads the line of a board that classifies its sensor's samples.

    Parameters
    ----------
    line : Line
        The open serial line.
    where : str
        Its name, for messages.

    Attributes
    ----------
    stream : AnswerStream
    windows : int
        Answers so far.
    missing : int
        Windows missing between them: sent by the board, but not received.
    lost : int
        Samples that the board has lost since its reset.
    resets : int
        How often its numbers began again.
    """

    def __init__(self, line: Line, where: str) -> None:
        self.stream = AnswerStream()
        self.windows = 0
        self.missing = 0
        self.lost = 0
        self.resets = 0
        self._line = line
        self._where = where
        self._early: list[WindowAnswer] = []
        self._began = 0.0
        self._before = 0  # samples before the board was reset
        self._begin = 0  # numbers of the first sample and the latest one
        self._latest = self._described = 0
        self._window: WindowAnswer | None = None  # the latest one

    @property
    def description(self) -> LiveDescription:
        """The board's description, after `wait` has returned."""
        assert self.stream.description is not None, "it was waited for"
        return self.stream.description

    @property
    def seconds(self) -> float:
        """The duration so far, by the board's clock, without the time that a reset takes."""
        return (self._before + self._latest - self._begin) / self.description.rate

    @property
    def measured_rate(self) -> float | None:
        """Samples per second by this computer's clock since a reset; None before there is one."""
        elapsed = time.monotonic() - self._began
        return (self._latest - self._begin) / elapsed if elapsed > 0 else None

    def wait(self) -> None:
        """Read until the board's description is complete.

        Raises
        ------
        CheckFailed
            If there is none within 15 s, or the board does not find its sensor.
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
        """Yield the answers for windows, for a number of seconds by the board's clock, or forever.

        Raises
        ------
        CheckFailed
            If the board sends nothing new, the seconds take ten times as long, or the line fails.
        """
        board = self.description
        silence_s = _SILENCE_S + (board.window + _SILENT_WINDOWS * board.hop) / board.rate
        until_next_s = 0.0 if board.from_onset else board.hop / board.rate
        heard = began = time.monotonic()
        while True:
            early, self._early = self._early, []
            progress = False
            for answer in early or self.stream.answers(self._line.read(_READ_S)):
                self._follow_description()  # what came before the answer
                if not self._follow(answer):
                    continue
                if self._is_over(seconds):
                    return
                progress = True
                self._count(answer)
                yield answer
                if self._is_over(seconds, until_next_s):
                    return
            # Where a window begins with a sound, there are none in silence.
            progress |= self._follow_description() and board.from_onset
            if self._is_over(seconds):
                return
            now = time.monotonic()
            if progress:
                heard = now
            if now - heard > silence_s:
                raise CheckFailed(
                    f"the board has sent no window for {silence_s:.0f} s; check its wires, and "
                    "plug it in again"
                )
            if seconds is not None and now - began > _SILENCE_S + _SLOWEST * seconds:
                raise CheckFailed(
                    f"by the board's clock, {self.seconds:.3g} s have passed in {now - began:.0f} "
                    "s; plug it in again"
                )

    def _is_over(self, seconds: float | None, further_s: float = 0.0) -> bool:
        """Whether these seconds have passed, or will have with the next answer."""
        if seconds is None or self.seconds + further_s <= seconds + _ROUNDING_S:
            return False
        last = self._begin - self._before + round(seconds * self.description.rate)
        self._latest = min(self._latest, last)
        return True

    def _follow(self, answer: WindowAnswer) -> bool:
        """Update the number of samples by an answer; return False if it was received before."""
        last = self._window
        if last is not None and (answer.number, answer.first) == (last.number, last.first):
            return False
        if last is not None and answer.first <= last.first:
            self._begin_again()
        self._latest = max(self._latest, answer.first + self.description.window)
        return True

    def _follow_description(self) -> bool:
        """Update the number of samples by a new description; return whether it has grown."""
        if self.stream.next == self._described:
            return False
        self._described, before = self.stream.next, self.seconds
        if self._described < self._latest - self.description.window:  # by more than a window
            self._begin_again()
        self._latest = max(self._latest, self._described)
        return self.seconds > before

    def _begin_again(self) -> None:
        """Continue after a reset of the board: its numbers start at 0."""
        self.resets += 1
        self._before += self._latest - self._begin
        self._began, self._begin, self._latest = time.monotonic(), 0, 0
        self._window = None

    def _count(self, answer: WindowAnswer) -> None:
        if self._window is not None:
            self.missing += (answer.number - self._window.number - 1) % _NUMBERS
        self._window = answer
        self.windows += 1
        self.lost = answer.lost

    def name_of(self, label: int) -> str | None:
        """Return a class's name; None if the board has not reported a class yet."""
        if label == UNDECIDED:
            return None
        return "unknown" if label == UNKNOWN else self.stream.names.get(label, f"class {label}")

    def seconds_at(self, answer: WindowAnswer) -> float:
        """Return when a window ended, since the board's reset and by its clock."""
        return (answer.first + self.description.window) / self.description.rate
