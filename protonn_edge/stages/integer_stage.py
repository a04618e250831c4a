"""A stage of the integer model: exact arithmetic, with a proof that nothing overflows."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from protonn_edge.errors import InputError

IntArray = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Range:
    """What each of n values can be on any input: ``low`` and ``high``, (n,) int64."""

    low: IntArray
    high: IntArray

    @cached_property
    def ends(self) -> tuple[int, int]:
        """The least and the largest of all values."""
        return int(self.low.min()), int(self.high.max())

    @property
    def bits(self) -> int:
        """16 or 32: the least that hold all values."""
        low, high = self.ends
        return 16 if low >= -(1 << 15) and high < 1 << 15 else 32

    @property
    def with_either_sign(self) -> Range:
        """That of the values' negatives, and of the values behind them."""
        low, high = np.concatenate([-self.high, self.low]), np.concatenate([-self.low, self.high])
        return Range(low, high)

    @classmethod
    def of_bytes(cls, n: int, maximum: int) -> Range:
        """Return the range of n values of 0..maximum."""
        return cls(np.zeros(n, np.int64), np.full(n, maximum, np.int64))


class IntegerStage(ABC):
    """What one stage computes, in integers; it refuses when made what could overflow.

    Attributes
    ----------
    kind : str
        Its name in plans and reports.
    hashed : tuple of str
        Its whole numbers that a model's hash has, though they follow from the model's fields.
    tells_of_values : bool
        Whether the first vector of its `activity` is of its values that are not 0.
    n_inputs, n_outputs : int
        How many values a point has before and behind it.
    """

    kind: ClassVar[str]
    hashed: ClassVar[tuple[str, ...]] = ()
    tells_of_values: ClassVar[bool] = False

    @property
    @abstractmethod
    def n_inputs(self) -> int:
        """Values of a point that it takes."""

    @property
    @abstractmethod
    def n_outputs(self) -> int:
        """Values of a point that it gives."""

    @property
    @abstractmethod
    def output(self) -> Range:
        """What its values can be, proven for every input."""

    def describe(self) -> dict[str, Any]:
        """Return what ``inspect`` says of its arithmetic, where the classifier begins with it."""
        return {}

    @abstractmethod
    def run(self, x: NDArray[Any]) -> NDArray[Any]:
        """Return its values (n, n_outputs) of inputs (n, n_inputs): the reference."""

    def activity(self, x: NDArray[Any]) -> tuple[NDArray[np.float64], ...]:  # noqa: ARG002
        """Return what its mean cycles depend on, besides how many of all inputs are 0.

        Each is a vector of sums over inputs (n, n_inputs); divided by n they are shares, 0..1.
        """
        return ()

    def parameters(self) -> Iterator[NDArray[Any]]:
        """Yield the arrays that were learned, as flash has them."""
        yield from ()


def stage_names(kinds: Iterable[str]) -> tuple[str, ...]:
    """Return what the stages of a chain are called: their kinds; the second of a kind, kind_2."""
    counts: dict[str, int] = {}
    names = []
    for kind in kinds:
        counts[kind] = number = counts.get(kind, 0) + 1
        names.append(kind if number == 1 else f"{kind}_{number}")
    return tuple(names)


def check_holds(fits: bool, what: str) -> None:
    """Raise `InputError` for numbers with which some input could overflow the generated code."""
    if not fits:
        raise InputError(
            f"the integer model has {what}, which generated code cannot hold; quantize a model "
            "that was trained here"
        )
