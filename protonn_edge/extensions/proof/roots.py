"""Variables that a proof makes: sums that are cut, their lowest bytes, and pairs."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

import numpy as np

from protonn_edge.extensions.proof.facts import ComparedSums, OrderFacts
from protonn_edge.extensions.proof.forms import (
    Impossible,
    Integers,
    Mask,
    Root,
    SumForm,
    Summand,
    Unproven,
    constant,
    ends_of_sum,
    factor_of,
    minus,
    plus,
    rest_of,
    scaled,
    single,
)

_MOST_PAIRS = 1 << 16  # values of two roots together
_BYTES = 256
_LATEST = 8  # comparisons


class Roots:
    """Roots that a proof makes, and bounds of sums of them."""

    MOST_VALUES = 1 << 23
    """A root has no more values."""
    WIDE = 1 << 17
    """Sums of more values are cut without their lowest byte, if that does not matter."""

    def __init__(self) -> None:
        self.sums = ComparedSums()
        # of the state that is being executed
        self.facts: OrderFacts = ()
        self.masks: Mapping[Root, Mask] = {}
        self.orders_sums = False  # whether a sum's sign is a fact, not a function of the sum
        self._cuts: dict[Any, Root] = {}
        self._factors: dict[frozenset[Summand], int] = {}
        self._latest: deque[SumForm] = deque(maxlen=8)
        self._lowest: dict[Any, Root] = {}
        # roots of sums, or of their lowest bytes beside those above
        self._summed: dict[Root, Root | None] = {}
        self._pairs: dict[tuple[Root, Root], Root] = {}
        self._reduced: dict[Any, SumForm] = {}
        self._is_multiple = lru_cache(maxsize=2_048)(_is_multiple)

    # ---- roots ----

    def cut(self, form: SumForm, dropped: int = 0) -> tuple[Root, Integers]:
        """Return a root for a sum, and the sum's value there; without its lowest bits.

        Multiples of a sum have its root: with G of these bits, ``floor((2**g F + rest) / 2**G)`` is
        ``floor(F / 2**(G - g))`` for a rest below ``2**g``, and g not more than G.
        """
        return self._cut(form, dropped, self._domain(form))

    def spread(self, form: SumForm) -> int:
        """Return how far the values of a sum are apart, but for a factor that all of them share."""
        low, high = self._domain(form)
        return (high - low) // self._factor(form)

    def _factor(self, form: SumForm) -> int:
        """Return the greatest common divisor of a sum's tables."""
        tables = frozenset(form.tables.values())
        if tables not in self._factors:
            self._factors[tables] = int(
                np.gcd.reduce([1, *(np.gcd.reduce(t.array) for t in tables)][bool(tables) :])
            )
        return self._factors[tables]

    def _cut(self, form: SumForm, dropped: int, bounds: tuple[int, int]) -> tuple[Root, Integers]:
        (low, high), factor = bounds, self._factor(form)
        if dropped:
            factor = min(factor & -factor, 1 << dropped)
        if factor > 1:
            rest, tables = form.constant % factor, form.tables.items()
            part = SumForm(
                form.constant // factor,
                {root: Summand.of(root, table.array // factor) for root, table in tables},
            )
            bounds = -((rest - low) // factor), (high - rest) // factor
            bits = factor.bit_length() - 1 if dropped else 0
            of_part, array = self._cut(part, dropped - bits, bounds)
            return of_part, array if dropped else factor * array + rest
        rest = form.constant & (1 << dropped) - 1
        whole = form.constant - rest
        low, high = (low - whole) >> dropped, (high - whole) >> dropped
        if high < low:
            raise Impossible
        if high - low >= self.MOST_VALUES:
            raise Unproven(f"a function of {high - low + 1:,} values")
        key = frozenset(form.tables.items()), rest, low, high, dropped
        root = self._cuts.get(key)
        if root is None:
            of = SumForm(rest, form.tables)
            root = Root(f"sum{len(self._cuts)}", np.arange(low, high + 1), of, dropped)
            self._cuts[key] = root
            if not dropped and form.root is None:
                self._summed[root] = None
        return root, root.values + (whole >> dropped)

    def lowest(self, form: SumForm) -> Root:
        """Return a root for the lowest byte of a sum, beside that of the bytes above."""
        above, _ = self.cut(form, 8)
        key = above, form.constant & 255
        if key not in self._lowest:
            root = Root(
                f"low{len(self._lowest)}",
                np.arange(_BYTES),
                low_of=plus(form, constant((form.constant & 255) - form.constant)),
            )
            self._lowest[key], self._summed[root] = root, above
        return self._lowest[key]

    def whole(self, form: SumForm, modulus: int) -> SumForm:
        """Return a congruent form, with multiples of sums added to others for those of bytes."""
        summed = form.tables.keys() & self._summed.keys()
        for root in sorted(summed, key=lambda each: each.number):  # of sums before those of them
            above = self._summed[root]
            if root not in form.tables or form.tables.keys() <= {root, above}:
                continue
            factor, of = int(form.table(root)[1]), root.low_of or root.of
            assert of is not None
            parts = [(root, factor), *([(above, factor * _BYTES)] if above else [])]
            if all(self._is_multiple(each, form.tables.get(each), k, modulus) for each, k in parts):
                for each, k in parts:
                    form = plus(form.without(each), constant(-k * int(each.values[0])))
                form = plus(form, scaled(of, factor))
        return form

    def forget(self) -> None:
        """Compute for all inputs, not those of one state."""
        self.facts, self.masks = (), {}

    def bounds(self, form: SumForm, *, by_cuts: bool = False) -> tuple[int, int]:
        """Return bounds of a form, with the range that the latest comparisons leave.

        They are not the form's own: those are the sums of its tables' bounds, always.
        """
        low, high = self.masked_bounds(form)
        for root, mask in self.masks.items() if by_cuts else ():
            of = root.of
            if of is not None and of.tables.keys() & form.tables.keys() and mask.any():
                factor, inside = factor_of(form, of), root.values[mask]
                least, most = self.masked_bounds(minus(form, scaled(of, factor)))
                first = factor * (int(inside.min()) << root.dropped)
                last = factor * ((int(inside.max()) + 1 << root.dropped) - 1)
                low, high = max(low, least + min(first, last)), min(high, most + max(first, last))
        for fact in self.facts[-_LATEST:]:
            difference = self.sums.difference(fact.lower, fact.upper)
            high = min(high, ends_of_sum(form, difference, -1)[1] - fact.strict)
            low = max(low, ends_of_sum(form, difference)[0] + fact.strict)
        return low, high

    def _domain(self, form: SumForm) -> tuple[int, int]:
        """Return bounds that most states share, so that a sum has one root."""
        return self.bounds(form) if self.facts else (form.low, form.high)

    def masked_bounds(self, form: SumForm) -> tuple[int, int]:
        """Return bounds of a form where roots are within the masks."""
        low, high = form.low, form.high
        for root in self.masks.keys() & form.tables.keys():
            table, inside = form.tables[root], form.tables[root].array[self.masks[root]]
            if inside.size:
                low += int(inside.min()) - table.low
                high += int(inside.max()) - table.high
        return low, high

    def reduced(self, form: SumForm) -> SumForm:
        """Return a function of a large root as a root of its own, with the values that it takes."""
        root = form.root
        if root is None or root.size <= _BYTES or root.factors:
            return form
        key = form.constant, root, form.tables[root]
        if key not in self._reduced:
            values = np.unique(form.array())
            self._reduced[key] = single(Root(f"value{len(self._reduced)}", values, form), values)
        return self._reduced[key]

    def pair(self, one: Root, other: Root) -> Root:
        """Return the root of all pairs of values of two roots."""
        if one.size * other.size > _MOST_PAIRS:
            raise Unproven("a product of two sums")
        if (one, other) not in self._pairs:
            size = one.size * other.size
            pair = Root(f"{one}*{other}", np.arange(size), factors=(one, other))
            self._pairs[one, other] = pair
        return self._pairs[one, other]


def _is_multiple(root: Root, table: Summand | None, factor: int, modulus: int) -> bool:
    """Whether a table over a root is this multiple of its value, but for a constant."""
    multiple = factor * (root.values - root.values[0])
    return not np.any(rest_of((table.array if table else 0) - multiple, modulus))
