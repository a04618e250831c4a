"""Points of a mapped file that is too large to copy: rows are converted when they are read.

A training by mini-batches reads the rows of a batch, whatever it reads them from. These are the
differences from points in memory: equal points are not merged; where training starts, and the most
frequent value of each feature, come from a sample.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any, Self, TypeGuard

import numpy as np
from numpy.typing import NDArray

from protonn_edge.chain.statistics import InputStatistics
from protonn_edge.errors import InputError
from protonn_edge.system.checks import check

Float32 = NDArray[np.float32]
Float64 = NDArray[np.float64]

LARGE_BYTES = 2**28
"""Mapped points that take more than this as float32 are not copied into memory."""

_CHUNK_BYTES = 2**22


def are_mapped(X: object) -> TypeGuard[NDArray[Any]]:
    """Return whether these points stay in the file that they are mapped from."""
    return isinstance(X, np.memmap) and X.ndim == 2 and 4 * X.size > LARGE_BYTES


def float32_of(X: NDArray[Any]) -> Float32:
    """Return a copy in float32; too large values become infinite, and are refused later."""
    with np.errstate(over="ignore"):
        return X.astype(np.float32)


@dataclass(frozen=True, eq=False)
class MappedRows:
    """The rows of a mapped file, read by their numbers as from an array, and changed then."""

    X: NDArray[Any]  # (n, D)
    change: Callable[[Float32], Float32] = lambda rows: rows

    def __post_init__(self) -> None:
        check(
            self.X.dtype.kind in "buif",
            "X",
            self.X.dtype.name,
            "numbers in a mapped file",
            "convert X to float32",
        )

    @property
    def shape(self) -> tuple[int, int]:
        """Numbers of points and features."""
        return len(self.X), int(self.X.shape[1])

    def __array__(self, *_: Any, **__: Any) -> NDArray[Any]:
        """Refuse to become an array, unlike `in_memory` without naming what needs it."""
        in_memory(self, "this training")
        raise AssertionError

    def __len__(self) -> int:
        return len(self.X)

    def __getitem__(self, rows: Any) -> Float32:
        return self.change(float32_of(self.X[rows]))

    def through(self, change: Callable[[Float32], Float32]) -> Self:
        """Return the same rows, changed once more when they are read."""
        before = self.change
        return replace(self, change=lambda rows: change(before(rows)))

    def chunks(self) -> Iterator[tuple[slice, Float32]]:
        """Yield all rows in order, some at a time."""
        step = max(1, _CHUNK_BYTES // (4 * self.shape[1]))
        for start in range(0, len(self), step):
            place = slice(start, min(start + step, len(self)))
            yield place, self[place]

    def statistics(self, weights: Float32 | None, background: Float64) -> InputStatistics:
        """Return the statistics of all features, of points with weights (n,) if given."""
        counted = np.ones(len(self)) if weights is None else weights.astype(np.float64)
        lower, upper = np.full(self.shape[1], np.inf), np.full(self.shape[1], -np.inf)
        mean, squares = np.zeros(self.shape[1]), np.zeros(self.shape[1])
        for place, rows in self.chunks():
            there = rows[counted[place] > 0]
            lower = np.minimum(lower, there.min(axis=0, initial=np.inf))
            upper = np.maximum(upper, there.max(axis=0, initial=-np.inf))
            mean += counted[place] @ rows
        mean /= counted.sum()
        for place, rows in self.chunks():
            squares += counted[place] @ np.square(rows - mean)
        return InputStatistics(lower, upper, mean, np.sqrt(squares / counted.sum()), background)


Rows = Float32 | MappedRows
"""Points (n, D) that are read by row numbers or slices."""


def in_memory(X: Rows, what: str) -> Float32:
    """Return all points, for `what` cannot take them in batches; refuse those of a mapped file."""
    if isinstance(X, MappedRows):
        raise InputError(
            f"{what} needs all points in memory, but they are a mapped file of {X.X.nbytes:,} B; "
            "train without it, or on fewer points"
        )
    return X


def column_range(X: Rows) -> tuple[Float32, Float32]:
    """Return the smallest and the largest number of each column, (D,) both."""
    if not isinstance(X, MappedRows):
        return X.min(axis=0), X.max(axis=0)
    each = [(rows.min(axis=0), rows.max(axis=0)) for _, rows in X.chunks()]
    return np.min([low for low, _ in each], axis=0), np.max([high for _, high in each], axis=0)
