"""The unit of a column of times, and rates in hertz."""

from __future__ import annotations

import re

import numpy as np

from protonn_edge.data.units import split_unit

MOST_RATE = 1e6  # samples a second that are plausible
_DIGITS = 4  # significant digits of a measured rate
_UNIT = re.compile(r"(?:^|_)(s|secs?|seconds?|ms|milli(?:second)?s?|[uµμ]s|micro(?:second)?s?|ns)$")
_SECONDS = {"s": 1.0, "ms": 1e-3, "milli": 1e-3, "us": 1e-6, "micro": 1e-6, "ns": 1e-9}
_SECONDS |= dict.fromkeys(("µs", "μs"), 1e-6)
_EPOCH = 1e9, 2.5e9  # seconds since 1970, from 2001 to 2049
_STEPS = ((1_000, 1e-3), (1_000_000, 1e-6), (np.inf, 1e-9))  # longest steps of units
_DAY_S = 86_400.0
_DAYS = (20_000, 80_000)  # of spreadsheets, from 1954 to 2119


def hertz(rate: float, seconds: float) -> float:
    """Return a rate per unit of `seconds` in Hz, rounded to a few digits."""
    return float(f"{rate / seconds:.{_DIGITS}g}")


def seconds_of_a_unit(name: str, step: float, first: float = 0.0) -> float | None:
    """Return the seconds in a column's unit of time, found by its name or by the usual step.

    Steps below 0.5 are seconds, whole numbers of 2 to 999 milliseconds, longer ones microseconds,
    as an Arduino counts, and from a million on nanoseconds, as telephones count. Tiny steps are
    days, as spreadsheets count, if the `first` time is such a day. Steps below 2 are seconds if the
    `first` time is one of seconds since 1970. None if undecided.
    """
    given = split_unit(name.lower())[1]
    if (match := _UNIT.search(given or name.lower())) is not None:
        return next(each for unit, each in _SECONDS.items() if match[1].startswith(unit))
    if given:
        return None
    if 0 < step < 2 and _EPOCH[0] < first < _EPOCH[1]:
        return 1.0
    if 0 < step < 0.5:
        return _DAY_S if _DAYS[0] < first < _DAYS[1] else 1.0
    if step < 2 or (2 * step) % 1:  # the median of whole numbers may be between two
        return None
    return next(seconds for most, seconds in _STEPS if step < most)
