"""Which bits of which sum a term is. Terms that are the same bits of equal sums become one term.

Machine code adds numbers of several bytes byte by byte, with a carry. Here bytes, carries,
products, shifts and signs are put together again: a byte is floor(sum / 2**low) mod 2**bits of a
sum of atoms with integer factors. So sums that two programs compute in different orders, or skip
where a factor is 0, are equal without a solver. `test_sums` checks what is recorded of terms with
numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

Atom = Any
"""A kind ("u" without a sign, "s" with one, "p" for a product) and the numbers of its terms."""
Ends = tuple[int, int]
"""The least and the largest value."""


class Form:
    """An integer: a sum of atoms with factors, and its ends. The constant has the atom None."""

    __slots__ = ("ends", "factors", "ranges")

    def __init__(self, ranges: Mapping[Atom, Ends], factors: dict[Atom, int], ends: Ends) -> None:
        self.ranges, self.factors, self.ends = ranges, factors, ends

    def plus(self, other: Form, factor: int = 1) -> Form:
        """Return the sum with a multiple of another."""
        if not self.factors and factor == 1:
            return other
        return self.plus_all((atom, factor * each) for atom, each in other.factors.items())

    def plus_all(self, more: Iterable[tuple[Atom, int]]) -> Form:
        """Return the sum with multiples of atoms."""
        factors, (low, high) = dict(self.factors), self.ends
        for atom, factor in more:
            before = factors.get(atom, 0)
            after = before + factor
            if after:
                factors[atom] = after
            else:
                factors.pop(atom, None)
            least, most = self.ranges[atom]
            for sign, times in ((1, after), (-1, before)):
                ends = (least, most) if times > 0 else (most, least)
                low, high = low + sign * times * ends[0], high + sign * times * ends[1]
        return Form(self.ranges, factors, (low, high))

    def is_within(self, low: int, high: int) -> bool:
        """Return whether it is at least one number and below another."""
        return low <= self.ends[0] and self.ends[1] < high

    @property
    def number(self) -> int | None:
        """The number that it is, or None."""
        return self.factors.get(None, 0) if self.factors.keys() <= {None} else None


class Slice(NamedTuple):
    """Some bits of a sum: floor(form / 2**low) mod 2**bits."""

    form: Form
    low: int
    bits: int

    @property
    def key(self) -> tuple[int, int, frozenset[tuple[Atom, int]]]:
        """What is equal of equal bits."""
        mask = (1 << self.low + self.bits) - 1
        items = self.form.factors.items()
        left = frozenset((atom, factor & mask) for atom, factor in items if factor & mask)
        return (self.low, self.bits, left) if left else (0, 0, left)


class Chain(NamedTuple):
    """A byte of a sum or difference under way: all bytes of both operands up to it."""

    operands: tuple[tuple[Any, ...], tuple[Any, ...]]
    carry: Form
    sign: int


class Sums:
    """What is known of the terms of a proof; `top_bit` makes a term of the upper bit of a byte."""

    def __init__(self, top_bit: Callable[[Any], Any]) -> None:
        self.slices: dict[int, Slice] = {}
        self.atoms: dict[Atom, tuple[Any, ...]] = {}  # terms, and for a product also signs
        self.terms: dict[int, Any] = {}  # the number of a term that is gone is given to another
        self._top_bit = top_bit
        self._named: dict[Hashable, Any] = {}
        self._chains: dict[int, Chain] = {}
        self._added: dict[int, tuple[Form, int, bool]] = {}
        self._ranges: dict[Atom, Ends] = {None: (1, 1)}
        self._nothing = Form(self._ranges, {}, (0, 0))

    # ---- what a value is ----

    def slice_of(self, value: Any) -> Slice:
        """Return what is known of a value."""
        if isinstance(value, int):
            return Slice(self._constant(value), 0, max(1, value.bit_length()))
        known = self.slices.get(value.get_id())
        return known or Slice(self._alone(value), 0, value.size())

    def _constant(self, number: int) -> Form:
        return Form(self._ranges, {None: number}, (number, number))

    def _atom(self, atom: Atom, ends: Ends, *of: Any) -> Form:
        self._ranges[atom] = ends
        self.atoms[atom] = of
        return Form(self._ranges, {atom: 1}, ends)

    def _alone(self, value: Any) -> Form:
        size = value.size()
        form = self._atom(("u", value.get_id()), (0, (1 << size) - 1), value)
        self._named.setdefault((size, *Slice(form, 0, size).key), value)
        return form

    def number(self, value: Any) -> Form:
        """Return the integer that a value is, without a sign."""
        form, low, bits = self.slice_of(value)
        exact = self._unsigned(form, bits, value) if low == 0 else None
        return exact or self._alone(value)

    def _unsigned(self, form: Form, bits: int, top: Any) -> Form | None:
        """Return form mod 2**bits, whose upper bit is that of a byte, if that can be said."""
        half = 1 << bits - 1
        if form.is_within(0, 2 * half):
            return form
        if bits >= 8 and form.is_within(-half, half):
            return form.plus(self.number(self._top_bit(top)), 2 * half)
        return None

    def _signed(self, value: Any) -> Form:
        """Return the integer that a byte is, with a sign."""
        if isinstance(value, int):
            return self._constant(value - (value >> 7 << 8))
        form, low, _ = self.slice_of(value)
        if low == 0 and form.is_within(-128, 128):
            return form
        return self._atom(("s", value.get_id()), (-128, 127), value)

    def _word(self, values: Sequence[Any]) -> Form:
        """Return a form that agrees with so many bytes, as far as they go."""
        form = self._nothing
        for at, value in enumerate(values):
            own = self.slice_of(value)
            if not form.is_within(0, 1 << 8 * at):
                if _are_equal(Slice(form, 8 * at, 8), own):
                    continue
                form = self._unsigned(form, 8 * at, values[at - 1]) or self._of_bytes(values[:at])
            whole = own.low == 0 and own.bits == 8
            form = form.plus(own.form if whole else self.number(value), 1 << 8 * at)
        return form

    def _of_bytes(self, values: Sequence[Any]) -> Form:
        form = self._nothing
        for place, each in enumerate(values):
            form = form.plus(self.number(each), 1 << 8 * place)
        return form

    # ---- terms ----

    def named(self, value: Any, some: Slice) -> Any:
        """Return the first term for these bits, or their number."""
        some = _simplest(some)
        number = some.form.number
        if number is not None:
            return number
        key = some.key
        if not key[2]:
            return 0
        value = self._named.setdefault((value.size(), *key), value)
        self.terms[value.get_id()] = value
        self.slices.setdefault(value.get_id(), some)
        return value

    def total(self, total: Any, a: Any, b: Any, carry: Any, sign: int) -> None:
        """Know of a term of 9 bits that it is a + sign * (b + carry)."""
        before = None if isinstance(carry, int) else self._chains.get(carry.get_id())
        if before is None or before.sign != sign:
            before = Chain(((), ()), self.number(carry), sign)
        first, second = before.operands
        self.terms[total.get_id()] = total
        self._chains[total.get_id()] = Chain(((*first, a), (*second, b)), before.carry, sign)

    def is_total(self, value: Any) -> bool:
        """Return whether a term is one of those."""
        return value.size() == 9 and value.get_id() in self._chains

    def part_of_total(self, total: Any, part: Any) -> Any:
        """Return the result (8 bits) or carry (1 bit) of a sum."""
        chain = self._chains[total.get_id()]
        form, end, carries = self._added.get(total.get_id()) or self._sum_of(chain)
        self._added[total.get_id()] = form, end, carries
        if part.size() == 8:
            return self.named(part, Slice(form, end - 8, 8))
        if carries:
            part = self.named(part, Slice(form, end, 1))
        if not isinstance(part, int):
            self.terms[part.get_id()] = part
            self._chains[part.get_id()] = chain
        return part

    def _sum_of(self, chain: Chain) -> tuple[Form, int, bool]:
        """Return a sum, where its bytes end, and whether what is above is the carry."""
        a, b = (self._word(each) for each in chain.operands)
        end = 8 * len(chain.operands[0])
        form = a.plus(b, chain.sign).plus(chain.carry, chain.sign)
        return form, end, a.is_within(0, 1 << end) and b.is_within(0, 1 << end)

    def part(self, value: Any, part: Any, low: int, bits: int) -> Any:
        """Return some bits of a term."""
        if value.size() > 8 and value.get_id() not in self.slices:
            return part  # of a product, of which more is known in a moment
        form, at, size = self.slice_of(value)
        return self.named(part, Slice(form, at + low, max(0, min(bits, size - low))))

    def plus(self, result: Any, value: Any, by: int) -> Any:
        """Return the sum with a number."""
        form, low, bits = self.slice_of(value)
        if bits < result.size():
            form, low, bits = self.number(value), 0, result.size()
        return self.named(result, Slice(form.plus(self._constant(by << low)), low, bits))

    def joined(self, result: Any, values: Sequence[Any]) -> Any:
        """Return the number of some bytes, the lowest one first."""
        return self.named(result, Slice(self._word(values), 0, result.size()))

    def shifted(self, result: Any, before: Any, top: Any) -> Any:
        """Return a byte shifted down by one, with another top bit."""
        form, low, bits = self.slice_of(before)
        if isinstance(top, int) and top == 0:
            return self.named(result, Slice(form, low + 1, bits - 1))
        # what has no more bits but its sign has the same one above
        if bits == 8 and _are_equal(self.slice_of(top), Slice(form, low + 8, 1)):
            return self.named(result, Slice(form, low + 1, 8))
        return result

    def product(self, parts: Sequence[Any], factors: Sequence[Any], signs: Sequence[bool]) -> Any:
        """Return the bytes of a product."""
        pairs = list(zip(factors, signs, strict=True))
        one, other = (self._signed(each) if sign else self.number(each) for each, sign in pairs)
        if one.number is not None:
            form = self._nothing.plus(other, one.number)
        elif other.number is not None:
            form = self._nothing.plus(one, other.number)
        else:
            atom = ("p", *sorted((each.get_id(), sign) for each, sign in pairs))
            self.terms |= {each.get_id(): each for each in factors}
            ends = [a * b for a in one.ends for b in other.ends]
            form = self._atom(atom, (min(ends), max(ends)), *pairs)
        low, high = parts
        return self.named(low, Slice(form, 0, 8)), self.named(high, Slice(form, 8, 8))

    # ---- choices ----

    def chosen(self, result: Any, bit: Any, one: int, other: int) -> Any:
        """Return one number where a bit is set, else another."""
        form, low, bits = self.slice_of(bit)
        if (one, other) == (255, 0) and bits == 1 and form.is_within(-1 << low, 1 << low):
            return self.named(result, Slice(form, low, 8))  # a sign, over all of a byte
        form = self._constant(other).plus(self.number(bit), one - other)
        return self.named(result, Slice(form, 0, result.size()))

    def counted(self, result: Any, bit: Any, one: Any, other: Any) -> Any:
        """Return one value where a bit is set, else another: their difference may be a number."""
        a, b = self.slice_of(one), self.slice_of(other)
        if a.low != b.low or not a.bits == b.bits == result.size():
            return result
        modulus, difference = 1 << a.low + a.bits, a.form.plus(b.form, -1).factors
        if any(factor % modulus for atom, factor in difference.items() if atom is not None):
            return result
        form = b.form.plus(self.number(bit), difference.get(None, 0))
        return self.named(result, Slice(form, b.low, b.bits))

    def same_without(self, zero: Any, one: Any, other: Any) -> bool:
        """Return whether two values are equal where a term is 0."""
        number = zero.get_id()
        return self._left_without(one, number).key == self._left_without(other, number).key

    def _left_without(self, value: Any, number: int) -> Slice:
        form, low, bits = self.slice_of(value)
        gone = [(atom, -f) for atom, f in form.factors.items() if _has(atom, number)]
        return _simplest(Slice(form.plus_all(gone), low, bits))


def _has(atom: Atom, number: int) -> bool:
    """Return whether an atom is a term, or a product with it."""
    if atom is None:
        return False
    if atom[0] == "p":
        return number in (atom[1][0], atom[2][0])
    return bool(atom[1] == number)


def _are_equal(one: Slice, other: Slice) -> bool:
    return _simplest(one).key == _simplest(other).key


def _simplest(some: Slice) -> Slice:
    """Return the same bits of a smaller sum, where there is one."""
    form, low, bits = some
    number = 0 if bits <= 0 else form.number
    if number is not None:
        number = (number >> low) % (1 << max(0, bits))
        return Slice(Form(form.ranges, {None: number}, (number, number)), 0, number.bit_length())
    nothing = Form(form.ranges, {}, (0, 0))
    for by in range(low, 0, -8):  # what cannot reach up to there
        items = form.factors.items()
        below = [(atom, f) for atom, f in items if f % (1 << by)]
        if len(below) < len(items) and nothing.plus_all(below).is_within(0, 1 << by):
            form = nothing.plus_all((atom, f >> by) for atom, f in items if f % (1 << by) == 0)
            low -= by
            break
    if form.number is not None:
        return _simplest(Slice(form, low, bits))
    least, most = form.ends
    if least >= 0:
        bits = max(0, min(bits, most.bit_length() - low))
    else:  # nothing but the sign is left from here on
        low = min(low, max(most.bit_length(), (-least - 1).bit_length()))
    return Slice(form, low, bits)
