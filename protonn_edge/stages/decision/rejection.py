"""When a model answers that a point is of none of its classes.

Three statistics tell a point that is unlike the known ones. The first two are of the nearest
prototypes, the third of the two likeliest classes; a model may have a threshold for each:

score     the winner's, ``max_l s_l``. Far from all prototypes it is 0
distance  to the nearest prototype, as its RBF, ``max_j e_j``: 127 at no distance, 0 from the end
          of the RBF's table on, beyond which the device does not look
margin    the winner's score less the second's: small between two classes, whose points are known

A point is unknown if one of them is below its threshold. The thresholds are whole numbers of what
the integer model has computed anyway, so that every execution of it rejects the same points; the
file of the model has them in the float model's units.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from protonn_edge.datasets.naming import NO_CLASS
from protonn_edge.errors import InputError

UNKNOWN = NO_CLASS
"""What is answered in place of a class; ``PNN_UNKNOWN`` in the generated C."""

UNKNOWN_NAME = "unknown"
"""What people are shown for it."""

Statistic = Literal["score", "distance", "margin"]
STATISTICS: tuple[Statistic, ...] = get_args(Statistic)


class _Thresholds:
    """What both kinds of thresholds do; 0 is none."""

    score: float
    rbf: float
    margin: float

    def rejects(self, scores: NDArray[Any], nearest: NDArray[Any]) -> NDArray[np.bool_]:
        """Return which points are unknown, by scores (n, L) and the nearest RBF values (n,)."""
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
    """Thresholds in the float model's units; 0 is none.

    Attributes
    ----------
    score : float
        Least score of the winner, at least 0.
    rbf : float
        Least RBF of the nearest prototype, 0..1.
    margin : float
        Least difference of the two largest scores, at least 0.

    Raises
    ------
    InputError
        If a threshold is out of its range, or all are 0.
    """

    score: float = 0.0
    rbf: float = 0.0
    margin: float = 0.0

    def __post_init__(self) -> None:
        thresholds = (self.score, self.rbf, self.margin)
        if not all(math.isfinite(number) and number >= 0 for number in thresholds):
            raise InputError(
                f"the thresholds below which a point is unknown are {thresholds}; they must be "
                "finite numbers of at least 0"
            )
        if not max(thresholds) > 0 or self.rbf > 1:
            raise InputError(
                f"the thresholds below which a point is unknown are {thresholds}; one must be "
                "above 0, and that of the RBF at most 1"
            )

    @property
    def distance(self) -> float | None:
        """Largest distance to the nearest prototype, in RBF widths; None without a limit."""
        return math.sqrt(-math.log(self.rbf)) if self.rbf > 0 else None

    def in_integers(self, score_scale: float, rbf_maximum: int) -> IntegerRejection:
        """Return the thresholds of an integer model.

        Its scores are in units of `score_scale`; its largest RBF stands for 1.
        """
        return IntegerRejection(
            score=_whole(self.score / score_scale),
            rbf=_whole(self.rbf * rbf_maximum),
            margin=_whole(self.margin / score_scale),
        )


@dataclass(frozen=True)
class IntegerRejection(_Thresholds):
    """The same in units of the integer model, where 0 is none.

    Attributes
    ----------
    score : int
        Least score of the winner.
    rbf : int
        Least RBF of the nearest prototype, 0..127.
    margin : int
        Least difference of the two largest scores.
    """

    score: int = 0
    rbf: int = 0
    margin: int = 0

    @property
    def statistics(self) -> tuple[Statistic, ...]:
        """What has a threshold."""
        present = (self.score, self.rbf, self.margin)
        return tuple(name for name, at_least in zip(STATISTICS, present, strict=True) if at_least)


def _whole(threshold: float) -> int:
    """Return a threshold as a whole number that still is one."""
    return max(1, round(threshold)) if threshold > 0 else 0


def answer_name(classes: Sequence[str], answer: int) -> str:
    """Return the name of an answer, which is one of the classes or `UNKNOWN`."""
    return UNKNOWN_NAME if answer == UNKNOWN else classes[answer]


def answer_names(count: int, classes: Sequence[str]) -> tuple[str, ...]:
    """Return the names of so many answers: the classes, and perhaps `UNKNOWN` after them."""
    return (*classes, UNKNOWN_NAME)[:count]


def margins(scores: NDArray[Any]) -> NDArray[Any]:
    """Return the largest of the scores (n, L) less the second, (n,); all of a single score."""
    if scores.shape[1] < 2:
        return scores[:, 0]
    two = np.partition(scores, -2, axis=1)[:, -2:]
    difference: NDArray[Any] = two[:, 1] - two[:, 0]
    return difference
