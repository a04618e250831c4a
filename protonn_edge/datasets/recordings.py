"""Recordings cut into windows: a table of samples, one a row, becomes a data set of windows.

A window never spans two labels, two sessions or a gap in time: each run of rows with the same label
is cut on its own, from its first row on. Overlapping windows share samples, so the test part is the
end of each run, which no training window reaches into.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from protonn_edge.errors import InputError

_GAP = 3.0  # steps: two samples lost in a row


@dataclass(frozen=True, eq=False)
class Windows:
    """Labelled windows.

    Attributes
    ----------
    X_train, X_test : ndarray of shape (n, window, channels)
        As the recording has them. The test part may be empty.
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
) -> Windows:
    """Cut a recording into windows.

    Parameters
    ----------
    samples : ndarray of shape (rows, channels)
        In the order of time.
    labels : ndarray of shape (rows,)
        The class index of each sample.
    window : int
        Samples of a window, at least 2.
    stride : int, optional
        Samples from one training window's begin to the next one's; by default they do not overlap.
        Test windows never do.
    test_share : float
        0 <= share < 1, of each run: its end is cut into test windows.

    seams : ndarray of shape (rows,), optional
        True at each row that does not follow the one before it, as where another session begins.

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
    changed = np.diff(labels) != 0
    if seams is not None:
        changed |= seams[1:]
    ends = np.append(np.flatnonzero(changed) + 1, len(labels)).tolist()
    train: list[int] = []
    test: list[int] = []
    for first, end in zip([0, *ends[:-1]], ends, strict=True):
        tested = end - math.floor((end - first) * test_share)
        train += range(first, tested - window + 1, step)
        test += range(tested, end - window + 1, window)
    if not train:
        raise InputError(
            f"no run of equal labels has the {window} samples of a window for training; use "
            "shorter windows"
        )
    return Windows(
        *_windows_at(samples, labels, train, window),
        *_windows_at(samples, labels, test, window),
        np.array(train, dtype=np.int64),
    )


def gaps(times: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Return at which rows (rows,) a recording was interrupted: time went back, or stood out.

    A step of more than `_GAP` usual ones is a gap; the usual one is the median of those that rise.
    """
    steps = np.diff(times)
    rising = steps[steps > 0]
    usual = float(np.median(rising)) if len(rising) else 0.0
    apart = (steps < 0) | (steps > _GAP * usual)
    return np.concatenate([[False], apart])


def _windows_at(
    samples: NDArray[np.float32], labels: NDArray[np.int64], begins: list[int], window: int
) -> tuple[NDArray[np.float32], NDArray[np.int64]]:
    rows = np.array(begins, dtype=np.int64)[:, None] + np.arange(window)
    return samples[rows], labels[rows[:, 0]]
