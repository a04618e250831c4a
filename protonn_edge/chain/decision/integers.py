"""The decision in integers: the first class with the largest score, or unknown."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from protonn_edge.chain.decision.rejection import UNKNOWN, IntegerRejection, Statistic
from protonn_edge.chain.integer_stage import IntArray, IntegerStage, Range


@dataclass(frozen=True, eq=False)
class IntegerDecision(IntegerStage):
    """Maps the scores of L classes to the first class with the largest one.

    Attributes
    ----------
    scores : Range
        The range of the L scores.
    score_bits : int
        16 or 32.
    rejection : IntegerRejection, optional
        Thresholds below which the answer is `UNKNOWN`.
    """

    kind: ClassVar[str] = "decision"

    scores: Range
    score_bits: int
    rejection: IntegerRejection | None = None

    @property
    def n_inputs(self) -> int:
        """L."""
        return len(self.scores.low)

    @property
    def n_outputs(self) -> int:
        """One: the class."""
        return 1

    @property
    def output(self) -> Range:
        """The classes, or `UNKNOWN`."""
        largest = self.n_inputs - 1 if self.rejection is None else UNKNOWN
        return Range(np.zeros(1, np.int64), np.array([largest]))

    @property
    def statistics(self) -> tuple[Statistic, ...]:
        """The statistics by which a point may be rejected."""
        return () if self.rejection is None else self.rejection.statistics

    def run(self, x: NDArray[Any]) -> IntArray:
        """Return the classes (n, 1) of scores (n, L) of points that are near a prototype."""
        return decide(x, np.full(len(x), UNKNOWN), self.rejection)[:, None]

    def holds(self, largest: int) -> bool:
        """Return whether thresholds are within the range of their statistics for any input.

        `largest` is the largest measure of nearness to a known point, 0 without one.
        """
        if self.rejection is None:
            return True
        low, high = self.scores.ends
        thresholds = self.rejection
        return bool(
            0 <= thresholds.score <= max(0, high)
            and 0 <= thresholds.rbf <= largest
            and 0 <= thresholds.margin <= high - low
            and thresholds.statistics
        )


def decide(
    scores: NDArray[Any], nearest: NDArray[Any], rejection: IntegerRejection | None
) -> IntArray:
    """Return the classes (n,), or `UNKNOWN`, of scores (n, L).

    `nearest` is the nearness (n,) of the nearest known point, such as a prototype's RBF.
    """
    classes: IntArray = scores.argmax(axis=1)
    if rejection is not None:
        classes[rejection.rejects(scores, nearest)] = UNKNOWN
    return classes
