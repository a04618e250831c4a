"""Nordic's Power Profiler Kit II as an ampere meter, by its program pc-nrfconnect-ppk.

It sends 100,000 words a second, each with 14 bits of its converter, the range, a counter of 6 bits
and the digital inputs D0 to D7. The library ``ppk2-api`` ignores the counter, and so lost samples.
"""

from __future__ import annotations

import re

import numpy as np

from protonn_edge.extensions.lab.meters.meter import MeterSamples, SerialMeter, steps_of
from protonn_edge.system.errors import InvalidValue

_GET_METADATA, _AMPERE_METER, _POWER_ON = b"\x19", b"\x11\x01", b"\x0c\x01"
_RATE_HZ, _COUNTS = 100_000, 64
_ADC_VOLTS = 1.8 / 163_840
_SETTLING = 3  # samples after a change of the range, which its program averages away
_LEAST_IN_SEQUENCE = 0.8
_WITHIN_S = 3.0
_NO_FACTOR = np.zeros(5)
_FACTORS = {"R": np.array([1031.64, 101.65, 10.15, 0.94, 0.043]), "GS": _NO_FACTOR + 1,
            "GI": _NO_FACTOR + 1, "O": _NO_FACTOR, "S": _NO_FACTOR, "I": _NO_FACTOR,
            "UG": _NO_FACTOR + 1}  # fmt: skip
_FACTOR = re.compile(rb"^(R|GS|GI|O|S|I|UG)([0-4]): (-?\d{1,9}(?:\.\d{1,12})?)\r?$", re.M)


class Ppk2(SerialMeter):
    """A PPK2 between a supply of known voltage and the board."""

    NAME, TRIGGER = "PPK2", "D0"
    GAIN, OFFSET_AMPERES = 0.15, 0.0  # typical, not guaranteed: 10 %, in the last range 15 %
    BAUD = 115_200  # of no importance on USB
    START, STOP = b"\x06", b"\x07"

    def __init__(self, place: str, volts: float | None) -> None:
        super().__init__(place, volts)
        if volts is None:
            raise InvalidValue(
                "--meter",
                "a PPK2 does not measure the voltage",
                "state it, as in ppk2:PORT,volts=5, or in pytest by --pnn-volts",
            )
        self._supply = volts

    def _open(self) -> None:
        super()._open()
        self._line.write(self.STOP)
        self._rest()
        self._line.write(_GET_METADATA)
        text = self._text_until(re.compile(b"END"), _WITHIN_S)
        self._factors = {name: values.copy() for name, values in _FACTORS.items()}
        for name, place, value in _FACTOR.findall(text):
            if number := float(value):  # 0 is none, for Nordic's program, too
                self._factors[name.decode()][int(place)] = number
        self._rest()
        for command in _AMPERE_METER, _POWER_ON:  # the board may start now
            self._line.write(command)

    def _decode(self, data: bytes) -> MeterSamples:
        words = np.frombuffer(data[: len(data) // 4 * 4], "<u4").astype(np.int64)
        steps = steps_of(words >> 18, _COUNTS)
        if not len(steps) or (steps == 1).mean() < _LEAST_IN_SEQUENCE:
            raise self._fault(f"at {self._place} sends bytes that are not samples")
        ranges = np.minimum(words >> 14 & 7, 4)
        changed = np.flatnonzero(np.diff(ranges)) + 1
        kept = np.ones(len(words), np.bool_)
        kept[(changed[:, None] + np.arange(_SETTLING)).clip(max=len(words) - 1)] = False
        r, gs, gi, o, s, i, ug = (factors[ranges] for factors in self._factors.values())
        bare = (4.0 * (words & 0x3FFF) - o) * _ADC_VOLTS / r
        amperes = ug * (bare * (gs * bare + gi) + s * self._supply + i)
        return MeterSamples(
            seconds=(np.append(0, np.cumsum(steps)) / _RATE_HZ)[kept],
            volts=np.full(kept.sum(), self._supply),
            amperes=amperes[kept],
            trigger=(words >> 24 & 1).astype(np.bool_)[kept],
            ranges=ranges[kept],
            dropped=int((steps - 1).sum()),
        )
