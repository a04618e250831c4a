"""An INA219 on a second Arduino, whose sketch is ``templates/meters/ina219.ino.j2``.

Each line is a sample: hexadecimal numbers, followed by the sum of the characters before.
"""

from __future__ import annotations

import re

import numpy as np

from protonn_edge.extensions.lab.meters.meter import MeterSamples, SerialMeter, steps_of
from protonn_edge.system.errors import InstrumentError

RATE_HZ, BAUD, TRIGGER_PIN = 1_000, 500_000, 2  # as in the sketch
_SHUNT_OHMS = 0.1
_SHUNT_VOLTS, _BUS_VOLTS = 10e-6, 4e-3  # volts per count (data sheet SBOS448G, 8.6.3)
_FULL_SCALE = 4000  # counts of the shunt, at 40 mV
_WITHIN_S = 5.0  # including an Arduino's bootloader
_LINE = re.compile(rb"S([0-9A-F]{4})([0-9A-F]{4})([0-9A-F]{4})([01])([0-9A-F]{2})\n")


class Ina219(SerialMeter):
    """An INA219 with a shunt of 0.1 ohm, in the range of 40 mV."""

    NAME, TRIGGER = "INA219", f"Arduino pin {TRIGGER_PIN}"
    GAIN, OFFSET_AMPERES = 0.03, 100e-6 / _SHUNT_OHMS  # current, voltage and shunt 1 % each
    BAUD = BAUD

    def _open(self) -> None:
        super()._open()
        self._text_until(_LINE, _WITHIN_S)

    def _decode(self, data: bytes) -> MeterSamples:
        rows = [
            [int(number, 16) for number in line.groups()]
            for line in _LINE.finditer(data)
            if sum(line[0][:-3]) & 0xFF == int(line[5], 16)
        ]
        if not rows:
            raise self._fault(f"at {self._place} sends lines that are not samples")
        numbers, shunt, bus, trigger, _ = np.array(rows).T
        shunt = shunt.astype(np.uint16).astype(np.int16).astype(np.int64)
        if np.abs(shunt).max() >= _FULL_SCALE:
            raise InstrumentError(
                "the INA219 measures up to 0.4 A, but the board draws more; use another meter"
            )
        steps = steps_of(numbers, 1 << 16)
        return MeterSamples(
            seconds=np.append(0, np.cumsum(steps)) / RATE_HZ,
            volts=(bus >> 3) * _BUS_VOLTS,
            amperes=shunt * _SHUNT_VOLTS / _SHUNT_OHMS,
            trigger=trigger.astype(np.bool_),
            ranges=np.zeros(len(rows)),
            dropped=int((steps - 1).sum()),
        )
