"""The confidence of an answer in per cent, from integer scores: the softmax of `predict_proba`.

With scores s, and t logits per unit of them, the probability of the class with the largest score is
one over the sum of ``exp(-t (max s - s_l))`` over all classes l. The exponential is a table of
bytes in steps of 1/16, so that sums of 255 classes fit 16 bits.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

_STEPS_A_UNIT = 16
_ONE = 255  # the integer for 1
_MOST_SHIFT, _FACTOR_BITS = 24, 16


def _table() -> tuple[int, ...]:
    """Return ``255 exp(-i / 16)``, rounded, up to the last non-zero value."""
    steps = np.arange(_STEPS_A_UNIT * np.log(2 * _ONE))
    return tuple(np.rint(_ONE * np.exp(-steps / _STEPS_A_UNIT)).astype(int).tolist())


TABLE = _table()
"""The exponential for the first, second, ... step below the largest score."""


@dataclass(frozen=True)
class Confidence:
    """From differences of integer scores to indices in `TABLE`."""

    factor: int  # steps of the table per unit of the scores, times ``2**shift``: 1..65,535
    shift: int  # 1..24

    @classmethod
    def of(cls, logit: float) -> Confidence:
        """Return the numbers for the value of a unit of the scores in logits, above 0."""
        steps = min(logit * _STEPS_A_UNIT, float(len(TABLE)))
        most = (1 << _FACTOR_BITS) - 1
        shift = int(np.clip(np.floor(np.log2(most / steps)), 1, _MOST_SHIFT))
        return cls(int(np.clip(round(steps * 2**shift), 1, most)), shift)

    @property
    def limit(self) -> int:
        """The smallest difference of scores beyond the table, where the exponential is 0."""
        half = 1 << (self.shift - 1)
        return -(-((len(TABLE) << self.shift) - half) // self.factor)

    def percent(self, scores: ArrayLike) -> NDArray[np.uint8]:
        """Return the probability of the class with the largest score, in per cent.

        - `scores` (n, L): scores of the integer model.

        Returns 0..100, as ``pnn_confidence`` of the generated C returns it.
        """
        s = np.asarray(scores, dtype=np.int64)
        less = s.max(axis=1, keepdims=True) - s
        half = 1 << (self.shift - 1)
        steps = (np.minimum(less, self.limit) * self.factor + half) >> self.shift
        sums = np.array([*TABLE, 0])[np.minimum(steps, len(TABLE))].sum(axis=1)
        per_cent: NDArray[np.uint8] = ((100 * _ONE + sums // 2) // sums).astype(np.uint8)
        return per_cent
