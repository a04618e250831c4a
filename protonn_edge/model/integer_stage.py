"""A stage of the integer model: exact arithmetic, with a proof that nothing overflows."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from protonn_edge.model import formulas
from protonn_edge.model.formulas import Intervals, NoFormula, Operand, arrays_of
from protonn_edge.system.arrays import Array
from protonn_edge.system.checks import check
from protonn_edge.system.errors import InvalidValue

IntArray = formulas.IntArray

MOST_FEATURES = 65_000  # limit of the counters in firmware/model.h and the serial protocol
MOST_CLASSES = 255  # a byte has the answer
_LIMITS = {
    "features": MOST_FEATURES,
    "projections": 255,
    "prototypes": 65_535,
    "classes": MOST_CLASSES,
}


@dataclass(frozen=True, eq=False)
class Range:
    """The bounds of each of n values for any input: ``low`` and ``high``, (n,) int64.

    Generated code computes scores in at least `least_bits` bits, 16 or 32.
    """

    low: IntArray
    high: IntArray
    least_bits: int = field(default=16, repr=False, metadata={"stored": False})

    @cached_property
    def ends(self) -> tuple[int, int]:
        """The smallest and the largest bound of all values."""
        return int(self.low.min()), int(self.high.max())

    @property
    def bits(self) -> int:
        """16 or 32: the bits of scores with these bounds in generated code."""
        low, high = self.ends
        return self.least_bits if low >= -(1 << 15) and high < 1 << 15 else 32

    @property
    def interval(self) -> Intervals:
        """The bounds as an operand of formulas, for one point."""
        return Intervals(self.low[None], self.high[None])

    @classmethod
    def of(cls, reached: Operand) -> Range:
        """Return the range of the integers of one point."""
        assert isinstance(reached, Intervals)
        return cls(reached.low.ravel(), reached.high.ravel())

    @classmethod
    def of_bytes(cls, n: int, maximum: int) -> Range:
        """Return the range of n values of 0..maximum."""
        return cls(np.zeros(n, np.int64), np.full(n, maximum, np.int64))


class IntegerStage(ABC):
    """The computation of one stage in integers; its constructor refuses possible overflows."""

    kind: ClassVar[str]  # its name in plans and reports
    value_type: ClassVar[type[np.integer[Any]]] = np.int64  # the type of what `run` returns
    # tolerated difference of scores between executions, if it computes in floats
    score_tolerance: ClassVar[int] = 0

    @property
    @abstractmethod
    def n_inputs(self) -> int:
        """Number of inputs."""

    @property
    def n_outputs(self) -> int:
        """Number of outputs, each with a range."""
        return len(self.output.low)

    @property
    @abstractmethod
    def output(self) -> Range:
        """The proven range of its values for any input."""

    def formula(self, _x: Operand, /) -> Operand:
        """Return its values (n, n_outputs) from those of the stage before: its arithmetic.

        `model.formulas` has the operands, and the result of a formula for each of them. Raises
        `NoFormula` if the stage only has `run`.
        """
        raise NoFormula(self.kind)

    def run(self, x: Array) -> Array:
        """Compute its values (n, n_outputs) from inputs (n, n_inputs): the reference.

        A stage that overrides it, to be faster, gives the integers of its formula.
        """
        return arrays_of(self.formula, x).astype(self.value_type, copy=False)

    def parameters(self) -> Iterator[Array]:
        """Yield the learned arrays as they are in flash."""
        yield from ()


def run_through(stages: Iterable[IntegerStage], x: Array) -> Array:
    """Return the values of the last of some stages, (n, n_outputs), from the first one's inputs."""
    for stage in stages:
        x = stage.run(x)
    return x


def formula_through(stages: Iterable[IntegerStage], x: Operand) -> Operand:
    """Return the values of the last of some stages, by their formulas."""
    for stage in stages:
        x = stage.formula(x)
    return x


def stage_names(kinds: Iterable[str]) -> tuple[str, ...]:
    """Return the names of the stages of a chain: their kinds; kind_2 for the second of a kind."""
    counts: dict[str, int] = {}
    names = []
    for kind in kinds:
        counts[kind] = number = counts.get(kind, 0) + 1
        names.append(kind if number == 1 else f"{kind}_{number}")
    return tuple(names)


def check_holds(fits: bool, what: str, supported: str) -> None:
    """Raise `InputError` unless the generated code is free of overflow for any input."""
    check(fits, "integer model", what, supported)


def check_bits(what: str, reached: Range, bits: int) -> None:
    """Raise the `InputError` of `check_holds` if some values need more bits."""
    if reached.low.size:
        low, high = reached.ends
        limit = 1 << (bits - 1)
        fits = -limit <= low and high < limit
        check_holds(fits, f"{what} from {low:,} to {high:,}", f"{-limit:,} to {limit - 1:,}")


def check_counts(**counts: int) -> None:
    """Raise `InputError` if a named size exceeds the generated code's counters."""
    for name, number in counts.items():
        if number > _LIMITS[name]:
            reason = f"{number:,}, but generated code counts only up to {_LIMITS[name]:,}"
            raise InvalidValue(name, reason, f"use fewer {name}")
