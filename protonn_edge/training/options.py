"""What parameters of classifiers may be, for scikit-learn's checks and the command line alike.

The ends of ranges are far outside what is of use, and near enough to keep float32 from overflowing
and a training from lasting for years.
"""

from __future__ import annotations

from collections.abc import Iterable
from numbers import Integral, Real

from sklearn.utils._param_validation import Interval, StrOptions

COUNT = Interval(Integral, 1, None, closed="left")
PASSES = Interval(Integral, 1, 1_000_000, closed="both")
TURNS = Interval(Integral, 1, 1_000, closed="both")
SHARE = Interval(Real, 0, 1, closed="right")
MULTIPLE = Interval(Real, 0, 100, closed="both")
AUTO = StrOptions({"auto"})


class Choices(StrOptions):
    """One of some words, which the command line shows in this order."""

    def __init__(self, words: Iterable[str]) -> None:
        self.words = tuple(words)
        super().__init__(set(self.words))


def real(low: float, high: float) -> Interval:
    """Return the numbers from `low` to `high`."""
    return Interval(Real, low, high, closed="both")
