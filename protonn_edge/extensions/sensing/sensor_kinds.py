"""Kinds of sensors: their channels and registers, and their sampling rates."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from protonn_edge.data.units import Unit, units_of
from protonn_edge.extensions.sensing.recordings.waves import COUNT, COUNTS
from protonn_edge.system.errors import CheckFailed, InputError

ANALOG_PINS = 6  # analog inputs of an Uno
MOST_CHANNELS = 12
CHANNELS = r"[a-z][a-z0-9_]{0,19}"
_ANALOG_CHIP = "ADC"

Bus = Literal["analog", "i2c", "spi"]


# --- the registers of a chip: how to read them, and their contents when it is played --------------


class Word(NamedTuple):
    """A value in the lower bits of some bytes; a shift drops the lowest."""

    bytes: int = 2
    bits: int = 16
    shift: int = 0
    signed: bool = True

    @property
    def limits(self) -> tuple[int, int]:
        """The least and the largest value."""
        sizes = 1 << self.bits - self.shift
        return (-sizes // 2, sizes // 2 - 1) if self.signed else (0, sizes - 1)


_INT16 = Word()
TIMER_ERROR = 1.001
"""A timer's rate may be higher than the requested one by less than this factor."""
Setting = tuple[int, tuple[tuple[float, int], ...], str, int]
"""A register, its value for each range of sampling rates, the reason, and ms to wait."""


@dataclass(frozen=True)
class SensorRegisters:
    """The registers of a chip on a bus, as docs/live.md explains them."""

    data_bytes: int
    byte_order: str  # "big" or "little"
    places: tuple[int, ...]  # the first byte of each channel's word
    word: Word = _INT16
    data_register: int = 0
    addresses: tuple[int, ...] = ()  # of I2C
    read_bits: int = 0x80  # of SPI
    pulses: int = 0  # of SPI: after each sample of a converter that has no registers
    id_register: int = 0
    ids: tuple[int, ...] = ()
    start: tuple[Setting, ...] = ()
    fifo: bool = False
    sleeps: tuple[int, int, int] = (0, 0, 1)  # the mask of nothing is 0, so that it never sleeps
    reset: tuple[int, int] = (0, 0)

    def settings_for(self, rate: float) -> Iterator[tuple[int, int, str, int]]:
        """Yield the initial writes: register, value, reason, and milliseconds to wait."""
        for register, steps, why, wait_ms in self.start:
            most, value = next((s for s in steps if rate <= s[0] * TIMER_ERROR), steps[-1])
            yield register, value, why if len(steps) == 1 else f"{why}, up to {most:g} Hz", wait_ms

    def bytes_of(self, place: int) -> list[tuple[int, int]]:
        """Return the place and the shift in 32 bits of each byte of a word, uppermost byte first.

        The word is at the upper end of the 32 bits.
        """
        places = range(place, place + self.word.bytes)
        upwards = reversed(places) if self.byte_order == "big" else places
        each = [(at, 32 - self.word.bits + 8 * n) for n, at in enumerate(upwards)]
        return each[::-1]

    def held(self, values: NDArray[np.int16]) -> NDArray[np.uint8]:
        """Return the bytes (samples, data_bytes) of samples (samples, channels)."""
        data = np.zeros((len(values), self.data_bytes), np.uint8)
        for place, counts in zip(self.places, values.T.astype(np.int64), strict=True):
            upper = (counts << 32 - self.word.bits + self.word.shift) & 0xFFFFFFFF
            for at, shift in self.bytes_of(place):
                data[:, at] = upper >> shift & 0xFF
        return data


# --- sensors --------------------------------------------------------------------------------------


@dataclass(frozen=True)
class SensorKind:
    """A sensor."""

    name: str  # its name for ``--sensor``, or of its file
    channels: tuple[str, ...]  # the names of a sample's values, in order
    units: str  # the unit of a count, as a text of `units_of`
    low: int = -(1 << 15)  # the least and the largest count
    high: int = (1 << 15) - 1
    pin: int | None = None  # the first analog input, of those that are some
    registers: SensorRegisters | None = None  # of those on a bus
    bus: Bus = "analog"
    rates: tuple[float, ...] = (0.0, math.inf)  # the lowest and the highest one, in hertz

    @property
    def channel_units(self) -> tuple[Unit, ...]:
        """The unit of each channel's counts."""
        units = units_of(self.units, self.channels)
        return tuple(units[name] for name in self.channels)

    @property
    def is_input(self) -> bool:
        """Whether it is an analog input, and so may play those after it, too."""
        return self.pin is not None and len(self.channels) == 1

    @property
    def text(self) -> str:
        """The description that a board sends of a sensor that its readers may not know."""
        return f"{self.name};{self.bus};{','.join(self.channels)};{self.units}"

    @classmethod
    def of_text(cls, text: str) -> Self | None:
        """Return the sensor of a `text` that a board has sent; None if that is none."""
        match = _TEXT.fullmatch(text)
        if match is None:
            return None
        kind = cls(match[1], tuple(match[3].split(",")), match[4], bus=match[2])  # type: ignore[arg-type]
        try:
            return kind if kind.channel_units else None
        except (InputError, KeyError):  # no unit, or not one for each channel
            return None


_TEXT = re.compile(
    rf"([a-z0-9][a-z0-9_-]{{0,39}});(analog|i2c|spi);"
    rf"({CHANNELS}(?:,{CHANNELS}){{0,{MOST_CHANNELS - 1}}});(.+)"
)


INPUTS = {
    name: SensorKind(name, (name,), COUNT, 0, COUNTS - 1, pin)
    for name, pin in [("microphone", 0), *((f"a{pin}", pin) for pin in range(ANALOG_PINS))]
}
"""Analog inputs by their names."""

MICROPHONE = INPUTS["microphone"]


def is_chip(names: str, kind: SensorKind) -> bool:
    """Return whether sensors, with commas, are the chip of a kind: analog inputs are one chip."""
    return {_chip(name) for name in names.split(", ")} == {_chip(kind.name)}


def _chip(name: str) -> str:
    return _ANALOG_CHIP if name in INPUTS else name


# --- sampling rates, by the timer of an ATmega328P, its ADC and its buses -------------------------

ANALOG_RATE = 9_000.0  # conversions of analog inputs a second, at most
TIMER_STEPS = 1 << 16
LARGEST_PRESCALER = 1024

_BUS_RATE = 1_000.0
_CLOCKS_HZ = 1_000_000, 32_000_000  # as board files have them
_ROUNDING = 0.01  # of a period, to whole steps of the timer


def rate_limits(bus: Bus, channels: int, clock_hz: int) -> tuple[float, float]:
    """Return the lowest and the highest rate in hertz for a sensor with a number of channels."""
    most = ANALOG_RATE / channels if bus == "analog" else _BUS_RATE
    return clock_hz / (LARGEST_PRESCALER * TIMER_STEPS), most


def check_reported_rate(
    sensor: str, bus: Bus, channels: int, period_cycles: int, clock_hz: int
) -> None:
    """Raise `CheckFailed` if a board reports a rate that it cannot keep."""
    rate, (slowest, fastest) = clock_hz / period_cycles, _CLOCKS_HZ
    least, most = rate_limits(bus, channels, min(max(clock_hz, slowest), fastest))
    if not least <= rate <= most * (1 + _ROUNDING):
        raise CheckFailed(
            f"the board reports {rate:.4g} samples a second at a clock of {clock_hz:,} Hz, but can "
            f"sample its {sensor} only at {least:.2g} to {most:,.0f} Hz; generate the firmware "
            "again, and upload it"
        )
