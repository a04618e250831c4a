"""Cut recordings into windows: a table with a sample per row becomes a data set of windows.

A window never spans two labels, two sessions or a gap in time: each run of rows with the same label
is cut separately, from its first row on. Overlapping windows share samples, so the test part is
the end of each run, which no training window overlaps.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from protonn_edge.errors import InputError, counted

_LIMIT_BYTES = 2**31  # of windows in memory
_GAP, _GAP_OF_STEADY = 3.0, 1.5  # steps
# Share of steps, and their maximum relative deviation from the usual one.
_STEADY, _UNSTEADY = 0.9, 0.25


class Begins(Protocol):
    """The places where windows begin, instead of a regular grid."""

    @property
    def level(self) -> float:
        """The level that is reached where a window begins, for display."""

    @property
    def facts(self) -> tuple[tuple[str, str], ...]:
        """Facts about it, for display."""

    @property
    def missing(self) -> str:
        """Why a class may have no window, for a sentence."""

    def moves(self, first: int, end: int) -> bool:
        """Whether windows can begin in a run, first..end - 1; if not, it is cut in a grid."""

    def begins(self, first: int, end: int) -> Iterator[int]:
        """Yield where windows begin in a part of a run; they do not overlap."""


@dataclass(frozen=True, eq=False)
class Windows:
    """Labelled windows.

    Attributes
    ----------
    X_train, X_test : ndarray of shape (n, window, channels)
        Samples of the recording. The test part may be empty.
    y_train, y_test : ndarray of shape (n,), int64
        Class indices.
    begins : ndarray of shape (n,), int64
        The row at which each training window begins.
    """

    X_train: NDArray[np.float32]
    y_train: NDArray[np.int64]
    X_test: NDArray[np.float32]
    y_test: NDArray[np.int64]
    begins: NDArray[np.int64]


def cut_windows(
    samples: NDArray[np.float32],
    labels: NDArray[np.int64],
    window: int,
    stride: int | None = None,
    test_share: float = 0.0,
    seams: NDArray[np.bool_] | None = None,
    *,
    tested: NDArray[np.bool_] | None = None,
    trigger: Begins | None = None,
) -> Windows:
    """Cut a recording into windows.

    Parameters
    ----------
    samples : ndarray of shape (rows, channels)
        In chronological order.
    labels : ndarray of shape (rows,)
        The class index of each sample.
    window : int
        Samples per window, at least 2.
    stride : int, optional
        Samples from the beginning of a training window to that of the next one; by default they do
        not overlap. Test windows never do.
    test_share : float
        0 <= share < 1, of each run: its end is cut into test windows.
    seams : ndarray of shape (rows,), bool, optional
        True at each row that does not directly follow the previous one, as at a change of session.
    tested : ndarray of shape (rows,), bool, optional
        Rows of runs that become test windows as a whole.
    trigger : Begins, optional
        Where windows begin, instead of a regular grid, in runs of classes with movement.

    Raises
    ------
    InputError
        If a number is out of its range, or no run is long enough for a window.
    """
    step = window if stride is None else stride
    if window < 2 or step < 1 or not 0 <= test_share < 1:
        raise InputError(
            f"windows of {window} samples every {step}, {test_share:g} of them for testing: give "
            "at least 2 samples, a stride of at least 1, and a share from 0 to below 1"
        )
    runs = runs_of(labels, seams)
    moving = frozenset[int]() if trigger is None else classes_that_move(labels, runs, trigger)
    train: list[int] = []
    test: list[int] = []
    for first, end in runs:
        parted = end - math.floor((end - first) * test_share)
        if tested is not None and tested[first]:
            parted = first
        if trigger is not None and int(labels[first]) in moving:
            train += trigger.begins(first, parted)
            test += trigger.begins(parted, end)
        else:
            train += range(first, parted - window + 1, step)
            test += range(parted, end - window + 1, window)
    if not train and trigger is not None:
        raise InputError(
            f"no window of {window:,} samples for training begins at a level of {trigger.level:g}; "
            "lower it, or use shorter windows"
        )
    if not train:
        longest = max((end - first for first, end in runs), default=0)
        shared = f", {test_share:g} of it for testing" if test_share else ""
        fewer = ", or a smaller share for testing" if test_share else ""
        gaps_in_runs = len(runs) - len(runs_of(labels))
        if gaps_in_runs:
            shared += f" (runs also end at gaps in time and new sessions, {gaps_in_runs:,} in all)"
            fewer += ", or --drop the column of times or sessions if it is wrong"
        raise InputError(
            f"the longest run of equal labels without a gap has {counted(longest, 'sample')}"
            f"{shared}, a window {window:,}; use shorter windows{fewer}"
        )
    return Windows(
        *_windows_at(samples, labels, train, window),
        *_windows_at(samples, labels, test, window),
        np.array(train, dtype=np.int64),
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
    labels: NDArray[np.int64], runs: Sequence[tuple[int, int]], trigger: Begins
) -> frozenset[int]:
    """Return the classes, of labels (rows,), more than half of whose runs have movement."""
    moved: dict[int, list[bool]] = {}
    for first, end in runs:
        moved.setdefault(int(labels[first]), []).append(trigger.moves(first, end))
    return frozenset(label for label, found in moved.items() if 2 * sum(found) > len(found))


def last_takes(
    take_of: NDArray[np.int64], labels: NDArray[np.int64], share: float
) -> NDArray[np.bool_]:
    """Return the rows (rows,) of the last share of each class's takes, but not all of them."""
    tested = np.zeros(len(take_of), np.bool_)
    for label in np.unique(labels):
        takes = np.unique(take_of[labels == label])
        count = min(max(1, round(share * len(takes))), len(takes) - 1)
        tested |= np.isin(take_of, takes[len(takes) - count :])
    return tested


def gaps(times: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Return the rows (rows,) at which a recording was interrupted, by its times.

    The usual step is the median of the positive ones. A negative step is an interruption. With a
    steady clock, where nearly all steps are the usual one, so is a step from 1.5 usual ones on, as
    after a single lost sample; otherwise one above 3.
    """
    steps = np.diff(times)
    rising = steps[steps > 0]
    usual = float(np.median(rising)) if len(rising) else 0.0
    steady = len(rising) > 0 and np.mean(np.abs(rising - usual) <= _UNSTEADY * usual) >= _STEADY
    apart = (steps < 0) | (steps > (_GAP_OF_STEADY if steady else _GAP) * usual)
    return np.concatenate([[False], apart])


def _windows_at(
    samples: NDArray[np.float32], labels: NDArray[np.int64], begins: list[int], window: int
) -> tuple[NDArray[np.float32], NDArray[np.int64]]:
    needed = len(begins) * window * samples.shape[1] * samples.itemsize
    if needed > _LIMIT_BYTES:
        raise InputError(
            f"{counted(len(begins), 'window')} of {window:,} samples need {needed:,} B of memory, "
            f"the limit is {_LIMIT_BYTES:,}; use a longer --stride"
        )
    cut = np.empty((len(begins), window, samples.shape[1]), samples.dtype)
    for place, begin in enumerate(begins):
        cut[place] = samples[begin : begin + window]
    return cut, labels[np.array(begins, dtype=np.int64)]
