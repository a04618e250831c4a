"""What the sensors of an emulated board replay: the protocol of a sensor, and a file of several."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from typing import Protocol

from protonn_edge.system.errors import InputError

_MAGIC = b"PNNSENS2"  # of sensors.c
_HEAD = struct.Struct("<8sI")


class Replayed(Protocol):
    """A sensor at some pins of the board or at one of its buses, with its measurements."""

    @property
    def name(self) -> str:
        """The sensor's name, for messages."""

    @property
    def places(self) -> tuple[int, ...]:
        """The analog inputs that it takes, else its address on the two-wire bus, or above all."""

    def record(self, inputs: Sequence[int]) -> bytes:
        """Return its head and its samples as ``sensors.c`` reads them.

        `inputs` are the numbers that the ADC has for the pins a0 to a5.
        """


def packed_sensors(sensors: Sequence[Replayed], inputs: Sequence[int]) -> bytes:
    """Return the file of the emulator's sensors (``sensors.c``); `InputError` if two collide."""
    places = [place for sensor in sensors for place in sensor.places]
    if len(set(places)) < len(places):
        names = ", ".join(sensor.name for sensor in sensors)
        raise InputError(f"two of these sensors use the same input: {names}; omit one")
    head = _HEAD.pack(_MAGIC, len(sensors))
    return head + b"".join(sensor.record(inputs) for sensor in sensors)
