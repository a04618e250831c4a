"""The sensors that are known, units of measured values, and what measured the values of data.

An instrument, a sensor and the unit of each channel, goes with the values from a recording into
windows and models, so that firmware for a sensor can convert its counts to the data's unit, or
refuse them.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from protonn_edge.errors import CheckFailed, InputError, shortened

_LIMIT = 60
_NUMBER = r"\d{1,12}(?:\.\d{1,12})?"
_UNIT = re.compile(rf"(?:({_NUMBER})(?:\s*/\s*({_NUMBER}))?\s*)?([^\d\s.,;/+-][^;]*)")
_STANDARD_GRAVITY = Fraction("9.80665")  # m/s^2, by definition

_SYMBOLS = {
    "g": ("acceleration", Fraction(1)),
    "mg": ("acceleration", Fraction(1, 1000)),
    **dict.fromkeys(("m/s^2", "m/s2", "m/s²"), ("acceleration", 1 / _STANDARD_GRAVITY)),
    **dict.fromkeys(("deg/s", "dps", "°/s"), ("rotation", Fraction(1))),
    "rad/s": ("rotation", Fraction(180 / math.pi)),
    "of the supply voltage": ("voltage", Fraction(1)),
}
"""Quantities, and sizes in their first unit. Other symbols are quantities of their own."""

ANALOG_PINS = 6  # analog inputs of an Uno
_ANALOG_CHIP = "ADC"
_ANALOG_PIN = re.compile(rf"a[0-{ANALOG_PINS - 1}]")
ARRAYS = ("sensor", "units")  # the arrays of a file of windows or of a model that has an instrument
_NAME_LIMIT = 60


@dataclass(frozen=True)
class Unit:
    """The unit of a channel's values."""

    text: str  # as it was written: ``"1/256 g"``
    quantity: str  # ``"acceleration"``; values of the same one can be converted
    size: Fraction  # the amount that a value of 1 stands for, above 0, in the quantity's own unit

    def is_same(self, other: Unit) -> bool:
        """Whether values in both units are equal."""
        return (self.quantity, self.size) == (other.quantity, other.size)


def unit_of(text: str) -> Unit:
    """Return the unit of a text, such as ``g`` or ``1/256 g``; `InputError` if it is none."""
    text = text.strip()
    found = _UNIT.fullmatch(text) if len(text) <= _LIMIT and text.isprintable() else None
    size, parts = (Fraction(found[n] or 1) if found else Fraction(0) for n in (1, 2))
    if found is None or not size or not parts:
        raise InputError(
            f"the unit {shortened(text)!r} is not a symbol behind an optional number; give one "
            "such as g, m/s^2, '1/256 g' or '1/16.4 deg/s'"
        )
    symbol = " ".join(found[3].split())
    quantity, one = _SYMBOLS.get(symbol, (symbol, Fraction(1)))
    return Unit(text, quantity, size / parts * one)


def units_of(text: str, channels: tuple[str, ...]) -> dict[str, Unit]:
    """Return the unit of each channel that a text names, or of all; `InputError` without a unit.

    Such a text is ``1/256 g``, or ``ax ay az 1/8192 g; gx gy gz 1/65.5 deg/s``.
    """
    found: dict[str, Unit] = {}
    for part in text.split(";"):
        words = part.split()
        count = next((n for n, word in enumerate(words) if word not in channels), len(words))
        if count == len(words) > 0:  # a channel may be called as a unit
            count -= 1
        found |= dict.fromkeys(words[:count] or channels, unit_of(" ".join(words[count:])))
    return found


def units_text(channels: tuple[str, ...], units: tuple[Unit, ...]) -> str:
    """Return the text from which `units_of` reads the units of channels."""
    texts = [unit.text for unit in units]
    if len(set(texts)) == 1:
        return texts[0]
    names = {each: [c for c, text in zip(channels, texts, strict=True) if text == each]
             for each in texts}  # fmt: skip
    return "; ".join(f"{' '.join(of)} {text}" for text, of in names.items())


@dataclass(frozen=True)
class SensorKind:
    """A sensor."""

    # what ``--sensor`` takes: ``"a0"`` to ``"a5"``, ``"microphone"``, ``"mpu6050"``, ``"adxl345"``
    name: str
    channels: tuple[str, ...]  # the names of a sample's values, in order
    units: str  # what a count of them is, as a text of `protonn_edge.sensors.kinds`
    low: int = -(1 << 15)  # the least and the largest count
    high: int = (1 << 15) - 1
    pin: int | None = None  # the analog input, of those that are one

    @property
    def channel_units(self) -> tuple[Unit, ...]:
        """The unit of each channel's counts."""
        units = units_of(self.units, self.channels)
        return tuple(units[name] for name in self.channels)


def _analog(name: str, pin: int) -> SensorKind:
    return SensorKind(name, (name,), "1/1023 of the supply voltage", 0, 1023, pin)


MICROPHONE = _analog("microphone", 0)
MPU6050 = SensorKind(
    "mpu6050", ("ax", "ay", "az", "gx", "gy", "gz"), "ax ay az 1/8192 g; gx gy gz 1/65.5 deg/s"
)
ADXL345 = SensorKind("adxl345", ("ax", "ay", "az"), "1/256 g")

_NAMED = {kind.name: kind for kind in (MICROPHONE, MPU6050, ADXL345)}


def sensor_kind(name: str) -> SensorKind:
    """Return the sensor of a name, in any case; `InputError` if there is none."""
    name = name.strip().lower()
    if _ANALOG_PIN.fullmatch(name):
        return _analog(name, int(name[1:]))
    if "," in name:
        raise InputError(f"--sensor is {shortened(name)!r}; give the option once for each sensor")
    if name not in _NAMED:
        raise InputError(
            f"there is no sensor {shortened(name)!r}; choose one of a0 to a{ANALOG_PINS - 1}, "
            f"{', '.join(_NAMED)}"
        )
    return _NAMED[name]


def is_chip(names: str, kind: SensorKind) -> bool:
    """Return whether sensors, with commas, are the chip of a kind: analog inputs are one chip."""
    return {_chip(name) for name in names.split(", ")} == {_chip(kind.name)}


def channels_of(name: str) -> tuple[str, ...]:
    """Return the channels of a sensor, or none if it is not known."""
    known = name in _NAMED or _chip(name) == _ANALOG_CHIP
    return sensor_kind(name).channels if known else ()


def _chip(name: str) -> str:
    analog = name == MICROPHONE.name or _ANALOG_PIN.fullmatch(name) is not None
    return _ANALOG_CHIP if analog else name


@dataclass(frozen=True)
class Instrument:
    """A sensor and its channels' units.

    Raises `InputError` if the name cannot be shown, or there is no unit.
    """

    sensor: str  # its name, or several analog inputs' with commas; empty if it is not known
    units: tuple[Unit, ...]  # that of each channel, or, if there are no windows, of each feature

    def __post_init__(self) -> None:
        if len(self.sensor) > _NAME_LIMIT or not self.sensor.isprintable():
            raise InputError(
                f"the sensor's name {self.sensor[:_NAME_LIMIT]!r} has more than {_NAME_LIMIT} "
                "characters, or some that cannot be shown; shorten it"
            )
        if not self.units:
            raise InputError(f"the sensor {self.sensor!r} has no units; give one per channel")

    @classmethod
    def of(cls, kinds: Sequence[SensorKind]) -> Self:
        """Return the instrument of sensors that are known, with all of their channels."""
        units = tuple(unit for kind in kinds for unit in kind.channel_units)
        return cls(", ".join(kind.name for kind in kinds), units)

    @classmethod
    def named(cls, sensor: str, units: str, channels: Sequence[str]) -> Self | None:
        """Return the instrument of some channels by a text of `units_of`.

        None if one has no unit, or is not the sensor's, such as a column added to its recording.
        """
        own = [name for each in sensor.split(", ") for name in channels_of(each)]
        found = units_of(units, tuple(own or channels))
        if not channels or not set(channels) <= found.keys():
            return None
        return cls(sensor, tuple(found[name] for name in channels))

    def channel(self, number: int) -> Unit:
        """Return the unit of a channel, by its number among those of a sample or among features."""
        return self.units[number % len(self.units)]

    def is_unlike(self, other: Instrument) -> bool:
        """Whether equal values of both stand for other amounts, or amounts of other quantities."""
        channels = range(max(len(self.units), len(other.units)))
        return not all(self.channel(each).is_same(other.channel(each)) for each in channels)

    def of_channels(self, numbers: Sequence[int]) -> Self:
        """Return the instrument of some channels, in another order."""
        return replace(self, units=tuple(map(self.channel, numbers)))

    def __str__(self) -> str:
        texts = dict.fromkeys(unit.text for unit in self.units)
        return f"{self.sensor or 'an unknown sensor'} ({', '.join(texts)})"


def to_arrays(instrument: Instrument | None) -> dict[str, NDArray[Any]]:
    """Return the arrays of a file; none if the instrument is not known."""
    if instrument is None:
        return {}
    texts = [unit.text for unit in instrument.units]
    return {"sensor": np.array(instrument.sensor), "units": np.array(texts, dtype=np.str_)}


def from_arrays(arrays: Mapping[str, NDArray[Any]]) -> Instrument | None:
    """Return the instrument of a file's arrays, None without units; `InputError` if not texts."""
    if "units" not in arrays:
        return None
    units, sensor = arrays["units"], arrays.get("sensor", np.array(""))
    if units.dtype.kind != "U" or sensor.dtype.kind != "U" or units.ndim > 1 or sensor.ndim > 0:
        raise InputError(
            "arrays 'sensor' and 'units' must be the text of a name and a text for each channel; "
            "fix them, or leave them out"
        )
    try:
        return Instrument(str(sensor), tuple(map(unit_of, np.atleast_1d(units).tolist())))
    except InputError as error:
        raise InputError(f"arrays 'sensor' and 'units': {error}") from error


# --- sampling rates, by the timer of an ATmega328P, its ADC and the two-wire bus ------------------

ANALOG_RATE = 9_000.0  # conversions of analog inputs a second, at most
TIMER_STEPS = 1 << 16
LARGEST_PRESCALER = 1024

_TWO_WIRE_RATE = 1_000.0
_CLOCKS_HZ = 1_000_000, 32_000_000  # as board files have them
_ROUNDING = 0.01  # of a period, to whole steps of the timer


def rate_limits(sensor: str, channels: int, clock_hz: int) -> tuple[float, float]:
    """Return the lowest and the highest rate in hertz for a sensor of so many channels."""
    most = _TWO_WIRE_RATE if sensor in (MPU6050.name, ADXL345.name) else ANALOG_RATE / channels
    return clock_hz / (LARGEST_PRESCALER * TIMER_STEPS), most


def check_reported_rate(sensor: str, channels: int, period_cycles: int, clock_hz: int) -> None:
    """Raise `CheckFailed` if a board reports a rate that it cannot keep."""
    rate, (slowest, fastest) = clock_hz / period_cycles, _CLOCKS_HZ
    least, most = rate_limits(sensor, channels, min(max(clock_hz, slowest), fastest))
    if not least <= rate <= most * (1 + _ROUNDING):
        raise CheckFailed(
            f"the board reports {rate:.4g} samples a second at a clock of {clock_hz:,} Hz, but can "
            f"sample its {sensor} at {least:.2g} to {most:,.0f} Hz; generate its firmware again, "
            "and upload it"
        )
