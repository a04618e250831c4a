"""The clock of a recording: the intervals between samples, and gaps among them.

All of these follow from its ticks: several rows may have equal or nearly equal times, as in whole
seconds or in packets, and then share the interval up to the next tick.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

_ROWS = 100  # rows, over whose intervals jitter hardly matters
_FEW_ROWS = 20
# The largest ratio of even intervals: means over these rows, and single ones.
_UNEVEN, _IRREGULAR = 1.15, 3.0
_USUAL_ROWS = 50  # rows in whose neighbourhood a step is usual
_STEADY, _LONG = 0.9, 1.5  # share of steps that are at most 1.5 usual ones
_JITTER = 3.0  # of the longest shortening
# Of packets: a quantile that is a step between them; steps within in intervals of rows or, if they
# jitter, of packets; the spread of the former, their least number, and their most rows.
_AMONG_LONG, _NEARLY, _WITHIN, _REGULAR, _FEWEST_PACKETS, _PACKET_ROWS = (
    0.97,
    0.12,
    0.25,
    1.4,
    3,
    16,
)
_COARSE = 0.02  # share of rows with the time of the row before


class Clock(NamedTuple):
    """The ticks of a clock that are followed directly by the next one, and where it was stopped."""

    rows: NDArray[np.int64]  # (ticks,): how many each tick has
    lasts: NDArray[np.float64]  # (ticks,): the time up to the next one
    apart: NDArray[np.bool_]  # (rows,): whether a row does not directly follow the one before
    in_packets: bool = False  # whether rows of a tick have nearly equal times

    @classmethod
    def of(cls, times: NDArray[np.float64], seams: NDArray[np.bool_] | None = None) -> Self:
        """Judge times (rows,), of which some rows (rows,) are known to be apart.

        Rows are also apart where times fall, or rise by more than is usual around: by 1.5 steps,
        as after a single lost sample, or more as far as steps jitter. Where several rows have the
        same time, only ticks are counted whose rows are all there: not the first and the last one
        of a part.
        """
        steps = np.diff(times)
        known = np.zeros(len(times), np.bool_) if seams is None else seams
        longest = _longest_in_packets(steps[~known[1:]])
        apart = known | (np.diff(times, prepend=times[:1]) < -longest)
        is_tick = np.concatenate([[True], (steps > longest) | apart[1:]])[: len(times)]
        begins = np.flatnonzero(is_tick)
        rows, lasts = np.diff(begins), np.diff(times[begins])
        follows = ~apart[begins[1:]]
        follows[follows] = ~_are_long(lasts[follows])
        apart[begins[1:]] |= ~follows
        if longest == 0 and np.any(rows > 1) and (rows > 1).mean() > _COARSE:
            follows &= np.concatenate([[False], follows[:-1]])
        return cls(rows[follows], lasts[follows], apart, longest > 0)

    @classmethod
    def joined(cls, takes: Iterable[Self]) -> Self:
        """Return the clock of several takes."""
        each = list(takes)
        none = np.empty(0, np.int64), np.empty(0), np.empty(0, np.bool_)
        rows, lasts, apart = (
            np.concatenate([none[place], *(take[place] for take in each)]) for place in range(3)
        )
        return cls(rows, lasts, apart, any(take.in_packets for take in each))

    @property
    def interval(self) -> float:
        """The mean interval of a row; 0 if it is not known."""
        return float(self.lasts.sum() / self.rows.sum()) if len(self.rows) else 0.0

    @property
    def single(self) -> tuple[float, float]:
        """Nearly the shortest and the longest interval of a row: the middle 90 % of them."""
        low, high = np.quantile(self.lasts / self.rows, (0.05, 0.95)) if len(self.rows) else (0, 0)
        return float(low), float(high)

    @property
    def local(self) -> tuple[float, float]:
        """The shortest and the longest interval of a row, as a mean of many rows."""
        part = np.cumsum(self.rows) // max(_FEW_ROWS, min(_ROWS, int(self.rows.sum()) // 4))
        starts = np.flatnonzero(np.diff(part, prepend=-1))
        means = np.add.reduceat(self.lasts, starts) / np.add.reduceat(self.rows, starts)
        means = means[:-1] if len(means) > 1 else means  # the last one may have few rows
        return float(means.min()), float(means.max())

    @property
    def is_even(self) -> bool:
        """Whether the mean interval is that of nearly all parts."""
        if self.rows.sum() < _FEW_ROWS:
            return True
        (low, high), (shortest, longest) = self.local, self.single
        return high <= _UNEVEN * low and longest <= _IRREGULAR * shortest


def _longest_in_packets(steps: NDArray[np.float64]) -> float:
    """Return the longest step between rows of a packet; 0 if only equal times are.

    The rows of a packet have nearly equal times or, where these are of their arrival, times that
    jitter: even steps within packets would be those of a sensor that pauses.
    """
    longest = float(np.quantile(steps, _AMONG_LONG)) / 2 if len(steps) else 0.0
    between, within = steps[steps > longest], np.abs(steps[np.abs(steps) <= longest])
    if len(between) < _FEWEST_PACKETS or len(steps) > _PACKET_ROWS * len(between):
        return 0.0
    if longest <= 0 or len(within) < len(between) / 2 or not within.any():
        return 0.0
    first, period, last = np.quantile(between, (0.1, 0.5, 0.9))
    low, high = np.quantile(within, (0.1, 0.9))
    regular = period <= _REGULAR * first and last <= _REGULAR * period
    near = high * len(steps) / len(between) <= _NEARLY * period
    jitters = high >= _JITTER * low and high <= _WITHIN * period
    return longest if regular and (near or jitters) else 0.0


def _are_long(steps: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Return which steps (n,) are too long for the usual ones around them."""
    if not len(steps):
        return np.zeros(0, np.bool_)
    starts = np.arange(0, max(1, len(steps) - _USUAL_ROWS + 1), _USUAL_ROWS)
    usual = np.array([np.median(each) for each in np.split(steps, starts[1:])])
    around = np.pad(usual, 1, mode="edge")
    usual = np.maximum(np.maximum(around[:-2], usual), around[2:])
    ratios = steps / np.repeat(usual, np.diff([*starts, len(steps)]))
    if np.mean(ratios <= _LONG) >= _STEADY:
        limit = max(_LONG, 1 + _JITTER * (1 - float(np.quantile(ratios, 0.05))))
    else:
        limit = _JITTER * max(1.0, float(np.quantile(ratios, 0.75)))
    are_long: NDArray[np.bool_] = ratios > limit
    return are_long


def usual_step(times: NDArray[np.float64]) -> float:
    """Return the usual step of times (rows,) from one tick to the next; 0 without any."""
    steps = Clock.of(times).lasts
    return float(np.median(steps)) if len(steps) else 0.0


def is_clock(values: NDArray[np.float64]) -> bool:
    """Return whether rising numbers (n,) are those of a clock of even samples."""
    return len(values) >= _FEW_ROWS and Clock.of(np.sort(values)).is_even
