"""The decision in integers: the first class with the largest score, or unknown.

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

The confidence of an answer, in per cent, is the softmax of `predict_proba`, computed from integer
scores. With scores s, and t logits per unit of them, the probability of the class with the largest
score is one over the sum of ``exp(-t (max s - s_l))`` over all classes l. The exponential is a
table of bytes in steps of 1/16, so that sums of 255 classes fit 16 bits.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from protonn_edge.chain.integer_stage import IntArray, IntegerStage, Range
from protonn_edge.chain.observation import IntegerExpected
from protonn_edge.datasets.naming import NO_CLASS
from protonn_edge.errors import InputError

UNKNOWN = NO_CLASS  # the answer instead of a class; ``PNN_UNKNOWN`` in the generated C
UNKNOWN_NAME = "unknown"  # its displayed name
Statistic = Literal["score", "distance", "margin"]
STATISTICS: tuple[Statistic, ...] = get_args(Statistic)


class _Thresholds:
    """The base of both kinds of thresholds; 0 is none."""

    score: float
    rbf: float
    margin: float

    def rejects(self, scores: NDArray[Any], nearest: NDArray[Any]) -> NDArray[np.bool_]:
        """Return which points (n,) scores (n, L) and the nearest RBF values (n,) make unknown."""
        rejected = np.zeros(len(scores), np.bool_)
        if self.score > 0:
            rejected |= scores.max(axis=1) < self.score
        if self.rbf > 0:
            rejected |= nearest < self.rbf
        if self.margin > 0:
            rejected |= margins(scores) < self.margin
        return rejected


@dataclass(frozen=True)
class Rejection(_Thresholds):
    """Thresholds in the float model's units, 0 for none; `InputError` if out of range or all 0."""

    score: float = 0.0  # minimum score of the winner, at least 0
    rbf: float = 0.0  # minimum RBF of the nearest prototype, 0..1
    margin: float = 0.0  # minimum difference of the two largest scores, at least 0

    def __post_init__(self) -> None:
        thresholds = (self.score, self.rbf, self.margin)
        if not all(math.isfinite(number) and number >= 0 for number in thresholds):
            raise InputError(
                f"the rejection thresholds are {thresholds}, but must be finite and at least 0; "
                "calibrate the model again"
            )
        if not max(thresholds) > 0 or self.rbf > 1:
            raise InputError(
                f"the rejection thresholds are {thresholds}, but at least one must be above 0, and "
                "the second, for the RBF, at most 1; calibrate the model again"
            )

    @property
    def distance(self) -> float | None:
        """Maximum distance to the nearest prototype, in RBF widths; None without a limit."""
        return math.sqrt(-math.log(self.rbf)) if self.rbf > 0 else None

    def in_integers(self, score_scale: float, rbf_maximum: int) -> IntegerRejection:
        """Return integer thresholds; a score's unit is `score_scale`, an RBF of 1 `rbf_maximum`."""
        return IntegerRejection(
            score=_whole(self.score / score_scale),
            rbf=_whole(self.rbf * rbf_maximum),
            margin=_whole(self.margin / score_scale),
        )


@dataclass(frozen=True)
class IntegerRejection(_Thresholds):
    """Thresholds in units of the integer model; 0 is none."""

    score: int = 0  # minimum score of the winner
    rbf: int = 0  # minimum RBF of the nearest prototype, 0..127
    margin: int = 0  # minimum difference of the two largest scores

    @property
    def statistics(self) -> tuple[Statistic, ...]:
        """The statistics with a threshold."""
        present = (self.score, self.rbf, self.margin)
        return tuple(name for name, at_least in zip(STATISTICS, present, strict=True) if at_least)


def _whole(threshold: float) -> int:
    """Return a threshold as a whole number, at least 1 unless it is 0."""
    return max(1, round(threshold)) if threshold > 0 else 0


def answer_name(classes: Sequence[str], answer: int) -> str:
    """Return the name of an answer, which is one of the classes or `UNKNOWN`."""
    return UNKNOWN_NAME if answer == UNKNOWN else classes[answer]


def answer_names(count: int, classes: Sequence[str]) -> tuple[str, ...]:
    """Return the names of `count` answers: the classes, then "unknown" if there is one more."""
    return (*classes, UNKNOWN_NAME)[:count]


def margins(scores: NDArray[Any]) -> NDArray[Any]:
    """Return the margin (n,) of scores (n, L); with a single class, its score."""
    if scores.shape[1] < 2:
        return scores[:, 0]
    two = np.partition(scores, -2, axis=1)[:, -2:]
    return two[:, 1] - two[:, 0]


@dataclass(frozen=True, eq=False)
class IntegerDecision(IntegerStage):
    """Maps the scores of L classes to the first class with the largest score."""

    kind: ClassVar[str] = "decision"

    scores: Range  # the range of the L scores
    score_bits: int  # 16 or 32
    rejection: IntegerRejection | None = None  # thresholds below which the answer is `UNKNOWN`
    expected: IntegerExpected | None = None  # answers that a device should expect

    @property
    def n_inputs(self) -> int:
        """L."""
        return len(self.scores.low)

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
        """Return the classes (n, 1) for scores (n, L), as if each point were near a prototype."""
        return decide(x, np.full(len(x), UNKNOWN), self.rejection)[:, None]

    def holds(self, largest: int) -> bool:
        """Return whether each threshold is within the range of its statistic.

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
    """Return the classes (n,), or `UNKNOWN`, from scores (n, L) and nearness (n,)."""
    classes: IntArray = scores.argmax(axis=1)
    if rejection is not None:
        classes[rejection.rejects(scores, nearest)] = UNKNOWN
    return classes


_STEPS_A_UNIT = 16
_ONE = 255  # the integer for 1
_MOST_SHIFT, _FACTOR_BITS = 24, 16


# ``255 exp(-i / 16)``, rounded, for i steps below the largest score, i = 1, 2, ..., up to the last
# value that is not 0
_STEPS = np.arange(_STEPS_A_UNIT * np.log(2 * _ONE))
EXPONENTIAL = tuple(np.rint(_ONE * np.exp(-_STEPS / _STEPS_A_UNIT)).astype(int).tolist())


@dataclass(frozen=True)
class Confidence:
    """Computes the confidence: maps differences of integer scores to indices in `EXPONENTIAL`."""

    factor: int  # steps of the table per unit of the scores, times ``2**shift``: 1..65,535
    shift: int  # 1..24
    n_new: int = 0  # number of last classes that are ignored while their score is 0

    @classmethod
    def of(cls, logit: float, n_new: int = 0) -> Confidence:
        """Return the factor and shift for scores with a unit of `logit` logits, above 0."""
        steps = float(np.clip(logit * _STEPS_A_UNIT, 2.0**-_MOST_SHIFT, len(EXPONENTIAL)))
        most = (1 << _FACTOR_BITS) - 1
        shift = int(np.clip(np.floor(np.log2(most / steps)), 1, _MOST_SHIFT))
        return cls(int(np.clip(round(steps * 2**shift), 1, most)), shift, n_new)

    @property
    def limit(self) -> int:
        """The smallest difference of scores beyond the table, where the exponential is 0."""
        half = 1 << (self.shift - 1)
        return -(-((len(EXPONENTIAL) << self.shift) - half) // self.factor)

    def percent(self, scores: ArrayLike) -> NDArray[np.uint8]:
        """Return the probability of the class with the largest integer score (n, L), in per cent.

        Returns 0..100, as ``pnn_confidence`` of the generated C does.
        """
        s = np.asarray(scores, dtype=np.int64)
        less = s.max(axis=1, keepdims=True) - s
        if self.n_new:
            label = np.arange(s.shape[1])
            ignored = (s == 0) & (label >= len(label) - self.n_new)
            less[ignored & (label != s.argmax(axis=1)[:, None])] = self.limit
        half = 1 << (self.shift - 1)
        steps = (np.minimum(less, self.limit) * self.factor + half) >> self.shift
        sums = np.array([*EXPONENTIAL, 0])[np.minimum(steps, len(EXPONENTIAL))].sum(axis=1)
        per_cent: NDArray[np.uint8] = ((100 * _ONE + sums // 2) // sums).astype(np.uint8)
        return per_cent
