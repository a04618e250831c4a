"""Values that depend on which of two sums is less, and so on all inputs: they get a name.

Where the paths behind a comparison meet, a value may be x on one and y on the other. That is a
function of the inputs, so it may be a variable; and the variable may be the same one wherever the
comparison and both values are, such as in the model. So it is known which is the largest of some
sums, the second largest, and the place of either, without a path for each order of the sums.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from protonn_edge.extensions.proof.forms import (
    Byte,
    Largest,
    Named,
    Root,
    SumChoice,
    SumForm,
    Value,
    byte_of,
    congruent,
    constant,
    minus,
    plus,
    same,
    scaled,
    variable,
    where,
)
from protonn_edge.extensions.proof.roots import Roots

_BYTES = 256


class ChoiceRoots(Roots):
    """Roots of choices between two sums."""

    def __init__(self) -> None:
        super().__init__()
        self._maxima: dict[Largest, Root] = {}
        self._choices: dict[Any, SumForm] = {}

    def maximum(self, x: SumForm, y: SumForm) -> SumForm:
        """Return the larger of two sums; of more than two bytes, one root whatever their order."""
        difference = minus(x, y)
        if difference.high <= 0 or difference.low >= 0:
            return y if difference.high <= 0 else x
        together = _over_root(difference, y, x)
        if together is not None:
            return together
        least, most = max(x.low, y.low), max(x.high, y.high)
        if most - least >= _BYTES:
            known = self._choices.get(_key(SumChoice(minus(y, x), x, y)))
            return known or self._named(SumChoice(difference, y, x), least, most)
        parts: Largest = frozenset()
        for form in (x, y):
            root = form.root
            whole = root is not None and root.largest_of and form.equals(variable(root))
            one = frozenset({(form.constant, frozenset(form.tables.items()))})
            parts |= root.largest_of if root and whole else one
        if parts not in self._maxima:
            name = f"maximum{len(self._maxima)}"
            self._maxima[parts] = Root(name, np.arange(least, most + 1), largest_of=parts)
        return variable(self._maxima[parts])

    def chosen(self, difference: SumForm, less: SumForm, other: SumForm) -> SumForm:
        """Return the value that is one sum where a difference is negative, and else another one."""
        if less.equals(other) or difference.high < 0:
            return less
        if difference.low >= 0:
            return other
        rest = plus(difference, minus(less, other))
        if not rest.tables and rest.constant == 0:  # y where x - y < 0, else x
            return self.maximum(less, other)
        together = _over_root(difference, less, other)
        if together is not None:
            return together
        opposite = SumChoice(minus(constant(-1), difference), other, less)
        known = self._choices.get(_key(opposite))
        ends = min(less.low, other.low), max(less.high, other.high)
        return known or self._named(SumChoice(difference, less, other), *ends)

    def _named(self, choice: SumChoice, low: int, high: int) -> SumForm:
        """Return a value between two ends as the sum of its bytes, a root each."""
        key = _key(choice)
        if key not in self._choices:
            total, bit = constant(0), 0
            while (high >> bit) - (low >> bit) >= _BYTES:
                total = plus(total, self._part(choice, bit, 0, _BYTES - 1))
                bit += 8
            self._choices[key] = plus(total, self._part(choice, bit, low >> bit, high >> bit))
        return self._choices[key]

    def _part(self, choice: SumChoice, bit: int, low: int, high: int) -> SumForm:
        name = f"choice{len(self._choices)}.{bit}"
        root = Root(name, np.arange(low, high + 1), part_of=(choice, bit))
        return scaled(variable(root), 1 << bit)


def _over_root(difference: SumForm, less: SumForm, other: SumForm) -> SumForm | None:
    """Return a choice by a single root as a sum, if both sums have the same other tables."""
    root = difference.root
    return None if root is None else where(root, difference.array() < 0, less, other)


def _key(choice: SumChoice) -> Any:
    return tuple((each.constant, frozenset(each.tables.items())) for each in choice)


class Parted:
    """The common values of two states: in the first, x < y; in the other one, y <= x.

    All inputs of the first state that have x < y, and none of the other one, are there; so a value
    of both is the choice by ``x - y`` of what it is in each.
    """

    def __init__(self, choices: ChoiceRoots, x: SumForm, y: SumForm) -> None:
        self._choices, self._compared = choices, (x, y)
        self._difference = minus(x, y)
        self.named: list[Named] = []

    def value(self, values: list[Any]) -> Value:
        """Return the value that is the first one if x < y, else the second; None if there is none.

        Bytes at the same bit are those of a choice between their sums. Addresses are not chosen: a
        program that goes on with one of two has two paths.
        """
        less, other = values
        if same(less, other):
            return less  # type: ignore[no-any-return]
        bits = [each.bit for each in values if isinstance(each, Byte)]
        bit = max(bits, default=0)
        one, another = (self._sum(each, bit, alone=not bits) for each in values)
        if one is None or another is None:
            return None
        chosen = self._choices.chosen(self._difference, one, another)
        if not any(each.chosen is chosen for each in self.named):
            self.named.append(Named(chosen, one, another))
        return Byte(chosen, bit) if chosen.tables else chosen.constant >> bit & 255

    def larger(self, values: list[Any]) -> Value:
        """Return the value that is y where x < y, else x, if both are bytes; None if it is not."""
        if same(*values):
            return values[0]  # type: ignore[no-any-return]
        sums = self._compared[::-1]
        is_byte = all(form.low >= 0 and form.high < _BYTES for form in sums)
        for value, form in zip(values, sums, strict=True):
            is_byte &= isinstance(value, Byte) and value.bit == 0 and value.form.equals(form)
        return byte_of(self._choices.maximum(*sums), 0) if is_byte else None

    def _sum(self, value: object, bit: int, *, alone: bool) -> SumForm | None:
        """Return a sum with this byte at a bit: one of those that are compared, if possible."""
        if isinstance(value, int):
            numbers = [each for each in self._compared if not each.tables and not alone]
            fitting = (each for each in numbers if each.constant >> bit & 255 == value)
            return next(fitting, constant(value) if bit == 0 else None)
        if not isinstance(value, Byte) or not value.is_at(bit):
            return None
        if any(root.is_address for root in value.form.tables):
            return None
        modulus = _BYTES << bit
        alike = (each for each in self._compared if congruent(each, value.form, modulus))
        return next(alike, value.form)
