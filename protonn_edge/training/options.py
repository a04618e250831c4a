"""Constraints on parameters of classifiers, for scikit-learn's checks and the command line.

Ranges are wider than useful, but prevent float32 from overflowing and training from taking years.
"""

from __future__ import annotations

from collections.abc import Iterable
from numbers import Integral, Real

from sklearn.utils._param_validation import Interval, Options, StrOptions

COUNT = Interval(Integral, 1, None, closed="left")
PASSES = Interval(Integral, 1, 1_000_000, closed="both")
MAYBE_PASSES = Interval(Integral, 0, 1_000_000, closed="both")
TURNS = Interval(Integral, 1, 1_000, closed="both")
SHARE = Interval(Real, 0, 1, closed="right")
MULTIPLE = Interval(Real, 0, 100, closed="both")
AUTO = StrOptions({"auto"})


class ByteCount(Interval):
    """A number of bytes, at least one, which the command line accepts with a unit."""

    def __init__(self) -> None:
        super().__init__(Integral, 1, None, closed="left")


class Choices(StrOptions):
    """One of several words, which the command line shows in this order."""

    def __init__(self, words: Iterable[str]) -> None:
        self.words = tuple(words)
        super().__init__(set(self.words))


class Counts(Options):
    """One of several integers, which the command line shows in this order."""

    def __init__(self, numbers: Iterable[int]) -> None:
        self.numbers = tuple(numbers)
        super().__init__(Integral, set(self.numbers))


class Subset(Options):
    """One or more of several words, which the command line accepts separated by commas."""

    def __init__(self, words: Iterable[str]) -> None:
        self.words = tuple(words)
        super().__init__(tuple, set())

    def is_satisfied_by(self, val: object) -> bool:
        """Return whether a value is a sequence of some of the words."""
        return (
            isinstance(val, tuple | list)
            and 0 < len(val) == len(set(map(str, val)))
            and all(word in self.words for word in val)
        )

    def __str__(self) -> str:
        return f"a tuple of some of {', '.join(map(repr, self.words))}"


class Shape(Options):
    """Two integers, and how the command line reads them.

    Parameters
    ----------
    sides : str
        Their names: "HxW".
    what : str
        What the sides are, with an example.
    second : int, optional
        The second one, if it may be omitted.
    """

    def __init__(self, sides: str, what: str, second: int | None = None) -> None:
        self.sides, self.what, self.second = sides, what, second
        super().__init__(tuple, set())

    def is_satisfied_by(self, val: object) -> bool:
        """Return whether a value is a tuple; what is in it depends on the points."""
        return isinstance(val, tuple)

    def __str__(self) -> str:
        return "an instance of 'tuple'"


IMAGE_SHAPE = Shape("HxW", "a height and a width, such as 16x16")
WINDOW_SHAPE = Shape(
    "SAMPLES[xCHANNELS]", "a number of samples and channels, such as 128x3", second=1
)


def real(low: float, high: float) -> Interval:
    """Return the numbers from `low` to `high`."""
    return Interval(Real, low, high, closed="both")
