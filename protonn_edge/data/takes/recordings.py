"""Cut recordings into windows: a table with one sample per row becomes a data set of windows.

A window never spans two labels, two sessions or a gap in time: each run of rows with the same label
is cut separately, from its first row on. Since overlapping windows share samples, the test part is
at the end of runs, which no training window overlaps. With a trigger, windows are cut where
something moves instead of on a regular grid.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from protonn_edge.system.arrays import Array
from protonn_edge.system.errors import InputError, counted

_LIMIT_BYTES = 2**31  # limit of windows in memory

Run = tuple[int, int]


@dataclass(frozen=True, eq=False)
class SegmentDetector(ABC):
    """Finds where windows begin, instead of on a regular grid."""

    window: int  # samples per window
    level: float  # the level reached where a window begins
    facts: tuple[tuple[str, str], ...]  # for display
    missing: str  # a clause on why a class may have no window
    option: ClassVar[str]  # that gives the level

    @abstractmethod
    def moves(self, first: int, end: int) -> bool:
        """Whether windows can begin in the run first..end - 1; otherwise it is cut on a grid."""

    @abstractmethod
    def begins(self, first: int, end: int) -> Iterator[int]:
        """Yield where windows, which do not overlap, begin in the part first..end - 1 of a run."""

    def arrays(self) -> dict[str, Array]:
        """Return what a file of windows has of it."""
        return {}


@dataclass(frozen=True, eq=False)
class CutWindows:
    """Windows (n, window, channels) with class indices (n,); the test part may be empty.

    `begins` (n,) and `test_begins` are the rows at which windows begin.
    """

    X_train: NDArray[np.float32]
    y_train: NDArray[np.int64]
    X_test: NDArray[np.float32]
    y_test: NDArray[np.int64]
    begins: NDArray[np.int64]
    test_begins: NDArray[np.int64]


def cut_windows(
    samples: NDArray[np.float32],
    labels: NDArray[np.int64],
    window: int,
    stride: int | None = None,
    test_share: float = 0.0,
    seams: NDArray[np.bool_] | None = None,
    *,
    tested: NDArray[np.bool_] | None = None,
    trigger: SegmentDetector | None = None,
    dividing: str = "",
) -> CutWindows:
    """Cut a recording into windows.

    - `samples` (rows, channels), `labels` (rows,): samples in chronological order, class indices.
    - `window`: samples per window, at least 2.
    - `stride`: samples from the start of a training window to the start of the next; by default,
      and always for test windows, a whole window.
    - `test_share`: share, 0 to below 1, of each class that is cut into test windows at the end of
      runs, as closely as whole windows allow or, with a trigger, of each run.
    - `seams` (rows,): true at rows that do not directly follow the previous one.
    - `tested` (rows,): rows of runs that are cut into test windows only.
    - `trigger`: finds where windows begin in runs of classes with movement.
    - `dividing`: the columns that seams follow from, as the value of ``--drop``.

    Raises `InputError` if a number is out of its range, or no run is long enough for a window.
    """
    step = window if stride is None else stride
    if window < 2 or step < 1 or not 0 <= test_share < 1:
        raise InputError(
            f"the window is {window}, the stride is {step} and the share for testing is "
            f"{test_share:g}; give a window of at least 2 samples, a stride of at least 1, and a "
            "share of at least 0 and below 1"
        )
    runs = runs_of(labels, seams)
    shares = [test_share if tested is None or not tested[first] else 1.0 for first, _ in runs]
    moving = frozenset[int]() if trigger is None else classes_that_move(labels, runs, trigger)
    train, test = list[int](), list[int]()
    due = dict[int, float]()  # of each class: windows for testing that runs were too short for
    for (first, end), share in zip(runs, shares, strict=True):
        label, length = int(labels[first]), end - first
        if trigger is not None and label in moving:
            parted = end - math.floor(length * share)
            train += trigger.begins(first, parted)
            test += trigger.begins(parted, end)
            continue
        if share < 1:
            owed = due.get(label, 0.0) + length * share / window
            count = min(length // window, math.floor(owed + 0.5))
            due[label] = owed - count
            parted = end - count * window
        else:
            parted = first
        train += range(first, parted - window + 1, step)
        test += range(parted, end - window + 1, window)
    if not train:
        raise _no_windows(labels, runs, window, test_share, trigger, dividing)
    begins = [np.array(each, np.int64) for each in (train, test)]
    cut = [_windows_at(samples, labels, each, window) for each in begins]
    return CutWindows(*cut[0], *cut[1], *begins)


def _no_windows(
    labels: NDArray[np.int64],
    runs: Sequence[Run],
    window: int,
    test_share: float,
    trigger: SegmentDetector | None,
    dividing: str,
) -> InputError:
    """Return the error for runs that are too short for a training window."""
    if trigger is not None:
        return InputError(
            f"at the trigger level {trigger.level:g}, there is no training window of {window:,} "
            "samples; lower the level, or use shorter windows"
        )
    longest = max((end - first for first, end in runs), default=0)
    shared = f", of which a share of {test_share:g} is for testing" if test_share else ""
    fewer = ", or a smaller share for testing" if test_share else ""
    gaps_in_runs = len(runs) - len(runs_of(labels))
    if gaps_in_runs:
        shared += f" ({gaps_in_runs:,} runs end at gaps in time or at new sessions)"
        if dividing:
            fewer += f" or, if that is no column of times or sessions, --drop {dividing}"
    return InputError(
        f"the longest run of equal labels without a gap has {counted(longest, 'sample')}{shared}, "
        f"but a window has {window:,}; use shorter windows{fewer}"
    )


def runs_of(
    labels: NDArray[np.int64], seams: NDArray[np.bool_] | None = None
) -> list[tuple[int, int]]:
    """Return the first row, and the one after the last, of each run with one label and no seam."""
    changed = labels[1:] != labels[:-1]
    if seams is not None:
        changed |= seams[1:]
    ends = np.append(np.flatnonzero(changed) + 1, len(labels)).tolist()
    return list(zip([0, *ends[:-1]], ends, strict=True))


def classes_that_move(
    labels: NDArray[np.int64], runs: Sequence[tuple[int, int]], trigger: SegmentDetector
) -> frozenset[int]:
    """Return the classes in labels (rows,) with movement in more than half of their runs."""
    moved: dict[int, list[bool]] = {}
    for first, end in runs:
        moved.setdefault(int(labels[first]), []).append(trigger.moves(first, end))
    return frozenset(label for label, moves in moved.items() if 2 * sum(moves) > len(moves))


def _windows_at(
    samples: NDArray[np.float32], labels: NDArray[np.int64], begins: NDArray[np.int64], window: int
) -> tuple[NDArray[np.float32], NDArray[np.int64]]:
    needed = len(begins) * window * samples.shape[1] * samples.itemsize
    if needed > _LIMIT_BYTES:
        raise InputError(
            f"{counted(len(begins), 'window')} of {window:,} samples need {needed:,} B of memory, "
            f"but the limit is {_LIMIT_BYTES:,}; use a larger --stride"
        )
    cut = np.empty((len(begins), window, samples.shape[1]), samples.dtype)
    for place, begin in enumerate(begins):
        cut[place] = samples[begin : begin + window]
    return cut, labels[begins]
