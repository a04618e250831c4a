"""Join the sensors of a take by time."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import chain
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from protonn_edge.data.naming import Notice, listed
from protonn_edge.data.options import TableOptions
from protonn_edge.data.points.dataset import Table
from protonn_edge.data.points.instruments import Instrument
from protonn_edge.data.roles.clock import Clock
from protonn_edge.data.roles.named import renamed
from protonn_edge.data.tables.table_file import opened_table
from protonn_edge.data.units import split_unit
from protonn_edge.system.errors import InputError


def options_of(options: TableOptions, paths: Sequence[Path]) -> list[TableOptions]:
    """Return the options for each file of a take: those that name one of its columns.

    A column may be named with its file before it, as in ``Gyroscope x``. The first file gets what
    names a column of no file, and refuses it.
    """
    columns = [{*_names(path, options)} for path in paths]

    def own_name(place: int, old: str) -> str | None:
        bare = old.removeprefix(f"{paths[place].stem} ")
        if any(old in names for names in columns):
            bare = old
        return bare if bare in columns[place] else None

    def of_file(place: int, given: Sequence[str]) -> tuple[str, ...]:
        texts = []
        for old, new in map(renamed, given):
            names = [own_name(each, old) for each in range(len(paths))]
            name = old if place == 0 and not any(names) else names[place]
            texts += [] if name is None else [f"{new}={name}" if new else name]
        return tuple(texts)

    each_one = []
    for place, path in enumerate(paths):
        channels = of_file(place, options.channels)
        if options.channels and not channels:
            raise InputError(f"--channels names no column of {path}; leave this file out of files")
        drop, keep = of_file(place, options.drop), of_file(place, options.keep)
        each_one.append(replace(options, drop=drop, keep=keep, channels=channels))
    return each_one


def _names(path: Path, options: TableOptions) -> Iterator[str]:
    """Yield the names of a file's columns, also without units."""
    for column in opened_table(path, replace(options, labelled="any")).columns:
        yield from (column.name, split_unit(column.name)[0])


def joined(tables: Sequence[Table], names: Sequence[str], folder: Path) -> Table:
    """Return the samples of several sensors at the times of the first one.

    The others' values are interpolated in time. Rows before the first or after the last sample of a
    sensor, or in its gaps, are left out.
    """
    first = tables[0]
    taken = Counter(name for table in tables for name in table.feature_names)
    channels = [
        tuple(f"{stem} {name}" if taken[name] > 1 else name for name in table.feature_names)
        for table, stem in zip(tables, names, strict=True)
    ]
    for table, stem in zip(tables, names, strict=True):
        if table.times is None or (first.times and table.times.are_dates != first.times.are_dates):
            raise InputError(
                f"the files {stem!r} in {folder} have no column of times like the others, so their "
                "samples cannot be joined; choose one file with --files NAME"
            )
    assert first.times is not None
    assert first.file_of is not None
    times = first.times.values
    inside = np.ones(len(times), np.bool_)
    others = [np.empty((len(times), table.X.shape[1]), np.float32) for table in tables[1:]]
    for take in np.unique(first.file_of).tolist():
        rows = np.flatnonzero(first.file_of == take)
        for table, values in zip(tables[1:], others, strict=True):
            inside[rows] &= _interpolated(table, take, times[rows], values, rows)
    if not inside.any():
        raise InputError(
            f"the files {listed(names)} in {folder} have no common times, so their samples cannot "
            "be joined; choose one file with --files NAME"
        )
    units = [table.instrument.units if table.instrument else () for table in tables]
    known = all(len(each) == len(own) for each, own in zip(units, channels, strict=True))
    instrument = Instrument("", tuple(unit for each in units for unit in each)) if known else None
    of_times = ("rate", "uneven")
    notes = [note for table in tables[1:] for note in table.notices if note.kind not in of_times]
    notices = dict.fromkeys((*first.notices, *notes))
    text = f"the samples of {listed(names[1:])} were interpolated at the times of {names[0]!r}"
    joined = replace(
        first,
        X=np.hstack([first.X, *others]),
        feature_names=tuple(name for each in channels for name in each),
        notices=(*notices, Notice("joined", text)),
        instrument=instrument,
    )
    return joined.parted(inside)


def in_order(table: Table, given: Sequence[str]) -> Table:
    """Return a table with its channels in the order in which ``--channels`` names them."""
    wanted = [new or old for old, new in map(renamed, given)]

    def rank(place: int) -> int:
        name = table.feature_names[place]
        named = (n for n, text in enumerate(wanted) if f" {text}".endswith(f" {name}"))
        of_each = (n for n, text in enumerate(wanted) if name.endswith(f" {text}"))
        return next(chain(named, of_each), len(wanted))

    places = sorted(range(len(table.feature_names)), key=rank)
    units = table.instrument.units if table.instrument else ()
    return replace(
        table,
        X=table.X[:, places],
        feature_names=tuple(table.feature_names[place] for place in places),
        instrument=Instrument("", tuple(units[place] for place in places)) if units else None,
    )


def _interpolated(
    table: Table,
    take: int,
    times: NDArray[np.float64],
    values: NDArray[np.float32],
    rows: NDArray[np.intp],
) -> NDArray[np.bool_]:
    """Write the channels of a take at some times; return at which of them it has samples."""
    assert table.times is not None
    assert table.file_of is not None
    own = table.file_of == take
    moments, X = table.times.values[own], table.X[own]
    if not len(moments):
        return np.zeros(len(times), np.bool_)
    order = np.argsort(moments, kind="stable")
    for channel, samples in enumerate(X[order].T):
        values[rows, channel] = np.interp(times, moments[order], samples)
    after = np.searchsorted(moments[order], times)
    in_gap = np.append(Clock.of(moments[order]).apart, False)[after]
    exact = np.isin(times, moments)
    inside: NDArray[np.bool_] = (times >= moments.min()) & (times <= moments.max())
    return inside & (~in_gap | exact)
