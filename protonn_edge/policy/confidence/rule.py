"""The confidence of an answer, in per cent: the softmax of `predict_proba`, from integer scores.

With scores s, and t logits per unit of them, the probability of the class with the largest score is
one over the sum of ``exp(-t (max s - s_l))`` over all classes l. The exponential is a table of
bytes in steps of 1/16, so that sums of 255 classes fit 16 bits.
"""

from __future__ import annotations

from dataclasses import astuple, dataclass
from typing import ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from protonn_edge.model import checks
from protonn_edge.model.policy import FloatRule, IntegerRule, Units
from protonn_edge.system.arrays import Array
from protonn_edge.system.checks import check
from protonn_edge.system.schema import JsonObject

_STEPS_A_UNIT = 16
_ONE = 255  # the integer for 1
_MOST_SHIFT, _FACTOR_BITS = 24, 16


# ``255 exp(-i / 16)``, rounded, for i steps below the largest score, i = 1, 2, ..., up to the last
# value that is not 0
_STEPS = np.arange(_STEPS_A_UNIT * np.log(2 * _ONE))
EXPONENTIAL = tuple(np.rint(_ONE * np.exp(-_STEPS / _STEPS_A_UNIT)).astype(int).tolist())


@dataclass(frozen=True)
class Sharpness(FloatRule):
    """The factor on the float model's scores before the softmax: an inverse temperature."""

    name: ClassVar[str] = "confidence"

    factor: float  # above 0

    def __post_init__(self) -> None:
        check(0 < self.factor < np.inf, "sharpness", self.factor, "above 0, and finite")

    @classmethod
    def of_array(cls, array: Array) -> Self:
        """Return the factor that a model file stores."""
        if array.shape != (1,) or array.dtype.kind != "f":
            raise checks.unlike(array, "sharpness", "one number")
        return cls(float(array[0]))

    def to_array(self) -> NDArray[np.float64]:
        """Return the factor."""
        return np.array([self.factor])

    def in_integers(self, units: Units) -> Confidence | None:
        """Return the computation from integer scores; None if there are no classes to compare."""
        if units.n_classes == 1:
            return None
        return Confidence.of(self.factor * units.score, units.n_new_classes)

    def logits(self, scores: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the scores times the factor."""
        return scores * self.factor


@dataclass(frozen=True)
class Confidence(IntegerRule):
    """Computes the confidence: maps differences of integer scores to indices in `EXPONENTIAL`."""

    name: ClassVar[str] = "confidence"
    c_functions: ClassVar[tuple[str, ...]] = ("confidence",)
    table: ClassVar[tuple[int, ...]] = EXPONENTIAL

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

    def parts(self, scores: ArrayLike) -> NDArray[np.int64]:
        """Return exponentials (n, L) that are proportional to probabilities, of integer scores.

        The largest score has 255; see the module.
        """
        s = np.asarray(scores, dtype=np.int64)
        less = s.max(axis=1, keepdims=True) - s
        if self.n_new:
            label = np.arange(s.shape[1])
            ignored = (s == 0) & (label >= len(label) - self.n_new)
            less[ignored & (label != s.argmax(axis=1)[:, None])] = self.limit
        half = 1 << (self.shift - 1)
        steps = (np.minimum(less, self.limit) * self.factor + half) >> self.shift
        parts: NDArray[np.int64] = np.array([*EXPONENTIAL, 0])[np.minimum(steps, len(EXPONENTIAL))]
        return parts

    def percent(self, scores: ArrayLike) -> NDArray[np.uint8]:
        """Return the probability of the class with the largest integer score (n, L), in per cent.

        Returns 0..100, as ``pnn_confidence`` of the generated C does.
        """
        sums = self.parts(scores).sum(axis=1)
        per_cent: NDArray[np.uint8] = ((100 * _ONE + sums // 2) // sums).astype(np.uint8)
        return per_cent

    def figures(self, scores: Array) -> dict[str, list[int]]:
        """Return the confidence of each answer, in per cent."""
        return {"confidence_percent": self.percent(scores).tolist()}

    def page_data(self) -> JsonObject:
        """Return how the confidence follows from scores."""
        factor, shift, n_new = astuple(self)
        table = {"factor": factor, "shift": shift, "newClasses": n_new, "table": EXPONENTIAL}
        return {"confidence": table}
