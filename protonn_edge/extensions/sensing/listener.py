"""Read a board's answers for successive windows."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from protonn_edge.data.naming import NO_CLASS
from protonn_edge.device.connection import Deadline, Link
from protonn_edge.device.protocol import Message, ProtocolError
from protonn_edge.extensions.sensing import sensor_board
from protonn_edge.extensions.sensing.sensor_board import LiveDescription, WindowAnswer
from protonn_edge.policy.confidence.voting import UNDECIDED, WHOLE
from protonn_edge.system.errors import DeviceError
from protonn_edge.system.extensions import additions_to

_SILENT_WINDOWS = 3
_ROUNDING_S = 1e-6
_NO_SAMPLE = 1 << 32
_NUMBERS = 1 << 16  # numbers of windows, before they start again

Answer = WindowAnswer | Message
"""The answer for a window, or a message of a `StreamPart`."""

# Values slightly outside the range in training are clamped and usually do no harm. If they exceed
# it by more than its width for several seconds, the sensor is a different one, has another
# measuring range, or is mounted differently.
_TIMES = 3  # in a row, about one per second
_BEYOND = 1.0  # share of the range in training


@dataclass(frozen=True)
class NamedAnswer:
    """A board's answer for a window, with all that it is shown with."""

    answer: WindowAnswer
    seconds: float  # when the window ended, since the board's reset and by its clock
    # names of classes; None if the board has not reported a class yet
    label: str | None
    reported: str | None
    names: tuple[str, ...]  # of the scores
    # so far: answers, answers that were not received, samples a second by this computer's clock
    windows: int
    missing: int
    rate: float | None
    value: str | None = None  # the number that the model predicts, if it does

    @property
    def shares(self) -> dict[str, int]:
        """The mean share of each class in the last windows, in per cent."""
        return dict(zip(self.names, self.answer.shares, strict=False))

    @property
    def none(self) -> int:
        """The share of none of the classes, in per cent."""
        return WHOLE - sum(self.answer.shares)


class StreamPart:
    """What an extension takes from the messages of a board: its addition to "sensing"."""

    KINDS: ClassVar[tuple[type[Message], ...]]  # of its messages

    def take(self, message: Message, description: LiveDescription) -> Message | None:
        """Keep what a message of its kinds states, and return it if it is for the listener.

        Raises `ProtocolError` if no such board can send it.
        """
        raise NotImplementedError

    def take_warning(self) -> str | None:
        """Return a sentence, once, that the listener should know."""
        return None

    @property
    def summary(self) -> str | None:
        """A sentence for the end."""
        return None


class AnswerStream(sensor_board.SensorStream[LiveDescription, Answer]):
    """Decodes the bytes of a board into its answers for windows, and those that parts take."""

    KINDS = (
        LiveDescription,
        sensor_board.NameMessage,
        WindowAnswer,
        sensor_board.ChannelRanges,
        sensor_board.ValueMessage,
    )
    LONGEST_FRAME = 4150  # the content of an EEPROM of 4 kB
    OTHER_FIRMWARE = sensor_board.LoggerDescription
    OTHER = (
        "the board runs a logger, which does not classify; upload firmware made with 'protonn-edge "
        "build --sensor'"
    )
    CHANGED = "the board's firmware has changed since the start; run the command again"
    SILENT = (
        "no board that classifies sensor samples responds at {}; upload firmware made with "
        "'protonn-edge build --sensor', or for 32 bits the sketch Live of 'export --sensor'"
    )

    def __init__(self) -> None:
        self.parts = additions_to("sensing", StreamPart)
        more = (kind for part in self.parts.values() for kind in part.KINDS)
        super().__init__(more)
        self.names: dict[int, str] = {}  # names of classes that the board has sent so far
        self.decimals: int | None = None  # of the number that the model predicts, if it does
        self.begin = _NO_SAMPLE  # the lowest number of a sample in a description
        self._far_in_a_row: dict[str, int] = {}  # by channel
        self._warning: str | None = ""  # about channels far outside; None once taken

    def _describe(self, new: LiveDescription) -> None:
        super()._describe(new)
        self.begin = min(self.begin, new.next_sample)

    def take_warning(self) -> str | None:
        """Return a sentence, once, about values far outside the training data, or of a part."""
        for part in self.parts.values():
            if (sentence := part.take_warning()) is not None:
                return sentence
        if not self._warning:
            return None
        warning, self._warning = self._warning, None
        return warning

    def _take(self, message: Message, description: LiveDescription) -> Answer | None:
        if isinstance(message, sensor_board.NameMessage):
            self.names[message.label] = message.text
        elif isinstance(message, sensor_board.ChannelRanges):
            self._compare(message, description.channels)
        elif isinstance(message, sensor_board.ValueMessage):
            self.decimals = message.decimals
        elif isinstance(message, WindowAnswer):
            return _known(message, range(description.n_classes))
        for part in self.parts.values():
            if isinstance(message, part.KINDS):
                return part.take(message, description)
        return None

    def _compare(self, ranges: sensor_board.ChannelRanges, channels: tuple[str, ...]) -> None:
        """Compare the channels' ranges with training; without samples, minima are above maxima."""
        lows, highs = ranges.limits[::2], ranges.limits[1::2]
        each = list(zip(lows, highs, strict=False))
        if 2 * len(each) != len(ranges.limits) or len(each) != 2 * len(channels):
            raise ProtocolError("the ranges are for other channels")
        far_outside = []
        for name, (low, high), (least, largest) in zip(
            channels, each[: len(channels)], each[len(channels) :], strict=True
        ):
            beyond = max(low - least, largest - high)
            far = least <= largest and beyond > _BEYOND * max(1, high - low)
            self._far_in_a_row[name] = self._far_in_a_row.get(name, 0) + 1 if far else 0
            if self._far_in_a_row[name] >= _TIMES:
                values = f"{name} from {least:,} to {largest:,}"
                far_outside.append(f"{values} (in training, from {low:,} to {high:,})")
        if far_outside and self._warning == "":
            self._warning = (
                f"the sensor's counts are far outside the training data: {', '.join(far_outside)}; "
                "check the sensor, its measuring range and its mounting, or include such data in "
                "the training"
            )


def _known(answer: WindowAnswer, classes: range) -> WindowAnswer:
    """Return an answer; `ProtocolError` if the model has no such class."""
    is_valid = len(answer.scores) == len(classes) and sum(answer.shares) <= WHOLE
    is_valid &= answer.label in classes or answer.label == NO_CLASS
    is_valid &= answer.reported in classes or answer.reported in (NO_CLASS, UNDECIDED)
    if not is_valid:
        raise ProtocolError("the model has no such class")
    return answer


class Listener(sensor_board.SensorBoard[LiveDescription, Answer]):
    """Reads the open line of a board that classifies; `where` is its name, for messages."""

    def __init__(self, line: Link, where: str) -> None:
        self.stream = AnswerStream()
        super().__init__(line, where, self.stream)
        self.windows = 0  # answers so far
        self.missing = 0  # windows that the board sent but that were not received
        self.lost = 0  # samples that the board has lost since its reset
        self.resets = 0  # how often the numbering restarted
        self._began = 0.0
        self._before = 0  # samples before the board was reset
        self._begin = 0  # numbers of the first sample and the latest one
        self._latest = self._described = 0
        self._window: WindowAnswer | None = None  # the latest one

    @property
    def seconds(self) -> float:
        """The duration so far by the board's clock, excluding the time that resets take."""
        return (self._before + self._latest - self._begin) / self.description.rate

    @property
    def measured_rate(self) -> float | None:
        """Samples per second by this computer's clock since a reset; None before there is one."""
        elapsed = self._host.now() - self._began
        return (self._latest - self._begin) / elapsed if elapsed > 0 else None

    def wait(self) -> None:
        """Read until the board's description is complete; `DeviceError` as of `SensorBoard`."""
        super().wait()
        self._began = self._host.now()
        # One read may bring several descriptions, with answers between them that are yet to come.
        self._begin = self._latest = self.stream.begin
        self._described = self.description.next_sample

    def answers(self, seconds: float | None = None) -> Iterator[Answer]:
        """Yield the answers for windows, for a number of seconds by the board's clock, or forever.

        Replies to requests that were sent in the meantime are included.

        Raises `DeviceError` if nothing new arrives in time, or if the line fails.
        """
        board = self.description
        silent_s = (board.window + _SILENT_WINDOWS * board.hop) / board.rate
        until_next_s = 0.0 if board.triggered else board.hop / board.rate
        silence = Deadline(self._host, sensor_board.SILENCE_S + silent_s)
        allowed_s = math.inf if seconds is None else sensor_board.SLOWEST * seconds
        whole = Deadline(self._host, sensor_board.SILENCE_S + allowed_s)
        while True:
            progress = False
            for answer in self.receive(sensor_board.READ_S):
                if not isinstance(answer, WindowAnswer):
                    yield answer
                    continue
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
            progress |= self._follow_description() and bool(board.triggered)
            if self._is_over(seconds):
                return
            if progress:
                silence.renew()
            elif silence.left_s < silence.seconds / 2:  # a reset sketch answers when asked again
                self.ask()
            self._check(silence, whole)

    def _check(self, silence: Deadline, whole: Deadline) -> None:
        if silence.left_s < 0:
            raise DeviceError(
                f"the board has classified no window for {silence.seconds:.0f} s; check the "
                "sensor's wires, and plug the board in again"
            )
        if whole.left_s < 0:
            raise DeviceError(
                f"the board's clock advanced by only {self.seconds:.3g} s in "
                f"{whole.seconds - whole.left_s:.0f} s; plug the board in again"
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
        if self.description.next_sample == self._described:
            return False
        self._described, before = self.description.next_sample, self.seconds
        if self._described < self._latest - self.description.window:  # by more than a window
            self._begin_again()
        self._latest = max(self._latest, self._described)
        return self.seconds > before

    def _begin_again(self) -> None:
        """Continue after a reset of the board: its numbers start at 0."""
        self.resets += 1
        self._before += self._latest - self._begin
        self._began, self._begin, self._latest = self._host.now(), 0, 0
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
        return "unknown" if label == NO_CLASS else self.stream.names.get(label, f"class {label}")

    def seconds_at(self, answer: WindowAnswer) -> float:
        """Return when a window ended, since the board's reset and by its clock."""
        return (answer.first + self.description.window) / self.description.rate

    def named(self, answer: WindowAnswer) -> NamedAnswer:
        """Return the latest answer with its names and times."""
        names = (self.name_of(label) for label in range(len(answer.scores)))
        places, value = self.stream.decimals, None
        if places is not None:
            value = f"{answer.scores[0] / 10**places:.{places}f}"
        return NamedAnswer(
            answer,
            self.seconds_at(answer),
            self.name_of(answer.label),
            self.name_of(answer.reported),
            tuple(name or "" for name in names),
            self.windows,
            self.missing,
            self.measured_rate,
            value,
        )
