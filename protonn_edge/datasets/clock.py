"""The clock of a recording: its unit, the intervals between samples, and gaps among them.

All that is said about a clock follows from its intervals. They are those of its ticks: several
rows may have equal or nearly equal times, as in whole seconds or in packets, and then share the
interval up to the next tick.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from protonn_edge.datasets.units import split_unit

MOST_RATE = 1e6  # samples a second that are plausible
_DIGITS = 4  # significant digits of a measured rate
_ROWS = 100  # rows, over whose intervals jitter hardly matters
_FEW_ROWS = 20
# The most that intervals may differ by: the mean of so many rows, and single ones.
_UNEVEN, _IRREGULAR = 1.15, 3.0
_USUAL_ROWS = 50  # rows in whose neighbourhood a step is usual
_STEADY, _LONG = 0.9, 1.5  # share of steps up to so many usual ones
_JITTER = 3.0  # of the longest shortening
# Of packets: a step between them in steps within, these in intervals of rows, the spread of the
# former, their least number, and their most rows.
_PACKET, _NEARLY, _REGULAR, _FEWEST_PACKETS, _PACKET_ROWS = 5.0, 0.12, 1.4, 3, 16
_COARSE = 0.02  # share of rows with the time of the row before
_UNIT = re.compile(r"(?:^|_)(s|secs?|seconds?|ms|milli(?:second)?s?|[uµμ]s|micro(?:second)?s?|ns)$")
_SECONDS = {"s": 1.0, "ms": 1e-3, "milli": 1e-3, "us": 1e-6, "micro": 1e-6, "ns": 1e-9}
_SECONDS |= dict.fromkeys(("µs", "μs"), 1e-6)
_EPOCH = 1e9, 2.5e9  # seconds since 1970, from 2001 to 2049
_STEPS = ((1_000, 1e-3), (1_000_000, 1e-6), (np.inf, 1e-9))  # longest steps of units
_DAY_S = 86_400.0
_DAYS = (20_000, 80_000)  # of spreadsheets, from 1954 to 2119


class Ticks(NamedTuple):
    """The ticks of a clock: the first row of each, and whether a tick follows a seam."""

    begins: NDArray[np.intp]
    seams: NDArray[np.bool_]
    in_packets: bool  # whether rows of a tick have nearly equal times

    @classmethod
    def of(cls, times: NDArray[np.float64], seams: NDArray[np.bool_]) -> Self:
        """Find the ticks in times (rows,) with seams (rows,), where they fall at least."""
        steps, seams = np.diff(times), seams | (np.diff(times, prepend=times[:1]) < 0)
        longest = _longest_in_packets(steps[~seams[1:]])
        begins = np.flatnonzero(
            np.concatenate([[True], (steps > longest) | seams[1:]])[: len(times)]
        )
        return cls(begins, seams[begins], longest > 0)


def _longest_in_packets(steps: NDArray[np.float64]) -> float:
    """Return the longest step between rows of a packet; 0 if only equal times are."""
    longest = _PACKET * float(np.quantile(steps, 0.25)) if len(steps) else 0.0
    between = steps[steps > longest]
    if len(between) < _FEWEST_PACKETS or len(steps) > _PACKET_ROWS * len(between):
        return 0.0
    first, period, last = np.quantile(between, (0.1, 0.5, 0.9))
    within = np.quantile(steps[steps <= longest], 0.9) * len(steps) / len(between)
    regular = period <= _REGULAR * first and last <= _REGULAR * period
    return longest if regular and within <= _NEARLY * period else 0.0


def gaps(times: NDArray[np.float64], seams: NDArray[np.bool_] | None = None) -> NDArray[np.bool_]:
    """Return at which rows (rows,) a recording was interrupted, judged by its times.

    A negative step is an interruption. So is a step that is long for its neighbourhood: from 1.5
    usual ones on, as after a single lost sample, or more as far as steps jitter. The seams (rows,)
    that are known already are among them.
    """
    ticks = Ticks.of(times, np.zeros(len(times), np.bool_) if seams is None else seams)
    apart = np.zeros(len(times), np.bool_)
    apart[ticks.begins[ticks.seams]] = True
    inside = np.flatnonzero(~ticks.seams[1:]) + 1
    if len(inside):
        steps = np.diff(times[ticks.begins])[inside - 1]
        apart[ticks.begins[inside[_are_long(steps)]]] = True
    apart[:1] = False
    return apart


def _are_long(steps: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Return which steps (n,) are too long for the usual ones around them."""
    starts = np.arange(0, max(1, len(steps) - _USUAL_ROWS + 1), _USUAL_ROWS)
    usual = np.array([np.median(each) for each in np.split(steps, starts[1:])])
    around = np.pad(usual, 1, mode="edge")
    usual = np.maximum(np.maximum(around[:-2], usual), around[2:])
    ratios = steps / np.repeat(usual, np.diff([*starts, len(steps)]))
    if np.mean(ratios <= _LONG) >= _STEADY:
        return ratios > max(_LONG, 1 + _JITTER * (1 - float(np.quantile(ratios, 0.05))))
    return ratios > _JITTER * max(1.0, float(np.quantile(ratios, 0.75)))


class Intervals(NamedTuple):
    """The intervals of a clock: how many rows each tick has, and how long it lasts."""

    rows: NDArray[np.int64]
    lasts: NDArray[np.float64]
    in_packets: bool = False

    @classmethod
    def of(cls, times: NDArray[np.float64], seams: NDArray[np.bool_]) -> Self:
        """Return the intervals between times (rows,) that no seam (rows,) divides.

        Where several rows have the same time, only ticks are counted whose rows are all there: not
        the first and the last one between two seams.
        """
        ticks = Ticks.of(times, seams)
        rows, lasts = np.diff(ticks.begins), np.diff(times[ticks.begins])
        whole = ~ticks.seams[1:]
        if len(rows) and not ticks.in_packets and (rows > 1).mean() > _COARSE:
            whole &= ~np.concatenate([[True], ticks.seams[1:-1]])
        return cls(rows[whole], lasts[whole], ticks.in_packets)

    @classmethod
    def joined(cls, takes: Iterable[Self]) -> Self:
        """Return the intervals of several takes."""
        none = cls(np.empty(0, np.int64), np.empty(0))
        rows, lasts, in_packets = zip(none, *takes, strict=True)
        return cls(np.concatenate(rows), np.concatenate(lasts), any(in_packets))

    @property
    def interval(self) -> float:
        """The mean interval of a row; 0 if it is not known."""
        return float(self.lasts.sum() / self.rows.sum()) if len(self.rows) else 0.0

    @property
    def step(self) -> float:
        """The usual step from a tick to the next; 0 without any."""
        return float(np.median(self.lasts)) if len(self.lasts) else 0.0

    @property
    def single(self) -> tuple[float, float]:
        """Nearly the shortest and the longest interval of a row, the middle 90 % of them."""
        low, high = np.quantile(self.lasts / self.rows, (0.05, 0.95)) if len(self.rows) else (0, 0)
        return float(low), float(high)

    @property
    def local(self) -> tuple[float, float]:
        """The shortest and the longest interval of a row, as a mean of many rows."""
        total = int(self.rows.sum())
        part = np.cumsum(self.rows) // max(_FEW_ROWS, min(_ROWS, total // 4))
        starts = np.flatnonzero(np.diff(part, prepend=-1))
        means = np.add.reduceat(self.lasts, starts) / np.add.reduceat(self.rows, starts)
        means = means[:-1] if len(means) > 1 else means  # the last one may have few rows
        return float(means.min()), float(means.max())

    @property
    def are_even(self) -> bool:
        """Whether their mean is that of nearly all parts."""
        if self.rows.sum() < _FEW_ROWS:
            return True
        (low, high), (shortest, longest) = self.local, self.single
        return high <= _UNEVEN * low and longest <= _IRREGULAR * shortest


def usual_step(times: NDArray[np.float64]) -> float:
    """Return the usual step of times (rows,) from one tick to the next; 0 without any."""
    return Intervals.of(times, np.zeros(len(times), np.bool_)).step


def is_clock(values: NDArray[np.float64]) -> bool:
    """Return whether rising numbers (n,) are those of a clock of even samples."""
    ordered = np.sort(values)
    return len(values) >= _FEW_ROWS and Intervals.of(ordered, gaps(ordered)).are_even


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
