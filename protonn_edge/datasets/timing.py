"""The sampling rate and the instrument of a recording, from its times and its files."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import numpy as np

from protonn_edge.datasets.cells import FLOAT32_MAX
from protonn_edge.datasets.clock import (
    MOST_RATE,
    gaps,
    hertz,
    rate_of,
    seconds_of_a_unit,
    usual_step,
    usual_steps,
)
from protonn_edge.datasets.dataset import Table
from protonn_edge.datasets.instruments import Instrument
from protonn_edge.datasets.joined import seams_of
from protonn_edge.datasets.naming import Notice, listed, quoted
from protonn_edge.errors import InputError, counted

_UNEVEN = 1.5  # ratio of the steps of two parts of files
_SAME_RATE = 0.05  # maximum relative difference between the rates of two files


class FileFacts(NamedTuple):
    """The sampling rate and the instrument of a file, if known."""

    sample_rate: float | None
    instrument: Instrument | None


def timed(table: Table, files: Sequence[str]) -> Table:
    """Return a table with seams at gaps in time, and with the rate that follows from its times."""
    if table.times is None:
        return table
    name, times, are_dates = table.times
    for row in np.flatnonzero(~(np.abs(times) <= FLOAT32_MAX))[:1]:
        raise InputError(
            f"{table.source} has the time {times[row]:g} in row {row}, which is not a finite "
            "number; correct or drop the row"
        )
    file_of = np.zeros(len(times), np.int64) if table.file_of is None else table.file_of
    seams, count = seams_of(table).copy(), 0
    rates, steps = dict[str, float](), list[float]()
    for take in np.unique(file_of).tolist():
        rows = np.flatnonzero(file_of == take)
        apart = gaps(times[rows])
        count += int((apart & ~seams[rows]).sum())
        seams[rows] |= apart
        steps += usual_steps(times[rows], seams[rows])
        per_unit = rate_of(times[rows], seams[rows]) if len(rows) > 1 else None
        if per_unit is not None:
            rates[files[take]] = per_unit
    notices = list(table.notices)
    if count:
        text = f"{counted(count, 'gap')} in time; no window spans a gap"
        notices.append(Notice("gaps", text))
    step = usual_step(times)
    seconds = (
        1.0 if are_dates else seconds_of_a_unit(name, step, float(times[0]) if len(times) else 0)
    )
    known = {file: FileFacts(hertz(each, seconds), None) for file, each in rates.items() if seconds}
    rate = table.sample_rate or one_rate(known)
    if (
        table.sample_rate is None
        and step
        and (seconds is None or not known or (rate or 0) > MOST_RATE)
    ):
        text = "the sampling rate does not follow from the times; give it with --rate"
        notices.append(Notice("rate", text, warning=True))
        rate = None
    elif table.sample_rate is not None and known:
        notices += _of_other_times(table.sample_rate, known, name)
    elif table.sample_rate is None and known and seconds:
        notices.append(_of_rates([each.sample_rate or 0 for each in known.values()], seconds))
    if seconds and steps and max(steps) > _UNEVEN * min(steps):
        low, high = (hertz(1 / pick(steps), seconds) for pick in (max, min))
        text = (
            f"the times give {low:g} samples a second in a part without gaps, but {high:g} in "
            "another; if two devices wrote them, give only parts with the same rate"
        )
        notices.append(Notice("rate", text, warning=True))
    return replace(table, seams=seams, sample_rate=rate, notices=tuple(notices))


def _of_other_times(rate: float, known: Mapping[str, FileFacts], name: str) -> list[Notice]:
    """Return a warning if the times of a file contradict the rate in its first line."""
    rates = [each.sample_rate or rate for each in known.values()]
    other = max(rates, key=lambda each: abs(each - rate))
    if abs(other - rate) <= _SAME_RATE * rate:
        return []
    text = (
        f"the first line gives {rate:g} samples a second, but the times in column {quoted(name)} "
        f"give {other:g}; correct the line, or drop the column"
    )
    return [Notice("rate", text, warning=True)]


def _of_rates(rates: Sequence[float], seconds: float) -> Notice:
    units = {1.0: "seconds", 1e-3: "milliseconds", 1e-6: "microseconds", 1e-9: "nanoseconds"}
    unit = units.get(seconds, "days")
    ends = sorted({min(rates), max(rates)})
    samples = "sample" if ends == [1] else "samples"
    text = f"{' to '.join(f'{end:g}' for end in ends)} {samples} a second, computed from times in "
    return Notice("rate", f"{text}{unit}; use --rate to correct it")


def one_rate(tables: Mapping[str, FileFacts]) -> float | None:
    """Return the common rate of all files with a known rate."""
    rates = {name: each.sample_rate for name, each in tables.items() if each.sample_rate}
    first, usual = next(iter(rates.items()), ("", 0.0))
    for name, rate in rates.items():
        if abs(rate - usual) > _SAME_RATE * usual:
            raise InputError(
                f"{first} has {usual:g} samples a second, but {name} has {rate:g}; give recordings "
                "with the same rate or, for WAV files, a --rate no higher than the lowest of their "
                "rates"
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
