"""OrderFacts about sums: comparisons on the way to a place show which sum is less than which."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from itertools import permutations
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from protonn_edge.extensions.proof.forms import Mask, Named, Order, SumForm, ends_of_sum, minus


class OrderFact(NamedTuple):
    """The first of two numbered sums is less than the other one, or not larger.

    What `follows` from what both of two paths know is no comparison of the program.
    """

    lower: int
    upper: int
    strict: bool
    follows: bool = False


OrderFacts = tuple[OrderFact, ...]
_UNKNOWN = np.iinfo(np.int64).max


def before_parting(one: OrderFacts, other: OrderFacts) -> OrderFacts | None:
    """Return the comparisons before the last ones, if these alone differ: exactly one holds."""
    one, other = decided(one), decided(other)
    if not one or not other or one[:-1] != other[:-1]:
        return None
    last, opposite = one[-1], other[-1]
    return one[:-1] if opposite == OrderFact(last.upper, last.lower, not last.strict) else None


def decided(facts: OrderFacts) -> OrderFacts:
    """Return the comparisons of the program among facts."""
    return tuple(fact for fact in facts if not fact.follows)


class ComparedSums:
    """The sums that a program compares, by number, and conclusions from facts about them."""

    def __init__(self) -> None:
        self.forms: list[SumForm] = []
        self._highest = np.full((0, 0), _UNKNOWN)
        self._alike: dict[tuple[int, int, int], list[int]] = {}
        self.follows = lru_cache(maxsize=4096)(self._follows)
        self.common = lru_cache(maxsize=4096)(self._common)
        self.difference = lru_cache(maxsize=64)(self._difference)

    def number(self, form: SumForm) -> int:
        """Return the number of a form."""
        alike = self._alike.setdefault((form.constant, form.low, form.high), [])
        for number in alike:
            if self.forms[number].equals(form):
                return number
        alike.append(len(self.forms))
        self.forms.append(form)
        return alike[-1]

    def _difference(self, x: int, y: int) -> SumForm:
        """Return the difference of two numbered sums."""
        return minus(self.forms[x], self.forms[y])

    def told(self, order: Order, *, sense: bool) -> OrderFacts:
        """Return what is known if a comparison holds, or does not."""
        x, y = self.number(order.x), self.number(order.y)
        if order.equal:
            both = OrderFact(x, y, strict=False), OrderFact(y, x, strict=False)
            return both if sense else ()
        return (OrderFact(x, y, strict=True),) if sense else (OrderFact(y, x, strict=False),)

    def known(self, facts: OrderFacts, order: Order) -> bool | None:
        """Return whether a comparison holds, if earlier ones decide that.

        Facts about choices do not: choices have a name for each comparison, as in the model.
        """
        facts = decided(facts)
        if order.equal or not facts:
            return None
        x, y = self.number(order.x), self.number(order.y)
        if self.holds(facts, OrderFact(x, y, strict=True)):
            return True
        return False if self.holds(facts, OrderFact(y, x, strict=False)) else None

    def holds(self, facts: OrderFacts, fact: OrderFact) -> bool:
        """Whether a fact follows from others."""
        compared = {number for each in facts for number in each[:2]}
        more = tuple(sorted({fact.lower, fact.upper} - compared))
        at, no_more, less = self.follows(facts, more)
        place = at[fact.lower], at[fact.upper]
        return bool(less[place] if fact.strict else no_more[place])

    def inherited(
        self, one: OrderFacts, other: OrderFacts, named: Sequence[Named], held: set[int]
    ) -> OrderFacts:
        """Return facts about choices that both of two sets of facts imply.

        In the first, a choice is equal to its first sum; in the other one, to its second.
        """
        if not named:
            return ()
        numbers = [tuple(map(self.number, each)) for each in named]
        new, found = {each[0] for each in numbers}, []
        for facts, place in ((one, 1), (other, 2)):
            equal = [(each[0], each[place]) for each in numbers]
            equal += [(y, x) for x, y in equal]
            known = (*facts, *(OrderFact(x, y, strict=False) for x, y in equal))
            found.append(self.follows(known, tuple(sorted(new | held))))
        return tuple(
            OrderFact(x, y, strict=all(less[at[x], at[y]] for at, _, less in found), follows=True)
            for x, y in permutations(sorted(new | held), 2)
            if new & {x, y} and all(no_more[at[x], at[y]] for at, no_more, _ in found)
        )

    def _follows(
        self, facts: OrderFacts, more: tuple[int, ...]
    ) -> tuple[dict[int, int], Mask, Mask]:
        """Return the places of sums, and which is not larger, and which is less, than which."""
        nodes = tuple(sorted({*more, *(n for fact in facts for n in fact[:2])}))
        at = {number: place for place, number in enumerate(nodes)}
        highest = self._highest_differences(nodes)
        no_more, less = highest <= 0, highest < 0
        for fact in facts:
            place = at[fact.lower], at[fact.upper]
            no_more[place] = True
            less[place] |= fact.strict
        for k in range(len(nodes)):
            into, out = no_more[:, k, None], no_more[None, k]
            less |= (less[:, k, None] & out) | (into & less[None, k])
            no_more |= into & out
        return at, no_more, less

    def _highest_differences(self, nodes: tuple[int, ...]) -> NDArray[np.int64]:
        """Return the largest value of each difference of two sums, (n, n)."""
        if len(self._highest) < len(self.forms):
            grown = np.full((2 * len(self.forms),) * 2, _UNKNOWN)
            grown[: len(self._highest), : len(self._highest)] = self._highest
            self._highest = grown
        block = self._highest[np.ix_(nodes, nodes)]
        for i, j in np.argwhere(block == _UNKNOWN):
            x, y = nodes[i], nodes[j]
            low, high = ends_of_sum(self.forms[x], self.forms[y], -1)
            self._highest[x, y], self._highest[y, x] = high, -low
            block[i, j], block[j, i] = high, -low
        return block

    def _common(self, one: OrderFacts, other: OrderFacts) -> OrderFacts:
        """Return the facts that both of two sets of facts imply."""
        nodes = tuple(sorted({n for fact in (*one, *other) for n in fact[:2]}))
        _, no_more, less = self.follows(one, nodes)
        _, others, lesser = self.follows(other, nodes)
        both, strict = no_more & others, less & lesser
        return tuple(
            OrderFact(nodes[i], nodes[j], bool(strict[i, j]))
            for i, j in np.argwhere(both)
            if i != j
        )
