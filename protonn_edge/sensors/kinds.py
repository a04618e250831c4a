"""The sensors that are known: their channels, and the unit of a count."""

from __future__ import annotations

import re
from dataclasses import dataclass

from protonn_edge.errors import InputError, shortened
from protonn_edge.sensors.units import Unit, units_of

ANALOG_PINS = 6
"""Analog inputs of an Uno."""

_ANALOG_CHIP = "ADC"
_ANALOG_PIN = re.compile(rf"a[0-{ANALOG_PINS - 1}]")


@dataclass(frozen=True)
class SensorKind:
    """A sensor."""

    # what ``--sensor`` takes: ``"a0"`` to ``"a5"``, ``"microphone"``, ``"mpu6050"``, ``"adxl345"``
    name: str
    channels: tuple[str, ...]  # the names of a sample's values, in order
    units: str  # what a count of them is, as a text of `protonn_edge.sensors.units`
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
    """Return the sensor of a name, in any case.

    Raises `InputError` if there is none.
    """
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
