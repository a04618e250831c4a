"""Recordings cut into windows: a table of samples, one a row, becomes a data set of windows.

A window never spans two labels: each run of rows with the same label is cut on its own, from its
first row on. Overlapping windows share samples, so the test part is the end of each run, which no
training window reaches into.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from protonn_edge.errors import InputError


@dataclass(frozen=True, eq=False)
class Windows:
    """Labelled windows.

    Attributes
    ----------
    X_train, X_test : ndarray of shape (n, window, channels)
        As the recording has them. The test part may be empty.
    y_train, y_test : ndarray of shape (n,), int64
        Class indices.
    """

    X_train: NDArray[np.float32]
    y_train: NDArray[np.int64]
    X_test: NDArray[np.float32]
    y_test: NDArray[np.int64]


def cut_windows(
    samples: NDArray[np.float32],
    labels: NDArray[np.int64],
    window: int,
    stride: int | None = None,
    test_share: float = 0.0,
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
    ends = np.append(np.flatnonzero(np.diff(labels)) + 1, len(labels)).tolist()
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
        *_windows_at(samples, labels, train, window), *_windows_at(samples, labels, test, window)
    )


def _windows_at(
    samples: NDArray[np.float32], labels: NDArray[np.int64], begins: list[int], window: int
) -> tuple[NDArray[np.float32], NDArray[np.int64]]:
    rows = np.array(begins, dtype=np.int64)[:, None] + np.arange(window)
    return samples[rows], labels[rows[:, 0]]
