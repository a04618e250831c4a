"""Decode the bytes of a logger to samples; damaged frames are dropped, lost samples counted.

The framing is that of the wire protocol (`framing`); the messages are a logger's own, see
docs/recording.md.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from protonn_edge.device.framing import BodyStream, frame_bytes
from protonn_edge.device.rates import check_reported_rate
from protonn_edge.errors import CheckFailed
from protonn_edge.sensors import SensorKind, sensor_kind

SENSOR_NUMBERS = {"analog": 1, "microphone": 2, "mpu6050": 3, "adxl345": 4}
"""The number that a logger sends for its sensor."""

_LOGGER, _SAMPLES = 0x91, 0x92
_LIVE = 0x93  # of firmware that classifies
_VERSION = 1
_LOGGER_BODY = struct.Struct("<BBBBBBII6s")
_HEAD = struct.Struct("<BBII")
_LONGEST_FRAME = 260
_MOST_JUMP = 1 << 24  # consecutive samples that can be missing


@dataclass(frozen=True)
class Description:
    """A logger's description of itself.

    Attributes
    ----------
    kinds : tuple of SensorKind
        The sensors that it samples.
    period_cycles, clock_hz : int
        Cycles from one sample to the next, and how many there are in a second.
    found : bool
        Whether the sensor answers.
    """

    kinds: tuple[SensorKind, ...]
    period_cycles: int
    clock_hz: int
    found: bool

    @property
    def channels(self) -> tuple[str, ...]:
        """The names of a sample's values."""
        return tuple(name for kind in self.kinds for name in kind.channels)

    @property
    def rate(self) -> float:
        """Samples a second, by the board's clock."""
        return self.clock_hz / self.period_cycles

    @property
    def units(self) -> str:
        """The units of the values."""
        return self.kinds[0].units


@dataclass(frozen=True, eq=False)
class Samples:
    """Consecutive samples.

    Attributes
    ----------
    first : int
        The number of the first one, counted from the board's reset.
    values : ndarray of shape (samples, channels), int16
    """

    first: int
    values: NDArray[np.int16]


class SampleStream(BodyStream):
    """Decodes the bytes of a logger to samples.

    Attributes
    ----------
    description : Description or None
        The latest one; None before the first, until when samples are ignored.
    lost : int
        Samples missing between those received, for any reason.
    lost_on_board : int
        Those of them that the board reports as lost.
    received : int
        Samples received.
    resets : int
        How often the numbers started again.
    """

    def __init__(self) -> None:
        super().__init__(_LONGEST_FRAME)
        self.description: Description | None = None
        self.lost = 0
        self.lost_on_board = 0
        self.received = 0
        self.resets = 0
        self._next: int | None = None
        self._board_lost_before = 0

    def feed(self, data: bytes) -> list[Samples]:
        """Return the samples that these bytes complete, in order.

        Raises
        ------
        CheckFailed
            If what sends is another version of a logger or no logger, its sensor or rate has
            changed, or the rate is one that it cannot keep.
        """
        found = []
        for body in self.bodies(data):
            if body[0] == _LOGGER:
                self._describe(body)
            elif body[0] == _SAMPLES:
                samples = self._samples(body)
                if samples is not None:
                    found.append(samples)
            elif body[0] == _LIVE:
                raise CheckFailed(
                    "the board runs no logger, but firmware that classifies, which 'protonn-edge "
                    "monitor' reads; upload what 'protonn-edge logger' writes"
                )
            else:
                self.torn += 1
        return found

    def _describe(self, body: bytes) -> None:
        if len(body) > 2 and body[2] != _VERSION:
            raise CheckFailed(
                f"the logger has version {body[2]}, but this program reads version {_VERSION}; "
                "generate it again with 'protonn-edge logger', and upload it"
            )
        description = _description(body)
        if description is None:
            self.torn += 1
            return
        kinds = description.kinds
        check_reported_rate(
            kinds[0].name,
            len(description.channels),
            description.period_cycles,
            description.clock_hz,
        )
        before = self.description
        if before is not None and (kinds, description.rate) != (before.kinds, before.rate):
            raise CheckFailed(
                "the board's sensor or its rate is a different one than before; begin a new "
                "recording"
            )
        self.description = description

    def _samples(self, body: bytes) -> Samples | None:
        if self.description is None:
            return None
        channels = len(self.description.channels)
        payload = body[_HEAD.size :]
        if not payload or len(payload) % (2 * channels):
            self.torn += 1
            return None
        _, _, first, board_lost = _HEAD.unpack_from(body)
        values = np.frombuffer(payload, "<i2").astype(np.int16).reshape(-1, channels)
        self._count(first, len(values), board_lost)
        return Samples(first, values)

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
        self.received += n
        self._next = first + n


def most_frame_bytes(channels: int, samples: int) -> int:
    """Return the length of a frame with these samples, in bytes on the line."""
    return frame_bytes(_HEAD.size + 2 * channels * samples)


def _description(body: bytes) -> Description | None:
    """Return a logger's description; None if the contents of an undamaged frame are invalid."""
    if len(body) != _LOGGER_BODY.size:
        return None
    *_, number, channels, found, period, clock, pins = _LOGGER_BODY.unpack(body)
    names = {each: name for name, each in SENSOR_NUMBERS.items()}
    if number not in names or not (period and clock):
        return None
    kinds: tuple[SensorKind, ...]
    if names[number] == "analog":
        if not 1 <= channels <= len(pins) or max(pins[:channels]) >= len(pins):
            return None
        kinds = tuple(sensor_kind(f"a{pin}") for pin in pins[:channels])
    else:
        kinds = (sensor_kind(names[number]),)
    if sum(len(kind.channels) for kind in kinds) != channels:
        return None
    return Description(kinds, period, clock, bool(found))
