"""The value that a model's only score stands for, such as a temperature.

In floats, it is ``offset + scale * score``. In integers, as ``pnn_value`` returns it, it is a whole
number of units of ``10**-decimals``::

    value = base + (((score >> dropped) * multiplier + half) >> shift)

which fits 32 bits for every score; half is ``2**(shift - 1)``, so that the result is rounded.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from protonn_edge.model import checks
from protonn_edge.model.head import Head
from protonn_edge.model.policy import FloatRule, IntegerRule, PolicyRule, Units
from protonn_edge.policy.value.figures import Groups, ValueFigures, interval_words
from protonn_edge.system.arrays import Array
from protonn_edge.system.checks import check, check_range
from protonn_edge.system.figures import Facts, Figure
from protonn_edge.system.schema import JsonObject

MOST_DECIMALS = 9
_SCORE_BITS, _FACTOR_BITS = 16, 15  # of a factor of the product, with the sign and without one
_MOST_SHIFT = 30
_LIMIT = 2**31 - 1  # of a value on the device, in its unit
_LEAST_SCALE = 1e-30
_ROUNDING = 1e-6  # of a width that is a whole number of units
_LARGER = "give labels in a larger unit, such as km in place of m, and train again"


class ValueRule(PolicyRule):
    """What the rules of float and integer models have in common."""

    name: ClassVar[str] = "value"
    predicts: ClassVar[str] = "value"

    decimals: int
    n_groups: int  # see `Interval`
    tolerance: float | None  # of errors, for the share within it

    @property
    @abstractmethod
    def mean(self) -> float:
        """The value for a score of 0, the mean of the training points."""

    @abstractmethod
    def values(self, scores: Array) -> NDArray[np.float64]:
        """Return the values (n,) for scores (n, 1), in the label's unit."""

    def words(self, scores: Array, _classes: Sequence[str]) -> list[str]:
        """Return the values, with their decimals."""
        return [f"{each:.{self.decimals}f}" for each in self.values(scores).tolist()]

    def words_of(self, known: Array, _classes: Sequence[str]) -> list[str]:
        """Return values (n,) that are known with all of their digits."""
        return ["" if math.isnan(each) else f"{each:.15g}" for each in known.tolist()]

    def measured(
        self, scores: Array, known: Array, groups: Groups = None
    ) -> tuple[list[Figure], JsonObject]:
        """Return how near the predicted values are to those (n,) that are known."""
        given = np.isfinite(known)
        if not given.any():
            return [], {}
        predicted, of = self.values(scores[given]), None if groups is None else groups[given]
        figures = ValueFigures.of(predicted, known[given], self.mean, self.tolerance, of)
        width = float(self.half_width_text) if self.half_width_text else None
        interval = {"half_width": width, "n_groups": self.n_groups}
        return figures.figures, {"errors": figures.to_json(), "interval": interval}

    @property
    @abstractmethod
    def half_width_text(self) -> str:
        """Half the width of the interval, with the decimals of a value; empty if unknown."""

    @property
    def interval_words(self) -> str:
        """The interval of a predicted number, as text; empty if it is unknown."""
        text = self.half_width_text
        return text and interval_words(text, self.n_groups)

    def about_answers(self) -> Facts:
        """Return the interval of each predicted number, if it is known."""
        return [("interval", self.interval_words)] if self.interval_words else []


@dataclass(frozen=True)
class Value(ValueRule, FloatRule):
    """How the score of a float model becomes a value in the label's unit."""

    scale: float  # by which a score of 1 exceeds a score of 0, above 0
    offset: float  # the value for a score of 0, the mean of the training points
    decimals: int  # that a device distinguishes, 0..`MOST_DECIMALS`
    half_width: float | None = None  # of the interval around a value, see `Interval`
    tolerance: float | None = None  # of errors: their share within it is a figure
    n_groups: int = 0

    def __post_init__(self) -> None:
        check_range("value.scale", self.scale, _LEAST_SCALE, 1 / _LEAST_SCALE)
        check(math.isfinite(self.offset), "value.offset", self.offset, "finite")
        whole = float(self.decimals).is_integer() and type(self.decimals) is not bool
        check(whole, "value.decimals", self.decimals, "a whole number")
        checks.set_checked(self, "decimals", int(self.decimals))
        check_range("value.decimals", self.decimals, 0, MOST_DECIMALS)
        largest = _LIMIT / 10**self.decimals / 2
        check(abs(self.offset) <= largest, "value.offset", self.offset, f"within {largest:g} of 0")
        if self.half_width is not None:
            fits = 0 <= self.half_width <= largest
            check(fits, "value.half_width", self.half_width, f"0 to {largest:g}")
        if self.tolerance is not None:
            fits = 0 < self.tolerance < math.inf
            check(fits, "value.tolerance", self.tolerance, "above 0, and finite")
        whole = float(self.n_groups).is_integer() and 0 <= self.n_groups <= _LIMIT
        check(whole, "value.n_groups", self.n_groups, "a number of groups")
        checks.set_checked(self, "n_groups", int(self.n_groups))

    @classmethod
    def of_array(cls, array: Array) -> Self:
        """Return the rule that a model file stores."""
        if array.ndim != 1 or not 3 <= len(array) <= 6 or array.dtype.kind != "f":
            wanted = "scale, offset, decimals, and perhaps half a width, a tolerance and groups"
            raise checks.unlike(array, "value", wanted)
        scale, offset, decimals, *more = array.tolist()
        known = [None if math.isnan(each) else each for each in more]
        width, tolerance, n_groups = [*known, None, None, None][:3]
        return cls(scale, offset, decimals, width, tolerance, n_groups or 0)

    def to_array(self) -> NDArray[np.float64]:
        """Return its numbers; NaN stands for what is unknown before another one."""
        more = [self.half_width, self.tolerance, self.n_groups or None]
        while more and more[-1] is None:
            more.pop()
        return np.array([self.scale, self.offset, self.decimals, *more], np.float64)

    def check(self, n_classes: int) -> None:
        """Refuse a model of classes."""
        found = f"a model of {n_classes:,} scores"
        check(n_classes == 1, "value", found, "one score of a number")

    @property
    def mean(self) -> float:
        """The value for a score of 0."""
        return self.offset

    @property
    def half_width_text(self) -> str:
        """Half the width of the interval; empty if unknown."""
        return "" if self.half_width is None else f"{self.half_width:.4g}"

    def values(self, scores: Array) -> NDArray[np.float64]:
        """Return the values (n,) for scores (n, 1)."""
        values: NDArray[np.float64] = self.offset + self.scale * scores[:, 0].astype(np.float64)
        return values

    def in_integers(self, units: Units) -> IntegerValue:
        """Return the computation from integer scores."""
        return IntegerValue.of(self, units)

    def facts(self, _head: Head) -> list[tuple[str, str]]:
        """Return how it is given, and the width of its interval."""
        return [("value", f"in steps of {10.0**-self.decimals:g}"), *self.about_answers()]

    def described(self) -> JsonObject:
        """Return its numbers for JSON."""
        names = ("scale", "offset", "decimals", "half_width", "tolerance", "n_groups")
        return {"value": {name: getattr(self, name) for name in names}}


@dataclass(frozen=True)
class IntegerValue(ValueRule, IntegerRule):
    """Computes the value in units of ``10**-decimals``."""

    c_functions: ClassVar[tuple[str, ...]] = ("value", "value_float")
    hashed: ClassVar[bool] = True

    multiplier: int  # 0..32,767
    dropped: int  # last bits of a score that are not used
    shift: int  # 1..30
    base: int
    decimals: int
    half_width: int | None  # in the same unit
    lowest: int  # of all values
    highest: int
    tolerance: float | None = field(default=None, repr=False)  # as in the float rule
    n_groups: int = field(default=0, repr=False)

    @classmethod
    def of(cls, value: Value, units: Units) -> Self:
        """Return the finest computation for which no product overflows."""
        low, high = units.scores
        dropped = max(0, max(-low - 1, high).bit_length() - (_SCORE_BITS - 1))
        step = value.scale * units.score * 2.0**dropped  # of a score without these bits
        most = (1 << _FACTOR_BITS) - 1
        fits = step <= most / 2
        check(fits, "value", f"in steps of {step:g}", f"steps of at most {most / 2:g}", _LARGER)
        # Decimals that steps are too coarse for are left out.
        decimals = min(value.decimals, math.floor(math.log10(most / 2 / step)))
        unit = 10.0**decimals
        step *= unit
        shift = int(np.clip(math.floor(math.log2(most / step)), 1, _MOST_SHIFT))
        while (multiplier := round(step * 2**shift)) > most:
            shift -= 1
        base = round(value.offset * unit)
        width = value.half_width
        width = None if width is None else math.ceil(width * unit - _ROUNDING)
        made = cls(multiplier, dropped, shift, base, decimals, width, 0, 0)
        ends = made.in_units(np.array([[low], [high]]))
        largest = int(np.abs(ends).max())
        expected = f"at most {_LIMIT:,} in its unit"
        check(largest <= _LIMIT, "value", f"up to {largest:,}", expected, _LARGER)
        return replace(
            made,
            lowest=int(ends[0]),
            highest=int(ends[1]),
            tolerance=value.tolerance,
            n_groups=value.n_groups,
        )

    @property
    def unit(self) -> float:
        """The value of 1."""
        return float(f"1e-{self.decimals}")

    @property
    def mean(self) -> float:
        """The value for a score of 0."""
        return self.base * self.unit

    @property
    def half_width_text(self) -> str:
        """Half the width of the interval; empty if unknown."""
        width = self.half_width
        return "" if width is None else f"{width * self.unit:.{self.decimals}f}"

    def figures(self, scores: Array) -> dict[str, list[float]]:
        """Return the ends of the interval of each number, if it is known."""
        if self.half_width is None:
            return {}
        values, width = self.in_units(scores), self.half_width
        ends = {"predicted_low": values - width, "predicted_high": values + width}
        return {
            name: np.round(each * self.unit, self.decimals).tolist() for name, each in ends.items()
        }

    def page_data(self) -> JsonObject:
        """Return how the number follows from the score, and its interval."""
        names = ("multiplier", "dropped", "shift", "base", "decimals", "half_width")
        words = {"interval": self.interval_words}
        return {"value": {name: getattr(self, name) for name in names} | words}

    def values(self, scores: Array) -> NDArray[np.float64]:
        """Return the values (n,) for integer scores (n, 1)."""
        return self.in_units(scores) * np.float64(self.unit)

    def in_units(self, scores: Array) -> NDArray[np.int64]:
        """Return the values (n,), in units of ``10**-decimals``, for integer scores (n, 1)."""
        score = scores[:, 0].astype(np.int64) >> self.dropped
        half = 1 << (self.shift - 1)
        values: NDArray[np.int64] = self.base + ((score * self.multiplier + half) >> self.shift)
        return values
