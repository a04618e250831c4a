"""The times of a table's rows."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from protonn_edge.data.naming import Notice, listed, quoted
from protonn_edge.data.options import SHOWN, TableOptions
from protonn_edge.data.points.dataset import RowTimes
from protonn_edge.data.points.preparation import DROP, FILLED
from protonn_edge.data.roles.behaviour import behaviour_of
from protonn_edge.data.roles.clock import Clock
from protonn_edge.data.roles.roles import Roles
from protonn_edge.data.tables.columns import LOST_DIGITS, SPELLINGS, Column
from protonn_edge.data.tables.moments import unit_seconds
from protonn_edge.data.tables.tables import RawTable
from protonn_edge.data.tables.usual_names import is_called_as_time
from protonn_edge.system.errors import InputError, counted

_HALF_A_DAY_S, _DAY_S = 43_200, 86_400
_RISES = 3  # times as often as it falls
_COARSE = 0.1  # share of rows whose time is that of the row before


def times_of(
    raw: RawTable, roles: Roles, options: TableOptions, *, recorded: bool
) -> RowTimes | None:
    """Return the times of rows: of the finest clock, if several columns have times.

    A column that is called a time, or has dates, goes before one that only rises as times do, such
    as a temperature, unless its times are coarse. A column of days and one of times of day are
    added. Numbers that fall are no times, unless sorting makes them those of a clock.
    """
    columns = [each for each in roles.of("time") if each.values is not None]
    if options.time is not None:
        _refuse_unread(roles.of("time")[:1], raw)
    else:
        columns = [each for each in columns if not each.has_lost_digits]
        called = {each: is_called_as_time(each.name) for each in columns}
        columns = [each for each in columns if each.moments or _is_clock(each, called[each])]
        columns.sort(key=lambda each: (*_fineness(each, called=called[each]), not called[each]))
    for column in columns[:1]:
        values, moments = column.values, column.moments
        assert values is not None
        is_treated = options.missing in (DROP, SHOWN, *FILLED)
        if recorded and (column.unreadable or column.gaps) and not is_treated:
            _refuse_without(column, raw)
            first = column.first_unreadable if column.unreadable else column.first_gap
            count = column.unreadable + column.gaps
            raise InputError(
                f"{raw.place(first[0])} has the time {first[1][:40]!r} in {column.title}"
                f"{raw.places(column.unreadable_rows, column.unreadable)}, which is not read as "
                f"others are; correct {'it' if count == 1 else 'them'}, or leave "
                f"{counted(count, 'row')} out with --missing drop, or interpolate times with "
                "--missing median"
            )
        if column.form is not None and (unit := unit_seconds(column.form.after)):
            return RowTimes(column.name, values * unit, are_dates=True)
        if moments is not None and not moments.has_day:
            values = _unwrapped(values)
        days = [each for each in columns if each.moments and not each.moments.has_time]
        if moments is not None and not moments.has_day and days:
            values = column.values + days[0].values  # type: ignore[operator]
        return RowTimes(column.name, values, moments is not None)
    return None


def _is_clock(column: Column, called: bool) -> bool:
    assert column.values is not None
    steps = np.diff(column.values)
    falling, rising = int((steps < 0).sum()), int((steps > 0).sum())
    if _RISES * falling <= rising:
        return True
    there = column.values[~np.isnan(column.values)]
    if called and Clock.of(there).in_packets:
        return True
    ordered = np.sort(there)
    return called and behaviour_of(ordered, np.zeros(len(ordered), np.bool_)).kind == "counter"


def _fineness(column: Column, *, called: bool) -> tuple[bool, bool, int]:
    """Return the sort key of clocks: fine ones of a usual name first, numbers of rows last."""
    assert column.values is not None
    steps = np.diff(column.values)
    counts = column.moments is None and np.median(steps) == 1
    is_clock = (called or column.moments is not None) and np.mean(steps == 0) < _COARSE
    return bool(counts), not is_clock, -len(np.unique(column.values))


def interpolated(time: RowTimes, begins: NDArray[np.bool_]) -> tuple[RowTimes, list[Notice]]:
    """Return times (n,), gaps between the times around them in takes that begin, with a notice."""
    times, takes = time.values.copy(), np.cumsum(begins)
    lost = np.isnan(times)
    for take in np.unique(takes[lost]).tolist():
        rows = np.flatnonzero(takes == take)
        known = rows[~lost[rows]]
        if len(known):
            times[rows] = np.interp(rows, known, times[known], left=np.nan, right=np.nan)
    if not (count := int((lost & ~np.isnan(times)).sum())):
        return time, []
    text = f"interpolated: {counted(count, 'cell')} of the times in {quoted(time.name)}"
    notice = Notice("missing", text, warning=True, columns=(time.name,))
    return time._replace(values=times), [notice]


def usual_row(kept: NDArray[np.bool_]) -> int:
    """Return the usual distance from a row that is kept (rows,) to the next; 1 without any."""
    steps = np.diff(np.flatnonzero(kept))
    return int(np.median(steps)) if len(steps) else 1


def refuse_slower(path: object, columns: Sequence[Column], empty: NDArray[np.bool_]) -> None:
    """Refuse columns of slower sensors, whose cells (rows, columns) are `empty` in most rows."""
    filled = ~empty
    if 2 * filled.all(axis=1).sum() >= filled.any(axis=1).sum():
        return
    first = filled[:, filled.sum(axis=0).argmax()]
    slower = 2 * (filled & first[:, None]).sum(axis=0) < first.sum()
    if not slower.any():
        return
    pairs = list(zip(columns, slower.tolist(), strict=True))
    names, others = (
        ",".join(column.flag_value for column, is_slow in pairs if is_slow == wanted)
        for wanted in (True, False)
    )
    row = np.flatnonzero(filled[:, slower].any(axis=1))
    raise InputError(
        f"{path} has values of {listed(each.key for each, is_slow in pairs if is_slow)} in only "
        f"{len(row):,} of {len(filled):,} rows (about one in {len(filled) // max(1, len(row))}), "
        f"as a slower sensor gives them, but windows need values in all rows; use "
        f"--channels {others} or, for the slower ones, --channels {names}"
    )


def _refuse_unread(columns: Sequence[Column], raw: RawTable) -> None:
    """Refuse a column that an option calls a time, if its cells are none."""
    for column in columns:
        why = LOST_DIGITS if column.has_lost_digits else f"are not read as times; {SPELLINGS}"
        if column.values is None or column.has_lost_digits:
            raise InputError(
                f"{raw.files[0].path}: --time is {column.key!r}, whose cells such as "
                f"{quoted(column.example)} {why}"
            )


def _refuse_without(times: Column, raw: RawTable) -> None:
    """Refuse a file that lacks a column of times of others."""
    for file in raw.files:
        if times.name not in file.names:
            raise InputError(
                f"{file.path} lacks the column of times {times.name!r} of {raw.files[0].path}; add "
                f"it, or leave it out of all files with --drop {times.flag_value}"
            )


def _unwrapped(seconds: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return times of day that go on after midnight."""
    there = np.isfinite(seconds)
    midnights = np.diff(seconds[there], prepend=seconds[there][:1]) < -_HALF_A_DAY_S
    whole = seconds.copy()
    whole[there] += _DAY_S * np.cumsum(midnights)
    return whole
