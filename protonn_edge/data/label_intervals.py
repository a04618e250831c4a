"""Intervals of time with labels, in a file beside a recording.

Programs that label recordings write such files: a row for each interval, with its start, its end or
its duration, and its label, in any order. Audacity writes them without a header.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import permutations
from pathlib import Path
from typing import Self

import numpy as np
from numpy.typing import NDArray

from protonn_edge.data.cells import is_label, is_number
from protonn_edge.data.clock import seconds_of_a_unit, usual_step
from protonn_edge.data.columns import Column
from protonn_edge.data.dataset import Table
from protonn_edge.data.joined import of_rows
from protonn_edge.data.naming import Notice, listed
from protonn_edge.data.options import TableOptions
from protonn_edge.data.tables import RawTable, opened_table
from protonn_edge.data.usual_names import LABEL_NAMES
from protonn_edge.system.errors import InputError, counted

_SUFFIXES = (".csv", ".tsv", ".txt")
_LIMIT_BYTES = 4 << 20
_FEWEST_COLUMNS, _MOST_COLUMNS = 3, 8
_SECONDS = (1.0, 1e-3, 1e-6)  # in a unit of time
_INSIDE = 0.9  # share of the intervals that is in the recording
_LONGER = 1.02  # as long, at least, are intervals in a more likely unit
_APART = 0.8  # share of intervals that begin behind the end of the one before; rows seldom do
_ROUNDED = 1e-3  # of the step between two samples, by which times may differ
_OF_ROWS = ("sample", "frame", "row", "index")  # in names of columns that count rows

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class LabelIntervals:
    """The labels of m intervals, in order of time."""

    path: Path
    starts: Floats  # (m,)
    ends: Floats  # (m,)
    labels: list[str]
    seconds: float | None  # in a unit of their times, if the header states it; 0 for rows
    are_dates: bool

    @classmethod
    def read(cls, path: Path, *, durations: bool = True) -> Self | None:
        """Read a file; None if it has other content.

        - `durations`: whether a column may have the durations instead of the ends
        """
        columns = _columns_of(path)
        found = next(_ends_in(columns, durations=durations), None)
        if found is None:
            return None
        starts, ends, name, label = found
        order = np.argsort(starts, kind="stable")
        texts = list(label.names())
        unit = 0.0 if any(each in name.lower() for each in _OF_ROWS) else None
        return cls(
            path,
            starts[order],
            ends[order],
            [texts[row] for row in order.tolist()],
            seconds_of_a_unit(name, 0) if unit is None else unit,
            any(column.kind == "date" for column in columns),
        )

    def codes_at(self, times: Floats | None, n: int, seconds: float | None) -> NDArray[np.int64]:
        """Return the number of the interval of each of n samples, (n,); -1 outside of all.

        - `times`: of the samples (n,), if known; otherwise, `seconds` are between two samples
        - `seconds`: in a unit of these times, if known
        """
        axis = np.arange(n, dtype=np.float64) if times is None else times
        ends = self._likely_ends(axis, seconds, are_rows=times is None)
        if ends is None and times is None and not seconds:
            raise InputError(
                f"{self.path} has intervals of time from {self.starts[0]:g} to "
                f"{self.ends.max():g}, but its recording of {n:,} rows has no times; give the "
                "samples a second with --rate HZ"
            )
        if ends is None:
            raise InputError(
                f"{self.path} has intervals from {self.starts[0]:g} to {self.ends.max():g}, but "
                f"its recording is from {axis.min():g} to {axis.max():g}; write both in the same "
                "unit of time, or rename the file if it is of another recording"
            )
        begins, stops = ends
        if (early := np.flatnonzero(begins[1:] < stops[:-1] - 1e-9 * np.abs(stops[:-1]))).size:
            text = f"{self.starts[early[0] + 1]:g} is before the end of the one before it"
            raise InputError(
                f"{self.path}: the interval {self.labels[early[0] + 1]!r} that starts at {text}, "
                f"{self.ends[early[0]]:g}; a sample has one label, so correct one of the two"
            )
        near = _ROUNDED * usual_step(axis)
        codes = np.searchsorted(begins - near, axis, side="right") - 1
        inside = (codes >= 0) & (axis < stops[np.maximum(codes, 0)] - near)
        return np.where(inside, codes, -1)

    def _likely_ends(
        self, axis: Floats, seconds: float | None, *, are_rows: bool
    ) -> tuple[Floats, Floats] | None:
        """Return the starts and ends on the axis of a recording, in the unit that suits it best.

        These are the longest ones that are in the recording.
        """
        low, high = axis.min(), axis.max()
        best, longest = None, 0.0
        for begins, ends in self._on_axis(axis, seconds, are_rows=are_rows):
            if np.median(ends - begins) < usual_step(axis):
                continue
            total = float((ends - begins).sum())
            clipped = np.clip(ends, low, high) - np.clip(begins, low, high)
            if clipped.sum() >= _INSIDE * total and total > _LONGER * longest:
                best, longest = (begins, ends), total
        return best

    def _on_axis(
        self, axis: Floats, seconds: float | None, *, are_rows: bool
    ) -> Iterator[tuple[Floats, Floats]]:
        """Yield the starts and ends by each unit that they may be in."""
        if self.seconds is None and not are_rows:
            yield self.starts, self.ends
        units = _SECONDS if self.seconds is None else (self.seconds,)
        for unit in filter(None, units if seconds and not self.are_dates else ()):
            scale = unit / (seconds or 1.0)
            for begin in dict.fromkeys((0.0, float(axis[0]))):
                yield begin + scale * self.starts, begin + scale * self.ends
        if not self.seconds and not self.are_dates:
            rows = np.arange(len(axis) + 1, dtype=np.float64)
            places = np.append(axis, 2 * axis[-1] - axis[-2] if len(axis) > 1 else axis[0] + 1)
            whole = (self.starts % 1 == 0) & (self.ends % 1 == 0)
            within = whole & (self.starts >= 0) & (self.ends <= len(axis))
            if within.all() and (np.diff(axis) >= 0).all():
                yield np.interp(self.starts, rows, places), np.interp(self.ends, rows, places)


def _columns_of(path: Path) -> list[Column]:
    """Return the columns of a small table that may have intervals; none of another file."""
    if path.suffix.lower() not in _SUFFIXES or not path.is_file():
        return []
    if not 0 < path.stat().st_size <= _LIMIT_BYTES:
        return []
    options = TableOptions(labelled="any")
    try:
        file = opened_table(path, options)
        width = len(file.names)
        of_numbers = all(is_number(cell) for row in file.first for cell in row)
        if not _FEWEST_COLUMNS <= width <= (_FEWEST_COLUMNS if of_numbers else _MOST_COLUMNS):
            return []
        return RawTable.read([file], options).columns
    except InputError:
        return []


def _ends_in(
    columns: Sequence[Column], *, durations: bool
) -> Iterator[tuple[Floats, Floats, str, Column]]:
    """Yield starts and ends (m,), the name of the starts' column, and the column of labels.

    Of several columns of times, those of the longest intervals come first.
    """
    numbers = [each for each in columns if each.values is not None and not each.gaps]
    numbers = [each for each in numbers if not each.unreadable]
    times = [each for each in numbers if each.values is None or (np.diff(each.values) != 1).any()]
    numbers = numbers if len(times) < 2 else times  # without the numbers of rows
    labels = [each for each in columns if each.kind == "text" and each.texts is not None]
    if not labels and all(each.values is not None for each in columns):
        labels = [each for each in reversed(columns) if each.is_whole and each.texts is not None]
    labels = [each for each in labels if each.texts and all(map(is_label, each.texts.texts))]
    labels.sort(key=lambda each: each.name.lower() not in LABEL_NAMES)
    for label in labels:
        pairs = list(permutations([each for each in numbers if each is not label], 2))
        found = [
            (begins, stops, one.name, label)
            for one, begins, stops in _of_pairs(pairs, are_durations=False)
            if _share_apart(begins, stops) >= _APART
        ]
        if not found and durations and len(numbers) == 2 and label.values is None:
            found = [
                (begins, stops, one.name, label)
                for one, begins, stops in _of_pairs(pairs, are_durations=True)
                if _share_apart(begins, stops) == 1
            ]
        yield from sorted(found, key=lambda each: -float((each[1] - each[0]).sum()))


def _of_pairs(
    pairs: Sequence[tuple[Column, Column]], *, are_durations: bool
) -> Iterator[tuple[Column, Floats, Floats]]:
    """Yield the column of starts, and the starts and ends (m,), which are all different."""
    for one, other in pairs:
        begins, ends = one.values, other.values
        if begins is None or ends is None or not len(begins):
            continue
        stops = begins + ends if are_durations else ends
        if (
            len(np.unique(begins)) == len(begins)
            and (stops >= begins).all()
            and (stops > begins).any()
        ):
            yield one, begins, stops


def _share_apart(begins: Floats, stops: Floats) -> float:
    """Return the share of intervals (m,) that begin behind the end of the one before."""
    order = np.argsort(begins)
    apart = begins[order][1:] >= stops[order][:-1] - 1e-9 * np.abs(stops).max()
    return float(apart.mean()) if len(apart) else 1.0


def has_intervals(path: Path, *, durations: bool = True) -> bool:
    """Return whether a file has intervals of labels, by their ends or their `durations`."""
    return LabelIntervals.read(path, durations=durations) is not None


def labelled_by_intervals(
    table: Table, files: Sequence[Path | None], names: Sequence[str], options: TableOptions
) -> Table:
    """Return the samples in intervals with their labels; others are of the background, or left out.

    - `files`: the file of intervals of each take of the table, None without one
    - `names`: of the takes
    - `options`: the background, and the rate of samples without times
    """
    n = len(table.labels)
    file_of = np.zeros(n, np.int64) if table.file_of is None else table.file_of
    labels, gap = np.full(n, "", object), options.background or ""
    seams = np.zeros(n, np.bool_) if table.seams is None else table.seams.copy()
    without = []
    for take, path in enumerate(files):
        rows = np.flatnonzero(file_of == take)
        intervals = None if path is None else LabelIntervals.read(path)
        if intervals is None:
            without.append(names[take])
        elif len(rows):
            times, seconds = _axis_of(table, rows, options.sample_rate)
            codes = intervals.codes_at(times, len(rows), seconds)
            texts = np.array([*intervals.labels, gap], object)
            labels[rows] = texts[codes]
            seams[rows[1:]] |= np.diff(codes) != 0
    kept = labels != ""
    if not kept.any():
        raise InputError(f"{table.source} has no samples in intervals of labels; correct the times")
    label = f"intervals in {counted(len(files) - len(without), 'file')}"
    text = f"labels are those of the {label} beside the samples"
    if not kept.all():
        text += f"; {int((~kept).sum()):,} of {n:,} samples are in none, and are left out"
    notices = [*table.notices, Notice("intervals", text)]
    if without:
        text = f"left out because no intervals of labels are beside them: {listed(without)}"
        notices.append(Notice("no_samples", text, warning=True))
    layout = table.layout and replace(table.layout, label=label, label_found="beside the samples")
    labelled = replace(table, labels=labels.tolist(), seams=seams, layout=layout)
    return replace(of_rows(labelled, kept), notices=tuple(notices))


def _axis_of(
    table: Table, rows: NDArray[np.intp], rate: float | None
) -> tuple[Floats | None, float | None]:
    """Return the times of rows, and the seconds in their unit; or None and those of a sample."""
    if table.times is None:
        rate = table.sample_rate or rate
        return None, 1 / rate if rate else None
    name, times, are_dates = table.times
    if are_dates:
        return times[rows], 1.0
    return times[rows], seconds_of_a_unit(name, usual_step(times), float(times[rows[0]]))
