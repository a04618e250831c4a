"""The sensors of an emulated board as its helper reads them: a file for ``sensors.c``."""

from __future__ import annotations

import struct
from collections.abc import Sequence

from protonn_edge.errors import InputError
from protonn_edge.sensors.kinds import ANALOG_PINS
from protonn_edge.sensors.played import PlayedSensor

_MAGIC = b"PNNSENS2"  # of sensors.c
_HEAD = struct.Struct("<8sI")
_RECORD = struct.Struct("<BBBBII8s")
_ANALOG, _I2C, _SPI, _CONVERTER = 1, 2, 3, 4  # of uno.h


def packed_sensors(
    sensors: Sequence[PlayedSensor], inputs: Sequence[int] = range(ANALOG_PINS)
) -> bytes:
    """Return the file of the emulator's sensors (``sensors.c``); `InputError` if two collide.

    `inputs` are the numbers that the ADC has for the pins a0 to a5.
    """
    places: list[int] = []  # addresses are above all pins
    for sensor in sensors:
        chip = sensor.kind.registers
        places += sensor.pins if chip is None else chip.addresses[:1] or (chip.read_bits,)
    names = [sensor.kind.name for sensor in sensors]
    if len(set(places)) < len(places):
        raise InputError(f"two of these sensors use the same input: {', '.join(names)}; omit one")
    parts = [_HEAD.pack(_MAGIC, len(sensors))]
    for sensor in sensors:
        parts += _packed(sensor, inputs)
    return b"".join(parts)


def _packed(sensor: PlayedSensor, inputs: Sequence[int]) -> tuple[bytes, bytes]:
    chip, (samples, channels) = sensor.kind.registers, sensor.values.shape
    played = round(1000 * sensor.rate), samples
    if chip is None:
        numbers = bytes(inputs[pin] for pin in sensor.pins)
        head = _RECORD.pack(_ANALOG, 0, 2 * channels, 0, *played, numbers)
        return head, sensor.values.astype("<i2").tobytes()
    spi = not chip.addresses
    used = ~chip.read_bits & 0xFF if spi else 0xFF  # registers are without the bits of a read
    kind, address = (_SPI, chip.read_bits) if spi else (_I2C, chip.addresses[0])
    if chip.pulses:
        kind, address = _CONVERTER, chip.pulses
    (sleep, *bits), (reset, mask), (identity, *_) = chip.sleeps, chip.reset, (*chip.ids, 0)
    registers = [chip.data_register & used, chip.id_register & used, identity]
    about = bytes([*registers, sleep & used, *bits, reset & used, mask])
    flags = chip.fifo | bool(chip.ids) << 1
    head = _RECORD.pack(kind, address, chip.data_bytes, flags, *played, about)
    return head, chip.held(sensor.values).tobytes()
