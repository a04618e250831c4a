"""Training on points that are too large to copy: a memory-mapped file, read in blocks.

At most `POOL_BYTES` of points, and the sample, are in memory at a time. Pages of a mapped file are
released after reading, because they count towards a process's resident memory. These are the
differences from training in memory:

- **Statistics** (range, mean, deviation) are exact, from one pass in the order of the file; the
  most frequent value of a feature comes from the sample.
- **The start** (projection, prototypes, gamma) and the noise come from the sample: `SAMPLE_POINTS`
at random, and one more of each class that is missing in it.
- **Batches**: random blocks of consecutive points are collected into a pool, and batches are drawn
from the pool. So files sorted by class work, and are still read block by block.
- Equal points are not merged, so the order of the points affects the last digits.
"""

from __future__ import annotations

import hashlib
import mmap
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Self, TypeGuard

import numpy as np
from numpy.typing import NDArray

from protonn_edge.errors import InputError
from protonn_edge.training.clusters import sample_with_all_classes
from protonn_edge.training.normalization import RunningInputs
from protonn_edge.training.points import Batch, Float32, Indices, TrainingSet, check_finite

LARGE_BYTES = 2**28
"""Points that take more than this as float32 are read in blocks, in memory or mapped."""

POOL_BYTES = 2**25
BLOCK_BYTES = 2**18
SAMPLE_POINTS = 20_000


def is_large(X: object) -> TypeGuard[NDArray[Any]]:
    """Return whether these points are an array of more than `LARGE_BYTES`."""
    return isinstance(X, np.ndarray) and X.ndim == 2 and 4 * X.size > LARGE_BYTES


def chunks_of(X: NDArray[Any]) -> Iterator[tuple[slice, Float32]]:
    """Yield all rows of X in order, as float32 copies of a few blocks at a time."""
    rows = _rows_in(8 * BLOCK_BYTES, X)
    for start in range(0, len(X), rows):
        place = slice(start, min(start + rows, len(X)))
        yield place, _float32(X[place])
        _give_back(X)


@dataclass(frozen=True, eq=False)
class StoredPoints:
    """Raw points with their classes and weights."""

    X: NDArray[Any]  # (n, D): mapped or not; never copied whole
    y: Indices  # (n,): class indices from 0; each class has at least one point of a weight above 0
    weights: NDArray[np.float64] | None  # (n,): not negative; points of weight 0 are ignored

    def __post_init__(self) -> None:
        if self.X.dtype.kind not in "buif":
            raise InputError(
                f"X has the type {self.X.dtype.name}, but only numbers can be read in blocks; "
                "convert X to float32"
            )

    def survey(self, statistics: RunningInputs) -> str:
        """Add all points, which must be finite, to `statistics`; return the SHA-256 of all data."""
        digest = hashlib.sha256()
        for place, chunk in chunks_of(self.X):
            check_finite(chunk, first_row=place.start)
            digest.update(np.ascontiguousarray(chunk, dtype="<f4").data)
            weights = None if self.weights is None else self.weights[place]
            if weights is not None:
                chunk, weights = chunk[weights > 0], weights[weights > 0]  # noqa: PLW2901
            statistics.add(chunk, weights)
        digest.update(np.ascontiguousarray(self.y, dtype="<i8").data)
        if self.weights is not None:
            digest.update(np.ascontiguousarray(self.weights, dtype="<f8").data)
        return digest.hexdigest()

    def sample(self, generator: np.random.Generator) -> tuple[Float32, Indices, Float32 | None]:
        """Return about `SAMPLE_POINTS` points, their classes and weights, in random order."""
        counted = self._counted()
        rows = counted[sample_with_all_classes(self.y[counted], SAMPLE_POINTS, generator)]
        points = np.empty((len(rows), self.X.shape[1]), dtype=np.float32)
        step = _rows_in(POOL_BYTES, self.X)
        for start in range(0, len(self.X), step):
            first, last = np.searchsorted(rows, (start, start + step))
            points[first:last] = self.X[rows[first:last]]
            _give_back(self.X)
        order = generator.permutation(len(rows))
        weights = None if self.weights is None else self.weights[rows]
        if weights is not None:
            weights = (weights / weights.mean())[order].astype(np.float32)
        return points[order], self.y[rows][order], weights

    def pools(self, generator: np.random.Generator) -> Iterator[tuple[Indices, Float32]]:
        """Yield pools of points, each point in one of them: row numbers and points, shuffled."""
        rows_a_block = _rows_in(BLOCK_BYTES, self.X)
        blocks = generator.permutation(-(-len(self.X) // rows_a_block))
        blocks_a_pool = max(1, POOL_BYTES // BLOCK_BYTES)
        for first in range(0, len(blocks), blocks_a_pool):
            starts = rows_a_block * blocks[first : first + blocks_a_pool]
            read = [np.arange(start, min(start + rows_a_block, len(self.X))) for start in starts]
            rows = np.concatenate(read)
            order = generator.permutation(len(rows))
            places = np.empty_like(order)
            places[order] = np.arange(len(rows))
            points = np.empty((len(rows), self.X.shape[1]), dtype=np.float32)
            done = 0
            for block in read:  # directly into place, so a pool is in memory only once
                there = places[done : done + len(block)]
                points[there] = _float32(self.X[block[0] : block[-1] + 1])
                done += len(block)
                _give_back(self.X)  # the system may map far more than the block that was read
            rows = rows[order]
            if self.weights is not None and not self.weights[rows].all():
                counted = self.weights[rows] > 0
                rows, points = rows[counted], points[counted]
            yield rows, points

    def __len__(self) -> int:
        return len(self._counted())

    @cached_property
    def mean_weight(self) -> float:
        """The mean weight of the points that have one."""
        return 1.0 if self.weights is None else float(self.weights.sum()) / len(self)

    def _counted(self) -> Indices:
        if self.weights is None:
            return np.arange(len(self.y))
        return np.flatnonzero(self.weights)


@dataclass(frozen=True, eq=False, kw_only=True)
class StoredSet(TrainingSet):
    """All stored points, for batches; the inherited fields contain a sample, for accuracies."""

    points: StoredPoints
    varying: NDArray[np.bool_]  # (D,): which inputs vary

    @classmethod
    def of(
        cls,
        points: StoredPoints,
        sample: TrainingSet,
        varying: NDArray[np.bool_],
        normalized: Callable[[Float32], Float32],
    ) -> Self:
        """Return the set of all points; `normalized` maps raw points to normalized features."""
        return cls(**{**vars(sample), "change": normalized}, points=points, varying=varying)

    def __len__(self) -> int:
        return len(self.points)

    @property
    def changing(self) -> NDArray[np.bool_]:
        """Which of the features vary, shape (D,)."""
        return self.varying

    def batches(self, size: int, generator: np.random.Generator) -> Iterator[Batch]:
        """Yield all points once, in random order, `size` at a time."""
        begun = np.empty(0, dtype=np.int64)  # a partial batch, completed from the next pool
        begun_points = np.empty((0, self.points.X.shape[1]), dtype=np.float32)
        for rows, points in self.points.pools(generator):
            start = 0
            if len(begun):
                start = size - len(begun)
                begun = np.concatenate([begun, rows[:start]])
                begun_points = np.concatenate([begun_points, points[:start]])
                if len(begun) < size:
                    continue
                yield self._batch(begun, begun_points)
            end = max(start, len(rows) - (len(rows) - start) % size)
            for at in range(start, end, size):
                yield self._batch(rows[at : at + size], points[at : at + size])
            begun, begun_points = rows[end:], points[end:].copy()
        if len(begun):
            yield self._batch(begun, begun_points)

    def through(self, change: Callable[[Float32], Float32]) -> Self:
        """Return the same set with a change applied to the points of its batches."""
        before = self.change
        assert before is not None
        return replace(self, change=lambda points: change(before(points)))

    def _batch(self, rows: Indices, points: Float32) -> Batch:
        assert self.change is not None
        points, classes = self.change(points), np.eye(self.Y.shape[1], dtype=np.float32)
        Y, weights = classes[self.points.y[rows]], self.points.weights
        if weights is None:
            return Batch(rows, points, Y, None)
        return Batch(rows, points, Y, (weights[rows] / self.points.mean_weight).astype(np.float32))


def _float32(X: NDArray[Any]) -> Float32:
    """Return a copy in float32; too large values become infinite, and are refused later."""
    with np.errstate(over="ignore"):
        return X.astype(np.float32)


def _rows_in(size: int, X: NDArray[Any]) -> int:
    """Return the number of rows of X that take `size` bytes as float32, at least 1."""
    return max(1, size // (4 * int(X.shape[1])))


def _give_back(X: NDArray[Any]) -> None:
    """Release the pages of a mapped file from this process's memory; the system caches them.

    A private copy-on-write mapping keeps them, as they may differ from the file.
    """
    owner: Any = X
    while isinstance(owner, np.ndarray):
        if getattr(owner, "mode", None) == "c":
            return
        owner = owner.base
    if isinstance(owner, mmap.mmap) and hasattr(owner, "madvise"):
        owner.madvise(mmap.MADV_DONTNEED)
