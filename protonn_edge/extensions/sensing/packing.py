"""A sensor's measurements as the emulated board's helper reads them: a part of a file."""

from __future__ import annotations

import struct
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from protonn_edge.extensions.sensing.sensor_kinds import SensorKind

_RECORD = struct.Struct("<BBBBII8s")  # of sensors.c
_ANALOG, _I2C, _SPI, _CONVERTER = 1, 2, 3, 4  # of uno.h


def packed(
    kind: SensorKind, values: NDArray[np.int16], rate: float, inputs: Sequence[int]
) -> bytes:
    """Return the record of a sensor that plays values (samples, channels) at a rate in hertz.

    `inputs` are the numbers that the ADC has for its pins.
    """
    chip, (samples, channels) = kind.registers, values.shape
    played = round(1000 * rate), samples
    if chip is None:
        head = _RECORD.pack(_ANALOG, 0, 2 * channels, 0, *played, bytes(inputs))
        return head + values.astype("<i2").tobytes()
    spi = not chip.addresses
    used = ~chip.read_bits & 0xFF if spi else 0xFF  # registers are without the bits of a read
    number, address = (_SPI, chip.read_bits) if spi else (_I2C, chip.addresses[0])
    if chip.pulses:
        number, address = _CONVERTER, chip.pulses
    (sleep, *bits), (reset, mask), (identity, *_) = chip.sleeps, chip.reset, (*chip.ids, 0)
    registers = [chip.data_register & used, chip.id_register & used, identity]
    about = bytes([*registers, sleep & used, *bits, reset & used, mask])
    flags = chip.fifo | bool(chip.ids) << 1
    head = _RECORD.pack(number, address, chip.data_bytes, flags, *played, about)
    return head + chip.held(values).tobytes()
