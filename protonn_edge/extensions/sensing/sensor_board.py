"""Boards that sample a sensor and only send: their messages, decoders, and line.

They are loggers, and firmware that classifies windows. docs/recording.md and docs/live.md describe
their messages.
"""

from __future__ import annotations

import struct
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import field
from functools import cached_property
from typing import ClassVar, Generic, Self, TypeVar, cast

from protonn_edge.device.connection import Deadline, Host, Link
from protonn_edge.device.message_reader import MessageReader
from protonn_edge.device.protocol import (
    DELIMITER,
    U8,
    U16,
    U32,
    Bytes,
    Bytes6,
    I16s,
    Message,
    ProtocolError,
)
from protonn_edge.extensions.sensing.described import sensor_kind
from protonn_edge.extensions.sensing.sensor_kinds import SensorKind, check_reported_rate
from protonn_edge.system.errors import DeviceError

SENSOR_NUMBERS = {"analog": 1, "microphone": 2, "mpu6050": 3, "adxl345": 4}
"""The number that a board sends for its sensor; `DESCRIBED` for others, with a text about them."""

DESCRIBED = 5

NAME_LIMIT = 63  # bytes of a class's name, at most
_HASH_BYTES = 8
_SENSOR_NAMES = {number: name for name, number in SENSOR_NUMBERS.items()}
_DESCRIPTION_S = 15.0  # a bootloader, and the second between two descriptions
_ASK_S = 1.0
READ_S = 0.25

SILENCE_S = 10.0  # how long a board may be silent beyond what its rate explains
SLOWEST = 10.0  # an emulated board on a busy computer takes as many times as long


def _has_another(text: bytes) -> bool:
    """Whether a text has the next message in it, which it absorbs if the delimiter is lost.

    The CRC of both together is right, and a 0, which no text has, takes the delimiter's place.
    """
    return 0 in text


class Description(Message, ABC):
    """A board's description of itself."""

    version: int
    sensor_number: int
    found: int
    period_cycles: int
    clock_hz: int

    @property
    @abstractmethod
    def about(self) -> bytes:
        """The text of a sensor without a number."""

    @classmethod
    def from_payload(cls, payload: bytes) -> Self:
        """Return the description; `ProtocolError` for impossible values, too."""
        description = super().from_payload(payload)
        if not description.is_possible:
            raise ProtocolError(f"a {cls.NAME} has values that no board sends")
        return description

    @property
    def is_possible(self) -> bool:
        """Whether a board can be like this."""
        is_described = bool(self.about) == (self.sensor_number == DESCRIBED)
        counts = self.period_cycles, self.clock_hz, len(self.kind.channels)
        return is_described and not _has_another(self.about) and min(counts) > 0

    @cached_property
    def kind(self) -> SensorKind:
        """Its sensor, the first of several inputs; raises `ProtocolError` if no board has it."""
        if name := _SENSOR_NAMES.get(self.sensor_number):
            return sensor_kind("a0" if name == "analog" else name)
        text = self.about.decode(errors="replace") if self.sensor_number == DESCRIBED else ""
        if (kind := SensorKind.of_text(text)) is None:
            raise ProtocolError(f"a {self.NAME} has values that no board sends")
        return kind

    @property
    def sensor(self) -> str:
        """The name of its sensor: "mpu6050"; "analog" for inputs that it does not name."""
        return _SENSOR_NAMES.get(self.sensor_number, self.kind.name)

    @property
    def sensors(self) -> tuple[str, ...]:
        """The names of its sensors."""
        return (self.sensor,)

    @property
    def rate(self) -> float:
        """Samples a second, by the board's clock."""
        return self.clock_hz / self.period_cycles

    @property
    @abstractmethod
    def channels(self) -> tuple[str, ...]:
        """The names of the values that it uses of a sample."""


class LoggerDescription(Description, number=0x91):
    """A logger's description of itself."""

    VERSION = 1
    OTHER_VERSION = (
        "the logger has version {}, but this program reads version {}; generate the logger again "
        "with 'protonn-edge build --sensor', and upload it"
    )
    version: U8
    sensor_number: U8  # of `SENSOR_NUMBERS`
    n_channels: U8  # values of a sample
    found: U8 = field(compare=False)  # whether the sensor answers
    period_cycles: U32  # cycles from one sample to the next
    clock_hz: U32
    pins: Bytes6  # numbers of the analog inputs, if it samples some
    about: Bytes = b""

    @property
    def is_possible(self) -> bool:
        """Whether a board can be like this."""
        return super().is_possible and 0 < self.n_channels == len(self.channels)

    @cached_property
    def kinds(self) -> tuple[SensorKind, ...]:
        """The sensors that it samples; none for inputs that no board has."""
        if self.sensor != "analog":
            return (self.kind,)
        pins = self.pins[: self.n_channels]
        return tuple(sensor_kind(f"a{pin}") for pin in pins if pin < len(self.pins))

    @property
    def sensors(self) -> tuple[str, ...]:
        """The names of its sensors, such as "a0" and "a1"."""
        return tuple(kind.name for kind in self.kinds)

    @property
    def channels(self) -> tuple[str, ...]:
        """The names of a sample's values."""
        return tuple(name for kind in self.kinds for name in kind.channels)

    @property
    def units(self) -> str:
        """The units of the values."""
        return self.kinds[0].units


class SamplesMessage(Message, number=0x92):
    """Consecutive samples."""

    first: U32  # the number of the first one, counted from the board's reset
    lost: U32  # samples that the board has lost since its reset
    values: Bytes  # 2 for each value


class LiveDescription(Description, number=0x93):
    """The description of a board that classifies its sensor's samples."""

    VERSION = 3
    OTHER_VERSION = (
        "the board's firmware has version {}, but this program reads version {}; build the "
        "firmware again with 'protonn-edge build --sensor', and upload it"
    )
    version: U8
    sensor_number: U8  # of `SENSOR_NUMBERS`
    found: U8  # whether the sensor answers
    triggered: U8  # whether a window begins at an event, such as a sound
    period_cycles: U32  # cycles from one sample to the next
    clock_hz: U32
    window: U16  # samples per window
    hop: U16  # samples from the start of one window to the start of the next
    votes: U8  # windows of the mean that decides on the reported class
    n_classes: U8
    refractory: U32  # samples for which a reported class remains
    next_sample: U32 = field(compare=False)  # the number of the next sample
    n_used: U8
    rest: Bytes  # `used`, then the first bytes of the model's hash, and `about`

    @property
    def is_possible(self) -> bool:
        """Whether a board can be like this."""
        counts = (self.window, self.hop, self.votes, self.n_classes, self.n_used)
        whole = len(self.rest) - len(self.about) == self.n_used + _HASH_BYTES
        return super().is_possible and min(counts) > 0 and whole

    @property
    def used(self) -> tuple[int, ...]:
        """Channels of the sensor that the model uses."""
        return tuple(self.rest[: self.n_used])

    @property
    def about(self) -> bytes:
        """The text of a sensor without a number."""
        behind = self.n_used + _HASH_BYTES
        return self.rest[behind:] if self.sensor_number == DESCRIBED else b""

    @property
    def model_hash(self) -> str:
        """The beginning of the integer model's SHA-256, in hexadecimal."""
        return self.rest[self.n_used : self.n_used + _HASH_BYTES].hex()

    @property
    def channels(self) -> tuple[str, ...]:
        """The names of the channels that the model uses."""
        names = dict(enumerate(() if self.sensor == "analog" else self.kind.channels))
        return tuple(names.get(number, f"channel {number}") for number in self.used)


class NameMessage(Message, number=0x94):
    """The name of a class, at most `NAME_LIMIT` bytes of it."""

    label: U8
    characters: Bytes

    @classmethod
    def from_payload(cls, payload: bytes) -> Self:
        """Return the message; `ProtocolError` if it has another one in it."""
        message = super().from_payload(payload)
        if _has_another(message.characters):
            raise ProtocolError(f"a {cls.NAME} has another message in it")
        return message

    @property
    def text(self) -> str:
        """The name, in characters that may be shown."""
        return readable(self.characters)


class WindowAnswer(Message, number=0x95):
    """A board's answer for a window."""

    number: U16  # its number, by which missing windows are detected
    first: U32  # the number of its first sample, counted from the board's reset
    lost: U32  # samples that the board has lost since its reset
    label: U8  # the window's class; 255 is "unknown"
    reported: U8  # the word for the last windows; 254 before there is one, 255 is "unknown"
    rest: Bytes  # `shares`, a byte each, then `scores`, 4 bytes each

    @classmethod
    def of(
        cls, window: tuple[int, int, int, int, int], shares: Sequence[int], scores: Sequence[int]
    ) -> Self:
        """Return the answer with its other fields, in order, and with shares and scores."""
        return cls(*window, bytes(shares) + struct.pack(f"<{len(scores)}i", *scores))

    @property
    def shares(self) -> tuple[int, ...]:
        """The mean share of each class in the last windows, in per cent; none of a number."""
        return tuple(self.rest[: len(self.rest) // 5])

    @property
    def scores(self) -> tuple[int, ...]:
        """The score of each class, or the number of a `ValueMessage`."""
        scores = self.rest[len(self.shares) :]
        return struct.unpack(f"<{len(scores) // 4}i", scores[: len(scores) // 4 * 4])


class ChannelRanges(Message, number=0x96):
    """The least and the largest value of each channel in training, then of the latest samples."""

    limits: I16s


class ValueMessage(Message, number=0x98):
    """What a board sends that predicts a number, which its windows have in place of scores."""

    decimals: U8  # the number is in units of 10 to the power of minus this


def sent_name(name: str) -> str:
    """Return the part of a class's name that a board sends."""
    return readable(name.encode()[:NAME_LIMIT])


def readable(sent: bytes) -> str:
    """Return a text that a board has sent, without characters that would act on a terminal."""
    return "".join(c if c.isprintable() else "?" for c in sent.decode(errors="replace"))


Described = TypeVar("Described", bound=Description)
Reported = TypeVar("Reported")


class SensorStream(MessageReader, ABC, Generic[Described, Reported]):
    """Decodes the bytes of a board to its reports; a subclass is for one firmware."""

    KINDS: ClassVar[tuple[type[Message], ...]]  # of its messages
    LONGEST_FRAME: ClassVar[int]
    OTHER_FIRMWARE: ClassVar[type[Description]]  # refused if it describes itself
    OTHER: ClassVar[str]  # the message about it
    CHANGED: ClassVar[str]  # the message about a changed description
    SILENT: ClassVar[str]  # the message if {} does not describe itself

    def __init__(self, more_kinds: Iterable[type[Message]] = ()) -> None:
        other = self.OTHER_FIRMWARE.TYPE, self.OTHER
        super().__init__((*self.KINDS, *more_kinds), self.LONGEST_FRAME, other)
        # the latest one; before the first, everything else is ignored
        self.description: Described | None = None
        self.sequence = 0  # of the latest message

    def feed(self, data: bytes) -> list[Reported]:
        """Return the reports that these bytes complete, in order; see `each`."""
        return list(self.each(data))

    def each(self, data: bytes) -> Iterator[Reported]:
        """Yield the reports that these bytes complete, each before the next is decoded.

        Raises `DeviceError` if the sender has another version or other firmware, is another one
        than before, or reports a sampling rate that it cannot keep.
        """
        for sequence, message in self.messages(data):
            self.sequence = sequence
            if isinstance(message, Description):
                self._describe(cast("Described", message))
            elif self.description is not None:
                try:
                    reported = self._take(message, self.description)
                except ProtocolError:
                    self.torn += 1
                    continue
                if reported is not None:
                    yield reported

    def _describe(self, new: Described) -> None:
        periods = new.period_cycles, new.clock_hz
        check_reported_rate(new.sensors[0], new.kind.bus, len(new.channels), *periods)
        if self.description not in (None, new):
            raise DeviceError(self.CHANGED)
        self.description = new

    @abstractmethod
    def _take(self, message: Message, description: Described) -> Reported | None:
        """Return the report in a message, if any; `ProtocolError` if it is impossible."""


class SensorBoard(Generic[Described, Reported]):
    """The open line of a board, with its name for messages, and the decoder of its bytes."""

    def __init__(self, line: Link, where: str, stream: SensorStream[Described, Reported]) -> None:
        self._host = Host()
        self._line = line
        self._where = where
        self._stream = stream
        self._early: list[Reported] = []

    @property
    def description(self) -> Described:
        """The board's description, after `wait` has returned."""
        assert self._stream.description is not None, "it was waited for"
        return self._stream.description

    def wait(self) -> None:
        """Read until the board is described; `DeviceError` after 15 s, or without its sensor."""
        deadline, asked = Deadline(self._host, _DESCRIPTION_S), Deadline(self._host, _ASK_S)
        while self._stream.description is None:
            if deadline.left_s < 0:
                raise DeviceError(self._stream.SILENT.format(self._where))
            if asked.left_s < 0:
                self.ask()
                asked.renew()
            self._early += self._stream.feed(self._line.read(READ_S))
        if not self.description.found:
            name, bus = self.description.sensors[0], self.description.kind.bus
            wires = "SPI" if bus == "spi" else "SDA and SCL (A4 and A5 of an Uno)"
            raise DeviceError(
                f"the board cannot find its {name}; check the wires to {wires}, VCC and GND, or, "
                f"for an emulated board, give --sensor {name}=FILE"
            )

    def ask(self) -> None:
        """Ask a sketch for its description; to firmware, which sends it anyway, this is nothing."""
        self._line.write(DELIMITER)

    def receive(self, wait_s: float) -> Iterator[Reported]:
        """Yield the reports within some time, first those that came with the description."""
        early, self._early = self._early, []
        yield from early
        yield from self._stream.each(self._line.read(0.0 if early else wait_s))
