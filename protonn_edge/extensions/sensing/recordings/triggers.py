"""Windows that begin where something moves."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray

from protonn_edge.data.takes.recordings import Run, SegmentDetector

_SPANS_A_WINDOW = 8
_BINS = 256


@dataclass(frozen=True, eq=False)
class Trigger(SegmentDetector):
    """Begins windows shortly before movement rises to a level.

    Movement is the sum of the ranges of all channels within the last few samples, an eighth of a
    window, so gravity and offsets have no influence. `moving` (n,) marks where it has reached the
    level; a window begins `before` samples earlier. The next window can begin only after movement
    has fallen below the level.
    """

    option: ClassVar[str] = "--trigger"

    moving: NDArray[np.bool_]
    before: int

    @classmethod
    def of(
        cls,
        samples: NDArray[np.float32],
        runs: Sequence[Run],
        window: int,
        before: int,
        level: float | None = None,
    ) -> Trigger:
        """Return the trigger for samples (n, channels), by default at their `_parting_level`."""
        movement = _movement(samples, runs, max(2, window // _SPANS_A_WINDOW))
        if level is None:
            level = _parting_level(movement)
        facts = (("trigger", f"{level:.4g}; windows begin {before:,} samples before the trigger"),)
        missing = "every training run is shorter than a window"
        return cls(window, level, facts, missing, movement >= level, before)

    def moves(self, first: int, end: int) -> bool:
        """Whether there is movement in the run first..end - 1."""
        return bool(self.moving[first:end].any())

    def begins(self, first: int, end: int) -> Iterator[int]:
        """Yield where windows, without overlaps, begin in the part first..end - 1 of a run."""
        free = first
        moving = self.moving[first:end].astype(np.int8)
        for start in (first + np.flatnonzero(np.diff(moving, prepend=0) > 0)).tolist():
            begin = min(max(first, start - self.before), end - self.window)
            if free <= begin and free <= start <= begin + max(self.before, self.window // 2):
                yield begin
                free = begin + self.window


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

    This is Otsu's method (1979), applied to logarithms because movement is many times larger than
    values at rest.
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
