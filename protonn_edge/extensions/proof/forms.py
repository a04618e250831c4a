"""Sums of tables, which is what values of a program are of its inputs.

A `Root` is a variable that takes finitely many values: an input, or the value of an earlier sum. A
`SumForm` is an integer, ``constant + sum of table_r[r]`` over roots r. What touches one root is
computed for each of its values; what adds different roots is added. The only other arithmetic is
that of carries, for the bytes ``floor(F / 2**k) mod 256`` of forms and any integers X and Y::

    byte_k(X) + byte_k(Y) + carry_k = byte_k(X + Y) mod 256

where ``carry_k`` is 1 if ``X mod 2**k + Y mod 2**k >= 2**k``, and the same for differences. A byte
may begin at any bit k, so shifts of several bytes to the right change k alone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import count
from typing import Any, NamedTuple
from weakref import WeakValueDictionary

import numpy as np
from numpy.typing import ArrayLike, NDArray

Integers = NDArray[np.int64]
Mask = NDArray[np.bool_]
_LARGE = 1_024  # tables, whose minimum costs less than their bytes
Largest = frozenset[tuple[int, frozenset[tuple["Root", "Summand"]]]]


class Unproven(Exception):
    """Why a proof stops: the program may differ from its model, or is beyond what is provable."""


class Impossible(Exception):
    """No input leads to this state."""


class Root:
    """A variable; index i stands for the integer ``values[i]``.

    Attributes
    ----------
    of, dropped : SumForm or None, int
        If it is a *cut*, the value ``floor(of / 2**dropped)`` of a sum.
    boxes : sequence of mappings of roots to masks
        If it is a *way*, where its values are taken: each within one of these boxes.
    factors : sequence of Root
        If it is a *pair*, the two roots whose combined values it takes, the second one's first.
    low_of : SumForm or None
        If it is the lowest byte of a sum, that sum; proofs let it be any byte.
    largest_of : frozenset of tuple
        If it is a *maximum*, the constants and tables of the sums of which it is the largest.
    part_of : tuple of SumChoice and int, or None
        If it is a byte of a *choice*, the choice and the bit at which the byte begins; the highest
        one has the sign.
    is_address : bool
        Whether it is the address of an array, of which only the distances from it are known.
    """

    _numbers = count()

    def __init__(
        self,
        name: str,
        values: ArrayLike,
        of: SumForm | None = None,
        dropped: int = 0,
        boxes: Sequence[Mapping[Root, Mask]] = (),
        factors: Sequence[Root] = (),
        low_of: SumForm | None = None,
        largest_of: Largest = frozenset(),
        part_of: tuple[SumChoice, int] | None = None,
        is_address: bool = False,
    ) -> None:
        self.name = name
        self.values = np.asarray(values, np.int64)
        self.size = len(self.values)
        self.of, self.dropped, self.boxes, self.factors = of, dropped, boxes, factors
        self.low_of, self.largest_of, self.part_of = low_of, largest_of, part_of
        self.is_address = is_address
        self.number = next(self._numbers)

    def __repr__(self) -> str:
        return self.name


class Summand:
    """Integers over the values of a root, of which the first is 0; equal ones are one object."""

    __slots__ = ("__weakref__", "array", "high", "low")

    def __init__(self, array: Integers) -> None:
        self.array = array
        self.low, self.high = int(array.min()), int(array.max())

    @staticmethod
    def of(root: Root, array: Integers) -> Summand:
        """Return the table with these values."""
        key = root.number, _content(array)
        table = _TABLES.get(key)
        if table is None:
            table = Summand(array)
            _check_fits(table.low, table.high)
            _TABLES[key] = table
        return table


def _content(array: Integers) -> bytes:
    """Return bytes that only these integers have among those of a root; few, if they are many."""
    if array.size < _LARGE:
        return array.tobytes()
    bits = max(int(array.max()), -1 - int(array.min())).bit_length()
    size = next(size for size in (1, 2, 4, 8) if bits < 8 * size)  # more integers: more bytes
    return array.astype(f"i{size}").tobytes()


def _check_fits(*ends: int) -> None:
    """Refuse numbers that sums of two of them may not hold."""
    if max(map(abs, ends)) >= 1 << 62:
        raise Unproven("a number of more than 62 bits")


_TABLES: WeakValueDictionary[tuple[int, bytes], Summand] = WeakValueDictionary()


class SumForm:
    """An integer: a constant, and a table for each of some roots; with bounds."""

    __slots__ = ("constant", "high", "low", "tables")

    def __init__(
        self,
        constant: int,
        tables: dict[Root, Summand],
        bounds: tuple[int, int] | None = None,  # if they are known
    ) -> None:
        self.constant, self.tables = constant, tables
        if bounds is None:
            bounds = (
                constant + sum(each.low for each in tables.values()),
                constant + sum(each.high for each in tables.values()),
            )
        self.low, self.high = bounds

    def __repr__(self) -> str:
        roots = ", ".join(root.name for root in [*self.tables][:3])
        more = "..." if len(self.tables) > 3 else ""
        return f"a sum of {roots or 'nothing'}{more} in {self.low}..{self.high}"

    def equals(self, other: SumForm) -> bool:
        """Whether it is the same constant and tables."""
        return self is other or (self.constant == other.constant and self.tables == other.tables)

    @property
    def root(self) -> Root | None:
        """Its only root, if it has one."""
        return next(iter(self.tables)) if len(self.tables) == 1 else None

    def array(self) -> Any:
        """Return its values over its only root; a number if it has none."""
        if len(self.tables) > 1:
            raise Unproven(f"{self} is no function of one value")
        _check_fits(self.constant)
        for table in self.tables.values():
            return table.array + self.constant
        return np.int64(self.constant)

    def table(self, root: Root) -> Any:
        """Return the table over a root, or 0."""
        return self.tables[root].array if root in self.tables else np.int64(0)

    def without(self, root: Root) -> SumForm:
        """Return the form without its table over a root."""
        if root not in self.tables:
            return self
        tables = dict(self.tables)
        table = tables.pop(root)
        return SumForm(self.constant, tables, (self.low - table.low, self.high - table.high))


class SumChoice(NamedTuple):
    """A value that is one sum where a difference is negative, and else another one."""

    difference: SumForm
    less: SumForm
    other: SumForm


class Named(NamedTuple):
    """A choice, and the two sums between which it chooses."""

    chosen: SumForm
    less: SumForm
    other: SumForm


def constant(number: int) -> SumForm:
    """Return a number as a form."""
    return SumForm(number, {}, (number, number))


def single(root: Root, values: ArrayLike) -> SumForm:
    """Return the form with these values over a root."""
    array = np.asarray(values, np.int64)
    first = int(array[0])
    array = array - first
    return SumForm(first, {root: Summand.of(root, array)}) if array.any() else constant(first)


def variable(root: Root) -> SumForm:
    """Return a root's value."""
    return single(root, root.values)


def plus(x: SumForm, y: SumForm, times: int = 1) -> SumForm:
    """Return ``x + times * y``, where `times` is 1 or -1."""
    number = x.constant + times * y.constant
    if not y.tables:
        shift = times * y.constant
        return SumForm(number, x.tables, (x.low + shift, x.high + shift)) if shift else x
    if not x.tables and times == 1:
        return SumForm(number, y.tables, (y.low + x.constant, y.high + x.constant))
    tables = dict(x.tables)
    low, high = x.low + times * y.constant, x.high + times * y.constant
    for root, other in y.tables.items():
        own = tables.get(root)
        if own is None:
            table = other if times == 1 else Summand.of(root, -other.array)
        else:
            low, high = low - own.low, high - own.high
            array = own.array + times * other.array
            if not array.any():
                del tables[root]
                continue
            table = Summand.of(root, array)
        tables[root] = table
        low, high = low + table.low, high + table.high
    return SumForm(number, tables, (low, high))


def minus(x: SumForm, y: SumForm) -> SumForm:
    """Return ``x - y``."""
    return plus(x, y, -1)


def ends_of_sum(x: SumForm, y: SumForm, times: int = 1) -> tuple[int, int]:
    """Return the bounds of ``x + times * y``, which need no form of it."""
    low, high = x.low + times * y.constant, x.high + times * y.constant
    for root, other in y.tables.items():
        own = x.tables.get(root)
        if own is None:
            ends = times * other.low, times * other.high
            low, high = low + min(ends), high + max(ends)
        elif own is other:  # which is added to itself, or ends
            low, high = low + times * own.low, high + times * own.high
        else:
            array = own.array + times * other.array
            low, high = low + int(array.min()) - own.low, high + int(array.max()) - own.high
    return low, high


def different_parts(x: SumForm, y: SumForm) -> tuple[SumForm, SumForm]:
    """Return two forms without the tables that both of them have: their difference is the same."""
    alone = x.tables.items() ^ y.tables.items()
    parts = [
        {root: table for root, table in alone if each.tables.get(root) is table} for each in (x, y)
    ]
    return SumForm(x.constant, parts[0]), SumForm(y.constant, parts[1])


def scaled(x: SumForm, factor: int) -> SumForm:
    """Return ``factor * x``."""
    if factor in (0, 1):
        return x if factor else constant(0)
    for each in x.tables.values():
        _check_fits(factor * each.low, factor * each.high)
    tables = {root: Summand.of(root, factor * each.array) for root, each in x.tables.items()}
    return SumForm(factor * x.constant, tables)


def factor_of(x: SumForm, y: SumForm) -> int:
    """Return a number k, so that ``x - k * y`` is a number if x is a multiple of y."""
    if x.tables.keys() != y.tables.keys() or not y.tables:
        return 1
    root = next(iter(y.tables))
    at = int(np.argmax(np.abs(y.table(root))))
    return int(x.table(root)[at]) // int(y.table(root)[at])


def rest_of(array: Any, modulus: int) -> Any:
    """Return what integers are modulo a number, which may be larger than all of them."""
    return array if modulus > 1 << 62 else array % modulus


def congruent(x: SumForm, y: SumForm, modulus: int) -> bool:
    """Whether two forms are proven equal modulo a number: table by table."""
    if x.equals(y):
        return True
    if (x.constant - y.constant) % modulus:
        return False
    return not any(
        x.tables.get(root) is not y.tables.get(root)
        and np.any(rest_of(x.table(root) - y.table(root), modulus))
        for root in x.tables.keys() | y.tables.keys()
    )


def fitting(
    form: SumForm, modulus: int, bounds: tuple[int, int], *, signed: bool
) -> SumForm | None:
    """Return the form, moved by a multiple of the modulus into its range, if that is possible.

    Its value is within the bounds.
    """
    least = -(modulus >> 1) if signed else 0
    move = (bounds[0] - least) // modulus * modulus
    return plus(form, constant(-move)) if bounds[1] - move < least + modulus else None


def recentred(form: SumForm, modulus: int) -> SumForm:
    """Return a form congruent to this one, with tables that span less if that is possible."""
    half, tables = modulus >> 1, {}
    for root, table in form.tables.items():
        best = table.array
        if table.high - table.low >= half >> 1:
            around = (best + half) % modulus - half
            steps = np.cumsum((np.diff(best) + half) % modulus - half)
            for array in (around, np.concatenate([[0], steps])):
                if np.ptp(array) < np.ptp(best):
                    best = array
        if best.any():
            tables[root] = Summand.of(root, best)
    return SumForm((form.constant + half) % modulus - half, tables)


def nearest_numbers(numbers: ArrayLike, modulus: int) -> Integers:
    """Return numbers congruent to these that span the least, such as 1 and -1 for 1 and 65535."""
    given = np.asarray(numbers)
    ascending = np.sort(given % modulus)
    gap = int(np.diff(ascending, append=ascending[0] + modulus).argmax())
    above = (given - ascending[(gap + 1) % len(ascending)]) % modulus
    return given if np.ptp(given) < modulus >> 1 else np.asarray(above + (given[0] - above[0]))


def expanded(form: SumForm) -> SumForm:
    """Return a form with functions of other roots in place of those that stand for their values."""
    for root, table in form.tables.items():
        of = None if root.dropped else root.of
        if of is None or of.root is None:
            continue
        values = of.array()
        at = np.searchsorted(root.values, values).clip(0, root.size - 1)
        if (root.values[at] == values).all():
            form = plus(form.without(root), single(of.root, table.array[at]))
    return form


def where(
    root: Root, mask: Mask, x: SumForm, y: SumForm, *, modulus: int = 1 << 62
) -> SumForm | None:
    """Return a form congruent to x where the mask is set, else to y; None if other roots differ."""
    if any(each is not root for each in minus(x, y).tables):
        return None
    one, other = x.table(root) + x.constant, y.table(root) + y.constant
    rest = plus(x.without(root), constant(-x.constant))
    return plus(rest, single(root, nearest_numbers(np.where(mask, one, other), modulus)))


def restricted(form: SumForm, root: Root, mask: Mask) -> SumForm:
    """Return a form that is equal where the mask is set, with one value elsewhere."""
    if root not in form.tables:
        return form
    table = form.tables[root].array
    return plus(form.without(root), single(root, np.where(mask, table, table[np.argmax(mask)])))


class Byte:
    """The byte of a form from a bit on: ``floor(form / 2**bit) mod 256``."""

    __slots__ = ("bit", "form")

    def __init__(self, form: SumForm, bit: int) -> None:
        self.form, self.bit = form, bit

    def __repr__(self) -> str:
        return f"the byte at bit {self.bit} of {self.form}"

    def array(self) -> Any:
        """Return its values, if the form has one root."""
        return self.form.array() >> self.bit & 255

    def is_at(self, bit: int) -> bool:
        """Whether its form has it at this bit, too: at its own, or if both repeat a sign."""
        limit = 1 << min(bit, self.bit)
        return bit == self.bit or (-limit <= self.form.low and self.form.high < limit)


Value = int | Byte | None
"""A byte of a program; None if it is undefined."""


def byte_of(form: SumForm, place: int) -> int | Byte:
    """Return a byte of a form, 0 being the lowest one."""
    return Byte(form, 8 * place) if form.tables else form.constant >> 8 * place & 255


def same(x: object, y: object) -> bool:
    """Whether two bytes are proven equal, the cheap way."""
    if x is y:
        return True
    if not isinstance(x, Byte) or not isinstance(y, Byte):
        return isinstance(x, int) and isinstance(y, int) and x == y
    return x.bit == y.bit and x.form.equals(y.form)


class Bit:
    """A bit that depends on one root: set where the mask is."""

    __slots__ = ("form", "mask", "root")

    def __init__(self, root: Root, mask: Mask, form: SumForm | None = None) -> None:
        self.root, self.mask = root, mask
        self.form = form  # it is set where this form is negative, if there is one

    def number(self) -> SumForm:
        """Return 0 or 1 as a form."""
        return single(self.root, self.mask.astype(np.int64))


class Order:
    """A bit that is set if one sum is less than another, or if they are equal."""

    __slots__ = ("equal", "x", "y")

    def __init__(self, x: SumForm, y: SumForm, *, equal: bool = False) -> None:
        self.x, self.y, self.equal = x, y, equal

    def number(self) -> SumForm:
        """Refuse: it is no sum of tables."""
        raise Unproven(f"a comparison of sums is used as a number: {minus(self.x, self.y)}")


Condition = int | Bit | Order


def bit_of(root: Root, mask: Mask, form: SumForm | None = None) -> int | Bit:
    """Return a bit: a number, if it is the same for all values of the root."""
    if mask.all():
        return 1
    return Bit(root, mask, form) if mask.any() else 0
