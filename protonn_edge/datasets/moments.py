"""Times of rows: numbers, or dates and times in one of the usual notations."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from datetime import UTC, datetime

import numpy as np
from numpy.typing import NDArray

from protonn_edge.datasets.rules import with_point

_DAYS = ("%d.%m.%Y", "%m/%d/%Y", "%d/%m/%Y", "%Y/%m/%d", "%d-%m-%Y")
_TIMES = ("%H:%M:%S.%f", "%H:%M:%S", "%H:%M", "%I:%M:%S %p", "%I:%M %p")
_FORMATS = (
    *(f"{day} {time}" for day in _DAYS for time in _TIMES),
    *_TIMES,
    *_DAYS,
)

_UNIT = re.compile(r"(?:^|_)(s|secs?|seconds?|ms|milli(?:second)?s?|us|micro(?:second)?s?|ns)$")
_UNITS = (("s", 1.0), ("ms", 1e-3), ("milli", 1e-3), ("us", 1e-6), ("micro", 1e-6), ("ns", 1e-9))
_LONGEST_STEP_S, _LEAST_MILLISECONDS, _LEAST_MICROSECONDS = 0.5, 2, 1_000
_LEAST_NANOSECONDS = 1_000_000


def moments_of(cells: Sequence[str]) -> NDArray[np.float64] | None:
    """Return times (n,), in seconds or in the unit of the numbers; None if one cannot be read."""
    try:
        return np.array([float(with_point(cell)) for cell in cells])
    except ValueError:
        pass
    for read in (datetime.fromisoformat, *map(_reader, _FORMATS)):
        try:
            times = [read(cell.strip().replace(",", ".")) for cell in cells]
        except ValueError:
            continue
        begin = datetime(1970, 1, 1, tzinfo=UTC)
        zoned = [time if time.tzinfo else time.replace(tzinfo=UTC) for time in times]
        return np.array([(time - begin).total_seconds() for time in zoned])
    return None


def seconds_of_a_unit(name: str, step: float) -> float | None:
    """Return the seconds in a unit of time, by a column's name, or else by the usual step.

    Steps below 0.5 are of seconds, whole ones of 2 to 999 of milliseconds, longer ones of
    microseconds, as an Arduino's clocks count them, and from a million on of nanoseconds, as
    telephones do. None if it is undecided.
    """
    found = _UNIT.search(name.lower())
    if found is not None:
        return next(seconds for unit, seconds in _UNITS if found[1].startswith(unit))
    if 0 < step < _LONGEST_STEP_S:
        return 1.0
    if step < _LEAST_MILLISECONDS or step != round(step):
        return None
    if step < _LEAST_MICROSECONDS:
        return 1e-3
    return 1e-6 if step < _LEAST_NANOSECONDS else 1e-9


def _reader(notation: str) -> Callable[[str], datetime]:
    return lambda text: datetime.strptime(text, notation).replace(tzinfo=UTC)
