"""The clock of a recording: its unit, gaps in time, and the sampling rate."""

from __future__ import annotations

import re

import numpy as np
from numpy.typing import NDArray

from protonn_edge.datasets.units import split_unit

MOST_RATE = 1e6  # samples a second that are plausible
_DIGITS = 4  # significant digits of a measured rate
_GAP, _GAP_OF_STEADY = 3.0, 1.5  # steps
# For a steady clock: the share of steps near the usual one, and how near they are.
_STEADY, _UNSTEADY = 0.9, 0.25
_LONG_PART = 50  # rows
_COARSE = 0.02  # share of rows with the time of the row before
_UNIT = re.compile(r"(?:^|_)(s|secs?|seconds?|ms|milli(?:second)?s?|[uµμ]s|micro(?:second)?s?|ns)$")
_SECONDS = {"s": 1.0, "ms": 1e-3, "milli": 1e-3, "us": 1e-6, "micro": 1e-6, "ns": 1e-9}
_SECONDS |= dict.fromkeys(("µs", "μs"), 1e-6)
_EPOCH = 1e9, 2.5e9  # seconds since 1970, from 2001 to 2049
_STEPS = ((1_000, 1e-3), (1_000_000, 1e-6), (np.inf, 1e-9))  # longest steps of units
_DAY_S = 86_400.0
_DAYS = (20_000, 80_000)  # of spreadsheets, from 1954 to 2119


def gaps(times: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Return at which rows (rows,) a recording was interrupted, judged by its times.

    The usual step is the median of the positive ones. A negative step is an interruption. So is a
    long one: with a steady clock, where nearly all steps are usual, from 1.5 usual steps on, as
    after a single lost sample; otherwise above 3.
    """
    steps = np.diff(times)
    rising = steps[steps > 0]
    usual = float(np.median(rising)) if len(rising) else 0.0
    steady = len(rising) > 0 and np.mean(np.abs(rising - usual) <= _UNSTEADY * usual) >= _STEADY
    apart = (steps < 0) | (steps > (_GAP_OF_STEADY if steady else _GAP) * usual)
    return np.concatenate([[False], apart])


def usual_step(times: NDArray[np.float64]) -> float:
    """Return the median of the positive steps of times (rows,); 0 without any."""
    steps = np.diff(times)
    rising = steps[steps > 0]
    return float(np.median(rising)) if len(rising) else 0.0


def usual_steps(times: NDArray[np.float64], seams: NDArray[np.bool_]) -> list[float]:
    """Return the usual step of each long part of times (rows,) without a seam (rows,)."""
    parts = np.split(times, np.flatnonzero(seams))
    steps = (usual_step(each) for each in parts if len(each) >= _LONG_PART)
    return [each for each in steps if each]


def rate_of(times: NDArray[np.float64], seams: NDArray[np.bool_]) -> float | None:
    """Return the number of rows per unit of time, given times (rows,); None if it is not known.

    Where several rows have the same time, only ticks are counted whose rows are all there: not the
    first and the last one between two seams (rows,).
    """
    steps, inside = np.diff(times), ~seams[1:]
    step = usual_step(times)
    if not step or not inside.any():
        return None
    if (steps[inside] == 0).mean() <= _COARSE:
        # The mean step of whole milliseconds may be fractional.
        usual = steps[inside & (steps >= 0) & (steps < 2 * step)]
        return float(1 / usual.mean()) if len(usual) else None
    begins = np.flatnonzero(np.concatenate([[True], (steps != 0) | ~inside]))
    rows, lasts = np.diff(begins), np.diff(times[begins])
    whole = (lasts > 0) & (lasts < 2 * step) & ~seams[begins[1:]] & ~seams[begins[:-1]]
    whole[:1] = False
    return float(rows[whole].sum() / lasts[whole].sum()) if whole.any() else None


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
