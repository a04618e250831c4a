"""Choices between settings, by their errors on rows that are held out of the training at random.

New points seldom resemble such rows: they come from another device, person or day. A setting that
is better on the rows by chance, or by little, can be far worse there. So a choice begins with the
mildest setting, and takes a bolder one only if it is significantly better.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from protonn_edge.system.arrays import Array

Setting = TypeVar("Setting")


@dataclass(frozen=True)
class Choice:
    """How much better a setting must be than a milder one."""

    by_chance: float  # the most probable alarm if both are equally good
    lead: float = 0.0  # the least difference of the mean errors
    is_relative: bool = False  # whether the lead is a share of the milder setting's mean error
    least: int = 0  # points; fewer leave the mildest setting

    def taken(
        self, errors: Iterable[tuple[Setting, Array]], weights: Array | None = None
    ) -> Setting:
        """Return the setting to take of some, from the mildest to the boldest.

        Each comes with its errors (n,), not negative, at the same points, which may have weights.
        """
        milder, *bolder = errors
        for each in bolder:
            if self.is_better(each[1], milder[1], weights):
                milder = each
        return milder[0]

    def is_better(
        self,
        errors: Array,
        milder: Array,
        weights: Array | None = None,
        groups: Array | None = None,
    ) -> bool:
        """Return whether errors (n,) are significantly smaller than those of a milder setting.

        The points of a group, if there are any, are no independent evidence, but one gain.
        """
        gains = np.subtract(milder, errors, dtype=np.float64)
        gain = float(np.average(gains, weights=weights))
        scale = float(np.average(milder, weights=weights)) if self.is_relative else 1.0
        if not 0 < gain >= self.lead * scale or len(gains) < self.least:
            return False
        if groups is not None:
            gains = np.bincount(groups, gains).astype(np.float64)
        return chance_of(gains) < self.by_chance

    def could_improve(self, errors: Array, groups: Array | None = None) -> bool:
        """Return whether answers without an error would be better than these."""
        return self.is_better(np.zeros_like(errors), errors, groups=groups)


def chance_of(gains: NDArray[np.float64]) -> float:
    """Return the probability of gains (n,) as large as these if losses are as probable.

    This is Wilcoxon's signed-rank test with one side, in the normal approximation with ties. Gains
    of one size, as of right and wrong answers, have the exact sign test (McNemar's).
    """
    changed = gains[gains != 0]
    sizes, size_of, counts = np.unique(np.abs(changed), return_inverse=True, return_counts=True)
    if not len(sizes):
        return 1.0
    won = int((changed > 0).sum())
    if len(sizes) == 1:
        ways = sum(math.comb(len(changed), k) for k in range(won, len(changed) + 1))
        return float(ways / 2 ** len(changed))
    ranks = (np.cumsum(counts) - (counts - 1) / 2)[size_of]
    expected, variance = ranks.sum() / 2, np.square(ranks).sum() / 4
    return math.erfc((ranks[changed > 0].sum() - expected) / math.sqrt(2 * variance)) / 2
