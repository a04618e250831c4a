"""The instrument that measured the values of data.

An instrument consists of a sensor and the unit of each channel. It is passed on with the values of
a recording to windows and models, so that firmware for a sensor can convert its counts to the
data's unit, or refuse them.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from protonn_edge.data.naming import Notice
from protonn_edge.data.units import Unit, unit_of, units_of
from protonn_edge.system.arrays import Array
from protonn_edge.system.checks import check, check_kind
from protonn_edge.system.errors import InputError, InvalidValue, shortened
from protonn_edge.system.extensions import additions_to

ARRAYS = ("sensor", "units")  # the arrays of a file of windows or of a model that has an instrument
_NAME_LIMIT = 60


class SensorFiles(NamedTuple):
    """What an extension knows of sensors, and of the files of recordings."""

    channels_of: Callable[[str], Sequence[str]]  # the names of a sensor's channels, if it knows it
    # the files among some of a folder that have labels for others, by these others
    labels_files: Callable[[Sequence[Path]], Mapping[Path, Path]]


def sensor_files() -> Collection[SensorFiles]:
    """Return what extensions know of them."""
    return additions_to("data", SensorFiles).values()


@dataclass(frozen=True)
class Instrument:
    """A sensor and its channels' units.

    Raises `InputError` if the name cannot be shown, or there is no unit.
    """

    sensor: str  # its name, or several analog inputs' with commas; empty if it is not known
    units: tuple[Unit, ...]  # of each channel, or, if there are no windows, of each feature

    def __post_init__(self) -> None:
        fits = len(self.sensor) <= _NAME_LIMIT and self.sensor.isprintable()
        check(fits, "sensor", repr(self.sensor), f"up to {_NAME_LIMIT} printable characters")
        check(bool(self.units), "units", "none", "one per channel")

    @classmethod
    def named(cls, sensor: str, units: str, channels: Sequence[str]) -> Self | None:
        """Return the instrument of some channels, given a text for `units_of`.

        None if a channel has no unit or does not belong to the sensor, as a column that was added
        to its recording. Extensions know the channels of sensors.
        """
        known = sensor_files()
        own = [
            name for each in sensor.split(", ") for one in known for name in one.channels_of(each)
        ]
        unit_of_channel = units_of(units, tuple(own or channels))
        if not channels or not set(channels) <= unit_of_channel.keys():
            return None
        return cls(sensor, tuple(unit_of_channel[name] for name in channels))

    def channel(self, number: int) -> Unit:
        """Return the unit of a channel, by its number in a sample or among features."""
        return self.units[number % len(self.units)]

    def is_unlike(self, other: Instrument) -> bool:
        """Whether equal values of the two stand for different amounts or quantities."""
        channels = range(max(len(self.units), len(other.units)))
        return not all(self.channel(each).is_same(other.channel(each)) for each in channels)

    def of_channels(self, numbers: Sequence[int]) -> Self:
        """Return the instrument of some channels, in another order."""
        return replace(self, units=tuple(map(self.channel, numbers)))

    def __str__(self) -> str:
        texts = dict.fromkeys(unit.text for unit in self.units)
        return f"{self.sensor or 'an unknown sensor'} ({', '.join(texts)})"


Converter = Callable[
    [NDArray[np.float32], Instrument], tuple[NDArray[np.float32], tuple[Notice, ...]] | None
]
"""Returns points (n, D) of an instrument in another unit, with notices; None if it cannot."""


def trained_units(
    instrument: Instrument | None, names: Sequence[str], declared: str | None
) -> tuple[Unit, ...] | None:
    """Return the unit of each channel in a model's training data, None if it is not known.

    `instrument` measured the data; `names` are its channels'; `declared`, if given, is a text for
    `units_of`. Raises `InputError` if both give units, and they differ.
    """
    recorded = None
    if instrument is not None:
        recorded = tuple(instrument.channel(number) for number in range(len(names)))
    if declared is None:
        return recorded
    unit_of_channel = units_of(declared, tuple(names))
    missing = [name for name in names if name not in unit_of_channel]
    if missing:
        raise InvalidValue(
            "--unit",
            f"{shortened(declared)!r} has no unit for {missing[0]}",
            "give one unit for all channels, or name each channel before its unit",
        )
    units = tuple(unit_of_channel[name] for name in names)
    if recorded is not None and not all(map(Unit.is_same, recorded, units)):
        raise InvalidValue(
            "--unit",
            f"{shortened(declared)!r}, but the model was trained on data from {instrument}",
            "omit --unit, or give the unit of the training data",
        )
    return units


def to_arrays(instrument: Instrument | None) -> dict[str, Array]:
    """Return the arrays of a file; none if the instrument is not known."""
    if instrument is None:
        return {}
    texts = [unit.text for unit in instrument.units]
    return {"sensor": np.array(instrument.sensor), "units": np.array(texts, dtype=np.str_)}


def from_arrays(arrays: Mapping[str, Array]) -> Instrument | None:
    """Return the instrument of a file's arrays, None without units; `InputError` if not texts."""
    if "units" not in arrays:
        return None
    units, sensor = arrays["units"], arrays.get("sensor", np.array(""))
    check_kind("units", np.atleast_1d(units), "U", 1)
    check_kind("sensor", sensor, "U", 0)
    try:
        return Instrument(str(sensor), tuple(map(unit_of, np.atleast_1d(units).tolist())))
    except InputError as error:
        raise InvalidValue("arrays 'sensor' and 'units'", str(error)) from error
