"""The sampling rate and the instrument of a recording, from its times and its files."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from protonn_edge.data.naming import Notice, listed, quoted
from protonn_edge.data.points.dataset import RowTimes, Table
from protonn_edge.data.points.instruments import Instrument
from protonn_edge.data.roles.clock import (
    Clock,
    usual_step,
)
from protonn_edge.data.tables.cells import FLOAT32_MAX
from protonn_edge.extensions.sensing.recordings.time_units import (
    MOST_RATE,
    hertz,
    seconds_of_a_unit,
)
from protonn_edge.system.errors import InputError, counted

_SAME_RATE = 0.05  # maximum relative difference between the rates of two files
_MOST_ROWS = 1 << 26  # of interpolated samples
_AS_USUAL = 0.25  # of the usual step, by which others differ
_IN_TURN = 8  # rows of a session until another one follows, on average
_UNITS = {1.0: "s", 1e-3: "ms", 1e-6: "µs", 1e-9: "ns"}


class FileFacts(NamedTuple):
    """The sampling rate and the instrument of a file, if known."""

    sample_rate: float | None
    instrument: Instrument | None


def timed(table: Table, files: Sequence[str], rate: float | None = None) -> Table:
    """Return a table in the order of its times, with seams at gaps, and the rate that follows.

    If the samples are not evenly spaced, they are interpolated at a `rate` in Hz; without one, a
    notice of the kind ``uneven`` reports it.
    """
    if table.times is None:
        return table
    for row in np.flatnonzero(~(np.abs(table.times.values) <= FLOAT32_MAX))[:1]:
        raise InputError(
            f"{table.source} has the time {table.times.values[row]:g} in row {row}, which is not a "
            "finite number; correct or drop the row"
        )
    table = _sorted_by_time(table)
    name, times, are_dates = table.times or RowTimes("", np.empty(0), are_dates=False)
    file_of = np.zeros(len(times), np.int64) if table.file_of is None else table.file_of
    known_seams, seams = table.gaps_between, table.gaps_between.copy()
    takes = dict[str, Clock]()
    for take in np.unique(file_of).tolist():
        rows = np.flatnonzero(file_of == take)
        clock = takes[files[take]] = Clock.of(times[rows], seams[rows])
        seams[rows] = clock.apart
    notices = list(table.notices)
    if count := int((seams & ~known_seams).sum()):
        text = f"{counted(count, 'gap')} in time; no window spans a gap"
        notices.append(Notice("gaps", text))
    every = Clock.joined(takes.values())
    first = float(times[0]) if len(times) else 0.0
    steps = () if are_dates else (usual_step(times), every.interval)
    units = (seconds_of_a_unit(name, step, first) for step in steps)
    seconds = 1.0 if are_dates else next((unit for unit in units if unit), None)
    table = replace(table, seams=seams, notices=tuple(notices))
    means = [each.interval for each in takes.values() if each.interval]
    alike = not means or max(means) <= (1 + _SAME_RATE) * min(means)
    if table.sample_rate is None and rate is not None and not (alike and every.is_even):
        return _interpolated(table, 1 / (rate * seconds) if seconds else every.interval, rate)
    if table.sample_rate is None and not every.is_even:
        table = replace(table, notices=(*notices, _of_uneven(name, every, seconds)))
    return _with_rate(table, takes, every, seconds)


def _with_rate(
    table: Table, takes: Mapping[str, Clock], every: Clock, seconds: float | None
) -> Table:
    """Return a table with the rate of its files' intervals, unless its first line gives one."""
    rates = {file: 1 / each.interval for file, each in takes.items() if each.interval}
    known = {file: FileFacts(hertz(each, seconds), None) for file, each in rates.items() if seconds}
    rate = table.sample_rate or one_rate(known, sampled=True)
    notices = list(table.notices)
    if table.sample_rate is not None:
        notices += _of_other_times(table, known)
    elif every.interval and (seconds is None or not known or (rate or 0) > MOST_RATE):
        text = "the sampling rate does not follow from the times; give it with --rate"
        notices.append(Notice("rate", text, warning=True))
        rate = None
    elif known and seconds:
        notices.append(
            _of_rates([each.sample_rate or 0 for each in known.values()], every, seconds)
        )
    return replace(table, sample_rate=rate, notices=tuple(notices))


def of_each_session(table: Table) -> Table:
    """Return a table with the rows of each session together, if sessions take turns."""
    if table.sessions is None or not len(table.sessions):
        return table
    ordered = table.sessions.in_order()
    codes, names = ordered.codes, ordered.texts
    runs = 1 + int((codes[1:] != codes[:-1]).sum())
    if runs <= 2 * len(names) or len(codes) > _IN_TURN * runs:
        return table
    others = table.gaps_between & (np.diff(codes, prepend=codes[:1]) == 0)
    files = np.zeros(len(codes), np.int64) if table.file_of is None else table.file_of
    order = np.lexsort((codes, files))
    part, session = np.cumsum(others)[order], codes[order]
    seams = (np.diff(part, prepend=part[:1]) != 0) | (np.diff(session, prepend=session[:1]) != 0)
    text = f"rows of {listed(names)} take turns; those of each are read as a recording of its own"
    return replace(table.at(order, seams), notices=(*table.notices, Notice("in_turn", text)))


def _sorted_by_time(table: Table) -> Table:
    """Return a table whose rows are in the order of their times between two seams.

    A clock that begins again is left as it is: sorting would mix what it has measured.
    """
    assert table.times is not None
    times, seams = table.times.values, table.gaps_between
    falls = np.diff(times, prepend=times[:1]) < 0
    part, order, late = np.cumsum(seams), np.arange(len(times)), 0
    for number in np.unique(part[falls & ~seams]).tolist():
        rows = np.flatnonzero(part == number)
        moved = rows[np.argsort(times[rows], kind="stable")]
        if _is_better(times[rows], times[moved]):
            order[rows] = moved
            late += int((times[rows] < np.maximum.accumulate(times[rows])).sum())
    if not late:
        return table
    text = f"{counted(late, 'row')} behind later ones; the rows were sorted by time"
    return replace(table.at(order, seams), notices=(*table.notices, Notice("order", text)))


def _is_better(times: NDArray[np.float64], ordered: NDArray[np.float64]) -> bool:
    """Whether sorted times are those of one clock, and those of rows as they are were not."""
    before, after = Clock.of(times).apart, Clock.of(ordered).apart
    is_one = _share_of_usual(ordered) >= _share_of_usual(times)
    return bool(after.sum() < before.sum() and is_one)


def _share_of_usual(times: NDArray[np.float64]) -> float:
    """Return the share of nearly equal steps, which two clocks in one do not have."""
    steps = np.diff(times)
    rising = steps[steps > 0]
    usual = np.median(rising) if len(rising) else 0.0
    return float(np.mean(np.abs(steps - usual) <= _AS_USUAL * usual))


def _interpolated(table: Table, step: float, rate: float) -> Table:
    """Return the samples at even times, with the labels of the samples before."""
    assert table.times is not None
    times = table.times.values
    begins = np.flatnonzero(np.concatenate([[True], table.gaps_between[1:]]))
    ends = np.append(begins[1:], len(times))
    steps = np.floor((times[ends - 1] - times[begins]) / step) + 1
    if steps.sum() > _MOST_ROWS:
        raise InputError(
            f"--rate {rate:g} makes {steps.sum():,.0f} samples of {table.source}, but the limit is "
            f"{_MOST_ROWS:,}; give a lower rate"
        )
    counts = steps.astype(np.int64)
    grids = [times[first] + step * np.arange(n) for first, n in zip(begins, counts, strict=True)]
    parts = list(zip(begins, ends, grids, strict=True))
    rows = [a + np.searchsorted(times[a:b], grid, side="right") - 1 for a, b, grid in parts]
    X = [
        np.stack([np.interp(grid, times[a:b], x) for x in table.X[a:b].T], axis=1)
        for a, b, grid in parts
    ]
    seams = np.zeros(int(counts.sum()), np.bool_)
    seams[np.cumsum(counts)[:-1]] = True
    text = f"the samples, which were not evenly spaced, were interpolated at {rate:g} Hz"
    return replace(
        table.at(np.concatenate(rows), seams),
        X=np.concatenate(X).astype(np.float32),
        times=table.times._replace(values=np.concatenate(grids)),
        sample_rate=rate,
        notices=(*table.notices, Notice("interpolated", text)),
    )


def _of_uneven(name: str, every: Clock, seconds: float | None) -> Notice:
    """Return the warning of samples that have no rate."""
    (shortest, longest), (low, high) = every.single, every.local
    title = f" in column {quoted(name)}" if name else ""
    where, rates = "the number of samples a second", ""
    if seconds:
        slow, fast = hertz(1 / high, seconds), hertz(1 / low, seconds)
        where, rates = f"{slow:g}", f", with means of {slow:g} to {fast:g} samples a second"
    text = (
        f"the times{title} are not evenly spaced: intervals are {shortest:.3g} to {longest:.3g}"
        f"{_unit(seconds)}{rates}, so windows of equal length take unequal times; interpolate the "
        f"samples with --rate {where}"
    )
    return Notice("uneven", text, warning=True)


def _unit(seconds: float | None) -> str:
    return f" {_UNITS[seconds]}" if seconds in _UNITS else ""


def _of_other_times(table: Table, known: Mapping[str, FileFacts]) -> list[Notice]:
    """Return a warning if the times of a file contradict the rate in its first line."""
    assert table.times is not None
    assert table.sample_rate is not None
    rate = table.sample_rate
    rates = (each.sample_rate or rate for each in known.values())
    other = max(rates, default=rate, key=lambda each: abs(each - rate))
    if abs(other - rate) <= _SAME_RATE * rate:
        return []
    text = (
        f"the first line gives {rate:g} samples a second, but the times in column "
        f"{quoted(table.times.name)} give {other:g}; correct the line, or drop the column"
    )
    return [Notice("rate", text, warning=True)]


def _of_rates(rates: Sequence[float], every: Clock, seconds: float) -> Notice:
    units = {1.0: "seconds", 1e-3: "milliseconds", 1e-6: "microseconds", 1e-9: "nanoseconds"}
    ends, (low, high) = sorted({min(rates), max(rates)}), every.single
    samples = "sample" if ends == [1] else "samples"
    text = f"{' to '.join(f'{end:g}' for end in ends)} {samples} a second, computed from times in "
    text += units.get(seconds, "days")
    if every.in_packets:
        text += f" of packets of {np.median(every.rows):.3g} samples"
    elif high > (1 + _SAME_RATE) * low:
        text += f" (intervals of {low:.3g} to {high:.3g}{_unit(seconds)})"
    return Notice("rate", f"{text}; use --rate to correct it", warning=every.in_packets)


def one_rate(tables: Mapping[str, FileFacts], *, sampled: bool = False) -> float | None:
    """Return the common rate of all files with a known rate.

    `sampled` is whether an option can have all of them sampled at another rate.
    """
    rates = {name: each.sample_rate for name, each in tables.items() if each.sample_rate}
    first, usual = next(iter(rates.items()), ("", 0.0))
    for name, rate in rates.items():
        if abs(rate - usual) > _SAME_RATE * usual:
            way = f", or use --rate {min(rates.values()):g} for all" if sampled else ""
            raise InputError(
                f"{first} has {usual:g} samples a second, but {name} has {rate:g}; give recordings "
                f"with the same rate{way}"
            )
    return float(np.median(list(rates.values()))) if rates else None


def one_instrument(tables: Mapping[str, FileFacts]) -> Instrument | None:
    """Return the instrument of all files; None if some do not state it."""
    instruments = {name: each.instrument for name, each in tables.items() if each.instrument}
    first, common = next(iter(instruments.items()), ("", None))
    for name, instrument in instruments.items():
        if instrument != common:
            raise InputError(
                f"{first} contains data from {common}, but {name} from {instrument}; give "
                "recordings from the same sensor"
            )
    return common if len(instruments) == len(tables) else None


def without_units(tables: Mapping[str, FileFacts]) -> Iterator[Notice]:
    """Yield a warning if some files have units and others do not."""
    names = [name for name, each in tables.items() if each.instrument is None]
    if 0 < len(names) < len(tables):
        text = (
            f"the units of {counted(len(tables) - len(names), 'file')} are ignored, because "
            f"{counted(len(names), 'other file')} {'has' if len(names) == 1 else 'have'} none "
            f"({listed(Path(name).name for name in names)}); give all files the same units"
        )
        yield Notice("units", text, warning=True)
