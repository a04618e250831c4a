"""Decode the bytes of a board that classifies its sensor's samples: see docs/live.md."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from protonn_edge.chain.decision.rejection import UNKNOWN
from protonn_edge.device.framing import BodyStream
from protonn_edge.device.range_watch import RangeWatch
from protonn_edge.device.rates import check_reported_rate
from protonn_edge.device.samples import SENSOR_NUMBERS
from protonn_edge.errors import CheckFailed
from protonn_edge.sensors.kinds import channels_of

_LIVE, _NAME, _WINDOW, _RANGES = 0x93, 0x94, 0x95, 0x96
_LOGGER = 0x91
_VERSION = 2
_LIVE_HEAD = struct.Struct("<BBBBBBIIHHBBIIB")
_NAME_HEAD = struct.Struct("<BBB")
_WINDOW_HEAD = struct.Struct("<BBHIIBBB")
_RANGE = struct.Struct("<hh")
_NO_CONFIDENCE = 255
_HASH_BYTES = 8
NAME_LIMIT = 63
"""Bytes of a class's name, at most."""

UNDECIDED = 254
"""The class that a board reports before there is one."""

_LONGEST_FRAME = 1100


@dataclass(frozen=True)
class LiveDescription:
    """A board's description of itself.

    Attributes
    ----------
    sensor : str
        The kind of its sensor: "mpu6050", "analog".
    found : bool
        Whether the sensor answers.
    from_onset : bool
        Whether a window begins at the onset of a sound.
    period_cycles, clock_hz : int
        Cycles from one sample to the next, and how many there are in a second.
    window, hop : int
        Samples per window, and from the beginning of one window to that of the next.
    votes : int
        Windows of which a majority must have a class before the board reports it.
    refractory : int
        Samples for which a reported class remains.
    n_classes : int
    used : tuple of int
        Channels of the sensor that the model uses.
    model_hash : str
        The beginning of the integer model's SHA-256, in hexadecimal.
    """

    sensor: str
    found: bool
    from_onset: bool
    period_cycles: int
    clock_hz: int
    window: int
    hop: int
    votes: int
    refractory: int
    n_classes: int
    used: tuple[int, ...]
    model_hash: str

    @property
    def rate(self) -> float:
        """Samples a second, by the board's clock."""
        return self.clock_hz / self.period_cycles

    @property
    def channels(self) -> tuple[str, ...]:
        """The names of the channels that the model uses."""
        names = dict(enumerate(channels_of(self.sensor)))
        return tuple(names.get(number, f"channel {number}") for number in self.used)


@dataclass(frozen=True, eq=False)
class WindowAnswer:
    """A board's answer for a window.

    Attributes
    ----------
    number : int
        Its number, of 16 bits, by which missing windows are detected.
    first : int
        The number of its first sample, counted from the board's reset.
    lost : int
        Samples that the board has lost since its reset.
    label : int
        The window's class; 255 is "unknown".
    told : int
        The class reported for the last windows; 254 before there is one.
    scores : ndarray of shape (classes,), int64
    confidence : int or None
        Probability, in percent, of the class with the largest score, if the model has it.
    """

    number: int
    first: int
    lost: int
    label: int
    told: int
    scores: NDArray[np.int64]
    confidence: int | None = None


class AnswerStream(BodyStream):
    """Decodes the bytes of a board to answers.

    Attributes
    ----------
    description : LiveDescription or None
        The latest one; None before the first, until when answers are ignored.
    names : dict of int to str
        Names of classes, as far as the board has sent them.
    next : int
        The number of the next sample at the time of the latest description.
    range_watch : RangeWatch
        Compares the ranges of channels with those in training.
    """

    def __init__(self) -> None:
        super().__init__(_LONGEST_FRAME)
        self.description: LiveDescription | None = None
        self.names: dict[int, str] = {}
        self.next = 0
        self.range_watch = RangeWatch()

    def feed(self, data: bytes) -> list[WindowAnswer]:
        """Return the answers that these bytes complete, in order; see `answers`."""
        return list(self.answers(data))

    def answers(self, data: bytes) -> Iterator[WindowAnswer]:
        """Yield the answers that these bytes complete, each before what follows it is decoded.

        Raises
        ------
        CheckFailed
            If the sender has another version, is a logger, has another model than before, or a
            sampling rate that it cannot keep.
        """
        for body in self.bodies(data):
            answer = self._take(body)
            if answer is not None:
                yield answer

    def _take(self, body: bytes) -> WindowAnswer | None:
        if body[0] == _LOGGER:
            raise CheckFailed(
                "the board runs a logger, which does not classify; upload what "
                "'protonn-edge build --sensor' writes"
            )
        if body[0] == _LIVE:
            self._describe(body)
        elif body[0] == _NAME and len(body) > _NAME_HEAD.size:
            self.names[body[2]] = _read_name(body[_NAME_HEAD.size :])
        elif body[0] == _WINDOW and self.description is not None:
            return self._answer(body, self.description)
        elif body[0] == _RANGES and self.description is not None:
            self._take_ranges(body[2:], self.description)
        return None

    def _take_ranges(self, content: bytes, description: LiveDescription) -> None:
        """Take the range of each channel in training, then that of the latest samples."""
        channels = description.channels
        if len(content) != 2 * len(channels) * _RANGE.size:
            self.torn += 1
            return
        ranges = list(_RANGE.iter_unpack(content))
        trained, sampled = ranges[: len(channels)], ranges[len(channels) :]
        self.range_watch.add(dict(zip(channels, zip(trained, sampled, strict=True), strict=True)))

    def _describe(self, body: bytes) -> None:
        if len(body) > 2 and body[2] != _VERSION:
            raise CheckFailed(
                f"the board's firmware has version {body[2]}, but this program reads version "
                f"{_VERSION}; build it again with 'protonn-edge build --sensor', and upload it"
            )
        found = _description(body)
        if found is None:
            self.torn += 1
            return
        description, number = found
        check_reported_rate(
            description.sensor,
            len(description.used),
            description.period_cycles,
            description.clock_hz,
        )
        if self.description not in (None, description):
            raise CheckFailed("the board runs a different model than before; start again")
        self.description, self.next = description, number

    def _answer(self, body: bytes, description: LiveDescription) -> WindowAnswer | None:
        scores, n = body[_WINDOW_HEAD.size :], description.n_classes
        if len(scores) != 4 * n:
            self.torn += 1
            return None
        _, _, number, first, lost, label, told, percent = _WINDOW_HEAD.unpack_from(body)
        if not (label < n or label == UNKNOWN) or not (told < n or told in (UNKNOWN, UNDECIDED)):
            self.torn += 1
            return None
        return WindowAnswer(
            number,
            first,
            lost,
            label,
            told,
            np.frombuffer(scores, "<i4").astype(np.int64),
            None if percent == _NO_CONFIDENCE else percent,
        )


def sent_name(name: str) -> str:
    """Return the part of a class's name that a board sends."""
    return _read_name(name.encode()[:NAME_LIMIT])


def _read_name(sent: bytes) -> str:
    return "".join(c if c.isprintable() else "?" for c in sent.decode(errors="replace"))


def _description(body: bytes) -> tuple[LiveDescription, int] | None:
    """Return a board's description and the number of its next sample.

    None if the contents of an undamaged frame are invalid.
    """
    if len(body) < _LIVE_HEAD.size:
        return None
    head = _LIVE_HEAD.unpack_from(body)
    sensor, found, from_onset, period, clock = head[3:8]
    window, hop, votes, classes, refractory, following, channels = head[8:]
    names = {each: name for name, each in SENSOR_NUMBERS.items()}
    used, model_hash = body[_LIVE_HEAD.size :][:channels], body[_LIVE_HEAD.size + channels :]
    usable = sensor in names and min(period, clock, window, hop, votes, classes, channels) > 0
    if not usable or len(model_hash) != _HASH_BYTES:
        return None
    description = LiveDescription(
        names[sensor],
        bool(found),
        bool(from_onset),
        period,
        clock,
        window,
        hop,
        votes,
        refractory,
        classes,
        tuple(used),
        model_hash.hex(),
    )
    return description, following
