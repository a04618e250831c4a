"""Thresholds below which the answer is "unknown".

Three statistics detect a point that is unlike the known ones. The first two measure how near the
prototypes are, the third compares the two most likely classes. A model may have a threshold for
each:

score     the largest score, ``max_l s_l``: 0 far from all prototypes
distance  the RBF of the nearest prototype, ``max_j e_j``: 127 at distance 0, 0 from the end
          of the RBF's table on, where the device stops
margin    the largest score minus the second largest: small between two known classes

A point is unknown if a statistic is below its threshold. The integer model's thresholds are whole
numbers, so every execution of it rejects the same points; the model file stores the thresholds in
the float model's units.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import astuple, dataclass
from typing import TYPE_CHECKING, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from protonn_edge.data.naming import NO_CLASS, NO_CLASS_NAME
from protonn_edge.model.checks import check_type
from protonn_edge.model.head import Head
from protonn_edge.model.integer_stage import IntArray, Range, check_holds
from protonn_edge.model.nearness import NearestHead, nearness_of
from protonn_edge.model.policy import (
    FloatRule,
    IntegerRule,
    OtherAnswer,
    PolicyRule,
    RuleCost,
    Units,
)
from protonn_edge.policy.rejection import STATISTICS, Statistic
from protonn_edge.system.arrays import Array
from protonn_edge.system.checks import check, check_range, check_shape
from protonn_edge.system.figures import Facts
from protonn_edge.system.schema import JsonObject

if TYPE_CHECKING:
    from protonn_edge.model.formulas import Operand
    from protonn_edge.model.integer_chain import IntegerChain

UNKNOWN = NO_CLASS  # the answer instead of a class; ``PNN_UNKNOWN`` in the generated C

# Flash, which is approximate, and cycles of the answer "unknown" by each statistic.
_COSTS: dict[Statistic, tuple[int, int]] = {
    "score": (18, 10),
    "distance": (26, 10),
    "margin": (46, 15),
}


class _Thresholds(PolicyRule):
    """The base of both kinds of thresholds; 0 is none."""

    name = "rejection"
    without = "without rejection"
    other_answers = (OtherAnswer(UNKNOWN, NO_CLASS_NAME, "UNKNOWN", "unlike all classes"),)

    score: float
    rbf: float
    margin: float

    def rejects(self, scores: Array, nearest: Array) -> NDArray[np.bool_]:
        """Return which points (n,) scores (n, L) and the nearest RBF values (n,) make unknown."""
        rejected = np.zeros(len(scores), np.bool_)
        if self.score > 0:
            rejected |= scores.max(axis=1) < self.score
        if self.rbf > 0:
            rejected |= nearest < self.rbf
        if self.margin > 0:
            rejected |= margins(scores) < self.margin
        return rejected

    def judged(self, answers: IntArray, scores: Array, nearest: Array) -> IntArray:
        """Return the answers, `UNKNOWN` for rejected points."""
        return np.where(self.rejects(scores, nearest), UNKNOWN, answers)


@dataclass(frozen=True)
class Rejection(_Thresholds, FloatRule):
    """Thresholds in the float model's units, 0 for none; `InputError` if out of range or all 0."""

    score: float = 0.0  # minimum score of the winner, at least 0
    rbf: float = 0.0  # minimum RBF of the nearest prototype, 0..1
    margin: float = 0.0  # minimum difference of the two largest scores, at least 0

    def __post_init__(self) -> None:
        thresholds = (self.score, self.rbf, self.margin)
        finite = all(math.isfinite(number) and number >= 0 for number in thresholds)
        check(finite, "rejection", thresholds, "finite numbers from 0")
        check(max(thresholds) > 0, "rejection", thresholds, "one above 0")
        check_range("rejection.rbf", self.rbf, 0, 1)

    @classmethod
    def of_array(cls, array: Array) -> Self:
        """Return the thresholds that a model file stores."""
        check_type(array, "rejection", "f8")
        check_shape("rejection", array.shape, (3,))
        return cls(*array.tolist())

    def to_array(self) -> NDArray[np.float64]:
        """Return the thresholds in one vector."""
        return np.array(astuple(self), np.float64)

    @property
    def distance(self) -> float | None:
        """Maximum distance to the nearest prototype, in RBF widths; None without a limit."""
        return math.sqrt(-math.log(self.rbf)) if self.rbf > 0 else None

    def check(self, n_classes: int) -> None:
        """Refuse class counts that leave no index for `UNKNOWN`."""
        check_range("classes of a model with rejection", n_classes, 1, UNKNOWN)
        alone = n_classes == 1 and self.margin > 0
        check(not alone, "rejection", "a margin", "none, as there is one class")

    def in_integers(self, units: Units) -> IntegerRejection:
        """Return the thresholds of an integer model."""
        return IntegerRejection(
            score=_whole(self.score / units.score),
            rbf=_whole(self.rbf * units.nearest),
            margin=_whole(self.margin / units.score),
        )

    def facts(self, head: Head) -> Facts:
        """Return rows with the conditions for "unknown"."""
        conditions = []
        if self.score > 0:
            conditions.append(f"the highest score is below {self.score:.4g}")
        if self.distance is not None:
            conditions.append(f"no prototype is within {self.distance:.3g} RBF widths")
        if self.margin > 0:
            conditions.append(f"the highest score leads the second by less than {self.margin:.4g}")
        facts = [("unknown if", ", or ".join(conditions))]
        if not isinstance(head, NearestHead):
            far = "inputs far from the training data may have high scores, except with"
            facts.append(("caution", f"{far} --classifier protonn"))
        return facts

    def described(self) -> JsonObject:
        """Return the thresholds for a command's JSON."""
        thresholds = {
            "score": self.score or None,
            "distance": self.distance,
            "margin": self.margin or None,
        }
        return {"rejection": thresholds}


@dataclass(frozen=True)
class IntegerRejection(_Thresholds, IntegerRule):
    """Thresholds in units of the integer model; 0 is none."""

    hashed: ClassVar[bool] = True

    score: int = 0  # minimum score of the winner
    rbf: int = 0  # minimum RBF of the nearest prototype, 0..127
    margin: int = 0  # minimum difference of the two largest scores

    @property
    def statistics(self) -> tuple[Statistic, ...]:
        """The statistics with a threshold."""
        present = (self.score, self.rbf, self.margin)
        return tuple(name for name, at_least in zip(STATISTICS, present, strict=True) if at_least)

    @property
    def needs_nearest(self) -> bool:
        """Whether the distance has a threshold."""
        return self.rbf > 0

    @property
    def needs_second(self) -> bool:
        """Whether the margin has a threshold."""
        return self.margin > 0

    def check(self, chain: IntegerChain) -> None:
        """Refuse thresholds that are not within the range of their statistic, and no threshold."""
        n_classes, last = chain.n_classes, chain.own_stages[-1]
        what = f"rejection thresholds and {n_classes:,} classes"
        check_holds(n_classes <= UNKNOWN, what, f"{UNKNOWN} classes with thresholds")
        low, high = last.output.ends
        fits = (
            0 <= self.score <= max(0, high)
            and 0 <= self.rbf <= nearness_of(last).maximum
            and 0 <= self.margin <= (high - low if n_classes > 1 else 0)
            and bool(self.statistics)
        )
        what = "rejection thresholds outside the ranges of the scores, margins or RBFs"
        check_holds(fits, what, "thresholds within these ranges")

    def formula(
        self, answer: Operand, scores: Operand, nearest: Callable[[], Operand], reached: Range
    ) -> Operand:
        """Return the answers (n, 1), `UNKNOWN` where a statistic is below its threshold."""
        largest = scores.op("ReduceMax", [1])
        statistics = [(largest, self.score)]
        if self.margin > 0:
            n = len(reached.low)
            lowest = reached.ends[0] if n > 1 else 0  # the margin of a single class is its score
            first = scores.op("ArgMax", axis=1).op("Equal", np.arange(n))
            second = first.op("Where", lowest, scores).op("ReduceMax", [1])
            statistics.append((largest - second, self.margin))
        if self.rbf > 0:
            statistics.append((nearest(), self.rbf))
        for value, threshold in statistics:
            if threshold > 0:
                answer = value.op("Less", threshold).op("Where", UNKNOWN, answer)
        return answer

    def cost(self) -> RuleCost:
        """Return the cost of the comparisons."""
        costs = (_COSTS[name] for name in self.statistics)
        return RuleCost(*(sum(each) for each in zip(*costs, strict=True)))

    def page_data(self) -> JsonObject:
        """Return the index of the answer "unknown"."""
        return {"unknown": UNKNOWN}


def _whole(threshold: float) -> int:
    """Return a threshold as a whole number, at least 1 unless it is 0."""
    return max(1, round(threshold)) if threshold > 0 else 0


def margins(scores: Array) -> Array:
    """Return the margin (n,) of scores (n, L); with a single class, its score."""
    if scores.shape[1] < 2:
        return scores[:, 0]
    two = np.partition(scores, -2, axis=1)[:, -2:]
    margin: Array = two[:, 1] - two[:, 0]
    return margin
