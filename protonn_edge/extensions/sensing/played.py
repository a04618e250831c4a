"""Recordings that an emulated sensor plays, from CSV and WAV files.

A CSV file has a header and one sample per row, in the sensor's counts, or in the unit in brackets
behind a column's name. A WAV file is the sound at a microphone; its full scale becomes that of an
analog input.
"""

from __future__ import annotations

import csv
import math
import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from protonn_edge.data.tables.usual_names import LABEL_NAMES, SESSION, TIME
from protonn_edge.data.units import KNOWN_QUANTITIES, split_unit, unit_of
from protonn_edge.extensions.sensing.described import sensor_kind
from protonn_edge.extensions.sensing.packing import packed
from protonn_edge.extensions.sensing.recordings.waves import read_wave
from protonn_edge.extensions.sensing.sensor_kinds import (
    ANALOG_PINS,
    MICROPHONE,
    SensorKind,
    is_chip,
)
from protonn_edge.system.checks import check, check_most, check_range
from protonn_edge.system.errors import InputError, InvalidValue, counted, shortened
from protonn_edge.system.files import check_file

MOST_RATE = 100_000.0  # samples a second, at most
_FILE_LIMIT_BYTES = 1 << 27
_PLAYED_LIMIT_BYTES = 1 << 27
_LEAST_RATE = 0.001
_RATE = re.compile(r"#.*\brate\s*[:=]\s*([0-9.eE+-]+)", re.IGNORECASE)
_SENSOR = re.compile(r"#.*; sensor: ([^;]+);")  # of a recording
_NUMBERS = re.compile(r"[-+0-9.,;\s]+")
_OPTION = re.compile(r"([^=]+)=(.*?)(?:,rate=([^,=]+))?", re.DOTALL)
_DELIMITERS = ",;\t"

_NO_CHANNEL = re.compile("|".join((*LABEL_NAMES, TIME.pattern, SESSION.pattern)))
"""Names, in lower case, of columns of a recording that are not channels."""


@dataclass(frozen=True, eq=False)
class PlayedSensor:
    """A sensor of an emulated board, and its measurements.

    Attributes
    ----------
    kind : SensorKind
        An analog input plays its first channel; further channels belong to the next pins.
    values : ndarray of shape (samples, channels), int16
        Counts, which repeat from the beginning after the end.
    rate : float
        Samples per second of emulated time.
    remarks : tuple of str
        How the values differ from the file's, a sentence each.

    Raises
    ------
    InputError
        If the values do not fit the sensor, or the rate is out of range.
    """

    kind: SensorKind
    values: NDArray[np.int16]
    rate: float
    remarks: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        check_range(
            f"rate of the recording of {self.kind.name}, in Hz", self.rate, _LEAST_RATE, MOST_RATE
        )
        shape = self.values.shape
        if len(shape) != 2 or shape[0] == 0:
            raise InvalidValue(f"recording of {self.kind.name}", "no samples", "give one per row")
        if self.values.nbytes > _PLAYED_LIMIT_BYTES:
            most = _PLAYED_LIMIT_BYTES // self.values[0].nbytes
            check_most(
                f"recording of {self.kind.name}",
                shape[0],
                most,
                "samples",
                "divide the recording into several files",
            )
        pin = self.kind.pin
        spreads = self.kind.is_input
        most = ANALOG_PINS - (pin or 0) if spreads else len(self.kind.channels)
        names = "" if spreads else f" ({', '.join(self.kind.channels)})"
        if shape[1] > most or (not spreads and shape[1] != most):
            remedy = "remove columns" if shape[1] > most else "add columns of zeros for the others"
            raise InvalidValue(
                self.kind.name,
                f"{counted(most, 'channel')}{names}, but the recording has {shape[1]}",
                remedy,
            )
        low, high = int(self.values.min()), int(self.values.max())
        check(
            low >= self.kind.low and high <= self.kind.high,
            f"recording of {self.kind.name}",
            f"values from {low} to {high}",
            f"{self.kind.low} to {self.kind.high}",
            "give the sensor's own counts",
        )

    @property
    def pins(self) -> range:
        """The analog inputs that it takes; empty on the two-wire bus."""
        pin = self.kind.pin
        return range(0) if pin is None else range(pin, pin + self.values.shape[1])

    @property
    def name(self) -> str:
        """The sensor's name."""
        return self.kind.name

    @property
    def places(self) -> tuple[int, ...]:
        """The analog inputs that it takes, or its address or bits on a bus, above all pins."""
        chip = self.kind.registers
        return tuple(self.pins) if chip is None else (*chip.addresses, chip.read_bits)[:1]

    def record(self, inputs: Sequence[int]) -> bytes:
        """Return it as the emulator reads it; `inputs` are the ADC's numbers of the pins."""
        return packed(self.kind, self.values, self.rate, [inputs[pin] for pin in self.pins])


def read_sensor(option: str) -> PlayedSensor:
    """Read the sensor and the recording that a value of ``--sensor`` names.

    Parameters
    ----------
    option : str
        ``NAME=FILE``, followed by ``,rate=HZ`` if the file does not state the rate: a WAV file
        does, and a CSV file if its first line is a comment such as ``# rate: 100 Hz``.

    Raises
    ------
    InputError
        If the file cannot be used.
    """
    parts = _parts(option)
    kind, path = sensor_kind(parts[1]), Path(parts[2])
    given = None if parts[3] is None else _number(parts[3], path)
    check_file(path, limit_bytes=_FILE_LIMIT_BYTES)
    remarks: tuple[str, ...] = ()
    if path.suffix.lower() == ".wav":
        values, rate, *_ = read_wave(path)
    else:
        values, said, remarks = _read_csv(path, kind)
        if given is None and said is None:
            raise InvalidValue(
                path,
                "no sampling rate",
                "add a first line such as '# rate: 100 Hz', or give --sensor "
                f"{kind.name}={path},rate=100",
            )
        rate = said or 0.0
    check(len(values) > 0, path, "no samples", "some", "record it again")
    return PlayedSensor(kind, values, rate if given is None else given, remarks)


def sensor_file(option: str) -> Path:
    """Return the file that ``--sensor`` names; raises as `read_sensor` does."""
    return Path(_parts(option)[2])


def check_read(
    played: Sequence[PlayedSensor], reads: Collection[str], *, emulate: bool = True
) -> None:
    """Refuse to play a sensor that the firmware does not read, and to emulate one that is open.

    The firmware reads sensors by these names; "analog" are inputs that it does not name.
    """
    if emulate and not played:
        raise InputError(
            f"the firmware reads {', '.join(reads)}, but the emulated board has no recording to "
            "play; give one with --sensor NAME=FILE"
        )
    for sensor in played:
        names = {sensor.kind.name}
        if sensor.pins:
            names |= {"analog", *(f"a{pin}" for pin in sensor.pins)}
        if MICROPHONE.pin in sensor.pins:
            names.add(MICROPHONE.name)
        if names.isdisjoint(reads):
            raise InputError(
                f"--sensor replays {sensor.kind.name}, but the firmware reads {', '.join(reads)}; "
                "replay a recording of a sensor that the firmware reads"
            )


def _parts(option: str) -> re.Match[str]:
    match = _OPTION.fullmatch(option)
    if match is None:
        raise InputError(f"--sensor is {shortened(option)!r}; give NAME=FILE, such as a0=light.csv")
    return match


def _number(text: str, path: Path) -> float:
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if not math.isfinite(number):
        raise InvalidValue(path, f"the rate is {shortened(text)!r}", "give a number of hertz")
    return number


def _read_csv(
    path: Path, kind: SensorKind
) -> tuple[NDArray[np.int16], float | None, tuple[str, ...]]:
    """Return the values of a table that a sensor plays, the rate if a comment has it, remarks."""
    try:
        text = path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise InvalidValue(path, "not UTF-8 text", "save it as UTF-8") from error
    lines = [(number, line) for number, line in enumerate(text.splitlines(), 1) if line.strip()]
    said = [_RATE.match(line) for _, line in lines if line.startswith("#")]
    rates = [_number(match[1], path) for match in said if match is not None]
    recorded = _SENSOR.match(text)
    if recorded is not None and not is_chip(recorded[1], kind):
        raise InputError(
            f"{path} was recorded from {shortened(recorded[1])}, but --sensor replays it as "
            f"{kind.name}, whose counts differ; give --sensor {shortened(recorded[1])}=FILE"
        )
    lines = [(number, line) for number, line in lines if not line.startswith("#")]
    if lines and _NUMBERS.fullmatch(lines[0][1]):
        raise InvalidValue(path, "no header", "write a first row with the names of the channels")
    check(len(lines) >= 2, path, "no samples below the header", "some", "add one row per sample")
    delimiter = max(_DELIMITERS, key=lines[0][1].count)
    header = _cells(lines[0][1], delimiter)
    columns = _columns(path, header, kind)
    counts = np.array(
        [
            _counts(f"{path}:{number}", _cells(line, delimiter), len(header), columns, kind)
            for number, line in lines[1:]
        ]
    )
    remarks = []
    if absent := [column.name for column in columns if column.place is None]:
        remarks.append(f"{path} lacks {', '.join(absent)}: {kind.name} returns 0 for these")
    for column, values in zip(columns, counts.T, strict=True):
        if column.per_unit is not None:  # beyond its range, a sensor returns the end of the range
            limited = values.clip(kind.low, kind.high)
            if beyond := np.count_nonzero(limited != values):
                remarks.append(
                    f"{beyond:,} of {len(counts):,} values of {column.name} in {path} are beyond "
                    f"the range of {kind.name}, and are limited to this range"
                )
            values[:] = limited
    return counts.astype(np.int16), rates[-1] if rates else None, tuple(remarks)


def _cells(line: str, delimiter: str) -> list[str]:
    try:
        return next(csv.reader([line], delimiter=delimiter))
    except csv.Error:  # such as of a cell of 128 kB
        return []


class _Column(NamedTuple):
    """The column of a channel."""

    name: str
    place: int | None  # in a row; None if there is none
    per_unit: float | None  # counts for a value of 1; None if the values are counts


def _columns(path: Path, header: list[str], kind: SensorKind) -> list[_Column]:
    """Return the columns of a sensor's channels: by their names, else all candidates."""
    pairs = [split_unit(name.strip()) for name in header]
    names = [_channel_of(name.lower(), kind) for name, _ in pairs]
    occur = [names.count(channel) for channel in kind.channels]
    places: list[int | None]
    if kind.is_input or max(occur) != 1:
        places = [place for place, name in enumerate(names) if not _NO_CHANNEL.fullmatch(name)]
    else:
        places = [names.index(each) if each in names else None for each in kind.channels]
    columns = []
    for number, place in enumerate(places):
        channel = min(number, len(kind.channels) - 1)
        name, unit = (kind.channels[channel], "") if place is None else pairs[place]
        columns.append(_Column(name, place, _per_unit(path, name, unit, kind, channel)))
    return columns


def _channel_of(name: str, kind: SensorKind) -> str:
    """Return the channel of a column; an axis without a sensor's letter is of the acceleration."""
    return f"a{name}" if name in tuple("xyz") and f"a{name}" in kind.channels else name


def _per_unit(path: Path, name: str, unit: str, kind: SensorKind, channel: int) -> float | None:
    """Return a channel's counts for a value of 1 in a unit; None if it is not a known unit."""
    try:
        given = unit_of(unit)
    except InputError:
        return None
    own = kind.channel_units[channel]
    if given.quantity == own.quantity:
        return float(given.size / own.size)
    if given.quantity in KNOWN_QUANTITIES:
        raise InvalidValue(
            path,
            f"column {name!r} is in {unit}, but {kind.name} measures "
            f"{kind.channels[channel]} in {own.text}",
            "rename or remove the column",
        )
    return None


def _counts(
    where: str, cells: list[str], n_columns: int, columns: Sequence[_Column], kind: SensorKind
) -> list[float]:
    """Return a sample of the cells of a line, in counts."""
    check(
        len(cells) == n_columns,
        where,
        f"{counted(len(cells), 'cell')}",
        f"{n_columns}",
        "give each row one cell per column",
    )
    counts = []
    for name, place, per_unit in columns:
        cell = "0" if place is None else cells[place]
        try:
            count = float(cell) * (per_unit or 1.0)
        except ValueError:
            count = math.nan
        if per_unit is not None and math.isfinite(count):
            count = round(count)
        elif not (count.is_integer() and -(1 << 15) <= count < 1 << 15):
            raise InputError(
                f"{where} has {shortened(cell)!r}, which is not a 16-bit whole number; give the "
                f"sensor's own counts ({kind.units}), or the unit in the header, as in '{name} "
                "(g)', and call a column of classes 'label'"
                if per_unit is None
                else f"{where} has {shortened(cell)!r} as {name}, which is not a finite number; "
                "correct this cell"
            )
        counts.append(count)
    return counts
