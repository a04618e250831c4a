"""Cut windows where something moves, instead of on a regular grid.

Movement is the sum of the ranges of all channels within the last few samples, an eighth of a
window, so gravity and offsets have no influence. A window begins shortly before movement rises to a
level; the next one can only begin after movement has been below the level.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray

_SPANS_A_WINDOW = 8
_BINS = 256

Bools = NDArray[np.bool_]
Run = tuple[int, int]


@dataclass(frozen=True, eq=False)
class Trigger:
    """The places where windows begin.

    Attributes
    ----------
    moving : ndarray of shape (n,), bool
        Whether movement has reached the level at each sample.
    window : int
        Samples per window.
    before : int
        Samples of a window before the movement.
    level : float
        In the unit of the samples.
    """

    moving: Bools
    window: int
    before: int
    level: float

    @classmethod
    def of(
        cls,
        samples: NDArray[np.float32],
        runs: Sequence[Run],
        window: int,
        before: int,
        level: float | None = None,
    ) -> Trigger:
        """Return the trigger of a recording, samples (n, channels), in runs without a seam.

        Without a level, the one that best separates movement from rest is used.
        """
        movement = _movement(samples, runs, max(2, window // _SPANS_A_WINDOW))
        if level is None:
            level = _parting_level(movement)
        return cls(movement >= level, window, before, level)

    @property
    def facts(self) -> tuple[tuple[str, str], ...]:
        """Facts about it, for display."""
        return (("trigger", f"{self.level:.4g}, {self.before:,} samples before it"),)

    @property
    def missing(self) -> str:
        """Why a class may have no window, for a sentence."""
        return "no training run has room for a whole window"

    def moves(self, first: int, end: int) -> bool:
        """Whether there is movement in a run, first..end - 1."""
        return bool(self.moving[first:end].any())

    def begins(self, first: int, end: int) -> Iterator[int]:
        """Yield the beginnings of windows in a part of a run, first..end - 1, without overlaps."""
        free = first
        for onset in self._onsets(first, end):
            begin = min(max(first, onset - self.before), end - self.window)
            if free <= begin and free <= onset <= begin + max(self.before, self.window // 2):
                yield begin
                free = begin + self.window

    def _onsets(self, first: int, end: int) -> list[int]:
        """Return the places where movement rises to the level."""
        moving = self.moving[first:end].astype(np.int8)
        return (first + np.flatnonzero(np.diff(moving, prepend=0) > 0)).tolist()


def _movement(samples: NDArray[np.float32], runs: Sequence[Run], span: int) -> NDArray[np.float64]:
    """Return the sum of the ranges of all channels over the last samples, (n,)."""
    movement = np.zeros(len(samples))
    for first, end in runs:
        run = samples[first:end].astype(np.float64)
        padded = np.concatenate([np.repeat(run[:1], span - 1, axis=0), run])
        views = sliding_window_view(padded, span, axis=0)
        movement[first:end] = (views.max(axis=2) - views.min(axis=2)).sum(axis=1)
    return movement


def _parting_level(movement: NDArray[np.float64]) -> float:
    """Return the level that separates values into two classes as well as possible.

    It is Otsu's (1979), of their logarithms, since movement is many times larger than the values at
    rest.
    """
    least = movement[movement > 0].min(initial=np.inf)
    logarithms = np.log(np.maximum(movement, min(least, 1.0)))
    counts, edges = np.histogram(logarithms, _BINS)
    middles = (edges[:-1] + edges[1:]) / 2
    below, total = np.cumsum(counts), np.cumsum(counts * middles)
    above = below[-1] - below
    with np.errstate(divide="ignore", invalid="ignore"):
        apart = total / below - (total[-1] - total) / above
        between = np.nan_to_num(below * above * np.square(apart))
    return float(np.exp(edges[1 + int(between.argmax())]))
