"""Labels of samples from intervals of time in a file beside the recording."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Self

import numpy as np
from numpy.typing import NDArray

from protonn_edge.data.naming import Notice, listed
from protonn_edge.data.options import TableOptions
from protonn_edge.data.points.dataset import Table
from protonn_edge.data.roles.clock import usual_step
from protonn_edge.data.tables.coded import Coded
from protonn_edge.extensions.sensing.recordings.interval_files import Floats, intervals_in
from protonn_edge.extensions.sensing.recordings.time_units import seconds_of_a_unit
from protonn_edge.system.errors import InputError, counted

_SECONDS = (1.0, 1e-3, 1e-6)  # in a unit of time
_INSIDE = 0.9  # share of the intervals that is in the recording
_LONGER = 1.02  # as long, at least, are intervals in a more likely unit
_ROUNDED = 1e-3  # of the step between two samples, by which times may differ
_OF_ROWS = ("sample", "frame", "row", "index")  # in names of columns that count rows


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
    def read(cls, path: Path) -> Self | None:
        """Read a file; None if it has other content."""
        found = intervals_in(path)
        if found is None:
            return None
        starts, ends, name, label, are_dates = found
        order = np.argsort(starts, kind="stable")
        texts = list(label.names())
        unit = 0.0 if any(each in name.lower() for each in _OF_ROWS) else None
        return cls(
            path,
            starts[order],
            ends[order],
            [texts[row] for row in order.tolist()],
            seconds_of_a_unit(name, 0) if unit is None else unit,
            are_dates,
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
    labelled = replace(table, labels=Coded.of(labels.tolist()), seams=seams, layout=layout)
    return replace(labelled.parted(kept), notices=tuple(notices))


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
