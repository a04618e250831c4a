"""The few tests that all trees of a forest share: which they are, and growing trees with them.

Trees are first grown with any tests. Of these, the features and thresholds that separate classes
most are kept. A point is then described by how many thresholds each feature exceeds: trees that
grow on these numbers use no other tests.
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

from protonn_edge.kinds.forest.table import Trees
from protonn_edge.system.arrays import Array

_BYTES = 256


@dataclass(frozen=True, eq=False)
class SharedTests:
    """Thresholds of each feature."""

    limits: tuple[NDArray[np.int64], ...]  # in ascending order: the largest byte that goes left

    @classmethod
    def of(
        cls,
        shape: Trees,
        thresholds: NDArray[np.float64],
        risks: NDArray[np.float64],
        *,
        n_features: int,
        most: int,
    ) -> Self:
        """Choose at most `most` tests of trees with these thresholds and risks of nodes, (N,)."""
        inner = np.flatnonzero(shape.inner)
        gains = np.maximum(risks[inner] - risks[inner + 1] - risks[shape.right[inner]], 0)
        use = np.zeros((n_features, _BYTES))
        at = shape.features[inner], np.floor(thresholds[inner]).astype(np.int64)
        np.add.at(use, at, np.sqrt(gains))
        counts = _shared_out(use.sum(axis=1), np.count_nonzero(use, axis=1), most)
        pairs = zip(use, counts, strict=True)
        return cls(tuple(_thresholds(of_feature, count) for of_feature, count in pairs))

    def codes(self, Q: Array) -> NDArray[np.float32]:
        """Return how many thresholds the features of points Q (n, D) exceed."""
        columns = zip(self.limits, Q.T, strict=True)
        codes = [np.searchsorted(limits, column) for limits, column in columns]
        return np.stack(codes, axis=1).astype(np.float32)

    def thresholds(self, shape: Trees, of_codes: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the thresholds of bytes, (N,), of trees that were grown on codes."""
        thresholds = of_codes.copy()
        for node in np.flatnonzero(shape.inner):
            limits = self.limits[shape.features[node]]
            thresholds[node] = limits[int(of_codes[node])] + 0.5
        return thresholds


def _shared_out(use: NDArray[np.float64], most: NDArray[np.int64], tests: int) -> list[int]:
    """Return how many of the tests each feature gets, by its use, at most `most` (D,)."""
    counts = [0] * len(use)
    waiting = [(-each, feature) for feature, each in enumerate(use.tolist()) if each > 0]
    heapq.heapify(waiting)
    while waiting and sum(counts) < tests:
        _, feature = heapq.heappop(waiting)
        counts[feature] += 1
        if counts[feature] < most[feature]:
            heapq.heappush(waiting, (-use[feature] / (counts[feature] + 1), feature))
    return counts


def _thresholds(use: NDArray[np.float64], count: int) -> NDArray[np.int64]:
    """Return as many thresholds as equal parts of their use, (256,), have middles."""
    if count == 0:
        return np.empty(0, np.int64)
    middles = (np.arange(count) + 0.5) / count * use.sum()
    chosen = set(np.searchsorted(np.cumsum(use), middles).tolist())
    by_use = (each for each in np.argsort(-use, kind="stable").tolist() if use[each] > 0)
    for each in by_use:
        if len(chosen) < count:
            chosen.add(each)
    return np.array(sorted(chosen))
