"""Bytes and bits of sums: what is computed for each value of a root, and what is compared."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from protonn_edge.proof.facts import ComparedSums, OrderFacts
from protonn_edge.proof.forms import (
    Bit,
    Byte,
    Condition,
    Impossible,
    Integers,
    Mask,
    Order,
    Root,
    SumForm,
    Unproven,
    Value,
    bit_of,
    byte_of,
    congruent,
    constant,
    fitting,
    minus,
    plus,
    scaled,
    single,
)

_MOST_PAIRS = 1 << 16  # values of two roots together
_BYTES = 256


class Roots:
    """Roots that a proof makes, and bytes as functions of them."""

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
        self._latest: deque[SumForm] = deque(maxlen=8)
        self._lowest: dict[Any, Root] = {}
        # roots of sums, or of their lowest bytes beside those above
        self._summed: dict[Root, Root | None] = {}
        self._pairs: dict[tuple[Root, Root], Root] = {}
        self._reduced: dict[Any, SumForm] = {}

    # ---- roots ----

    def cut(self, form: SumForm, dropped: int = 0) -> tuple[Root, Integers]:
        """Return a root for a sum, and the sum's value there; without its lowest bytes."""
        shift, (low, high) = 8 * dropped, self._domain(form)
        rest = form.constant & (1 << shift) - 1
        whole = form.constant - rest
        low, high = (low - whole) >> shift, (high - whole) >> shift
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
        return root, root.values + (whole >> shift)

    def lowest(self, form: SumForm) -> Root:
        """Return a root for the lowest byte of a sum, beside that of the bytes above."""
        above, _ = self.cut(form, 1)
        key = above, form.constant & 255
        if key not in self._lowest:
            root = Root(f"low{len(self._lowest)}", np.arange(_BYTES), low_of=above.of)
            self._lowest[key], self._summed[root] = root, above
        return self._lowest[key]

    def whole(self, form: SumForm, modulus: int) -> SumForm:
        """Return a congruent form, with multiples of sums added to others for those of bytes."""
        for root, above in self._summed.items():
            if root not in form.tables or form.tables.keys() <= {root, above}:
                continue
            factor, of = int(form.table(root)[1]), root.low_of or root.of
            assert of is not None
            first = constant(-factor * int(root.values[0]))
            left = [(root, 1)] if above is None else [(root, 1), (above, _BYTES)]
            if above is not None:
                first = constant(-factor * _BYTES * int(above.values[0]))
            rest = form
            for each, scale in left:
                linear = scale * factor * (each.values - each.values[0])
                if np.any((form.table(each) - linear) % modulus):
                    break
                rest = rest.without(each)
            else:
                form = plus(plus(rest, scaled(of, factor)), first)
        return form

    def forget(self) -> None:
        """Compute for all inputs, not those of one state."""
        self.facts, self.masks = (), {}

    def bounds(self, form: SumForm, *, by_cuts: bool = False) -> tuple[int, int]:
        """Return bounds of a form, with the range that the latest comparisons leave.

        They are not the form's own: those are the sums of its tables' bounds, always.
        """
        low, high = self._masked_bounds(form)
        for root, mask in self.masks.items() if by_cuts else ():
            of = None if root.dropped else root.of
            if of is not None and of.tables.keys() & form.tables.keys():
                (least, most), inside = self._masked_bounds(minus(form, of)), root.values[mask]
                low = max(low, least + int(inside.min()))
                high = min(high, most + int(inside.max()))
        for fact in self.facts[-4:]:
            lower, upper = self.sums.forms[fact.lower], self.sums.forms[fact.upper]
            rest = minus(form, minus(lower, upper))
            high = min(high, rest.high - fact.strict)
        return low, high

    def _domain(self, form: SumForm) -> tuple[int, int]:
        """Return bounds that most states share, so that a sum has one root."""
        return self.bounds(form) if self.facts else (form.low, form.high)

    def _masked_bounds(self, form: SumForm) -> tuple[int, int]:
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
        if root is None or root.size <= _BYTES:
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

    # ---- bytes ----

    def array(self, byte: Byte) -> tuple[Root, Integers]:
        """Return a byte's root and values; a sum is cut."""
        if byte.form.root is not None:
            return byte.form.root, byte.array()
        form, place = self._latest_like(byte.form, 256 << 8 * byte.place), byte.place
        low, high = self._domain(form)
        if place == 0 and high - low > self.WIDE:
            root = self.lowest(form)
            return root, root.values
        dropped = min(place, self.dropped(high - low))
        root, values = self.cut(form, dropped)
        return root, values >> 8 * (place - dropped) & 255

    def dropped(self, width: int) -> int:
        """Return how many lowest bytes a sum of this range is cut without."""
        dropped = 0
        while width >> 8 * dropped > self.WIDE:
            dropped += 1
        return dropped

    def _latest_like(self, form: SumForm, modulus: int) -> SumForm:
        """Return a congruent sum that was cut last, whose bytes are functions of one root."""
        for each in self._latest:
            if each.tables.keys() == form.tables.keys() and congruent(each, form, modulus):
                return each
        self._latest.appendleft(form)
        return form

    def pointwise(
        self, function: Callable[..., Any], *values: Value | Bit
    ) -> tuple[Root | None, Any]:
        """Return a function of bytes, which must have one root: the root and its values there."""
        root: Root | None = None
        arrays: list[Any] = []
        for value in values:
            if not isinstance(value, int | Byte | Bit):
                raise Unproven("an undefined value is used")
            if isinstance(value, int):
                arrays.append(np.int64(value))
                continue
            if isinstance(value, Bit):
                own, array = value.root, value.mask.astype(np.int64)
            else:
                own, array = self.array(value)
            if root not in (None, own):
                raise Unproven(f"a function of two values, {root} and {own}")
            root = own
            arrays.append(array)
        return root, function(*arrays)

    def byte(self, function: Callable[..., Any], *values: Value | Bit) -> int | Byte:
        """Return a function of bytes as a byte."""
        root, array = self.pointwise(function, *values)
        return int(array) if root is None else byte_of(single(root, array), 0)

    def bit(self, function: Callable[..., Any], *values: Value | Bit) -> int | Bit:
        """Return a function of bytes as a bit."""
        root, array = self.pointwise(function, *values)
        return int(array) if root is None else bit_of(root, np.asarray(array, bool))

    def number(self, value: Value, *, signed: bool = False) -> SumForm:
        """Return the form whose value is that of a byte."""
        low = -128 if signed else 0
        if not isinstance(value, int | Byte):
            raise Unproven("an undefined value is used")
        if isinstance(value, int):
            return constant((value - low) % _BYTES + low)
        if value.place == 0 and low <= value.form.low and value.form.high < low + _BYTES:
            return value.form
        root, array = self.array(value)
        return single(root, (array - low) % _BYTES + low)

    def ending(self, value: Value) -> SumForm:
        """Return a form whose lowest byte is the value."""
        if isinstance(value, Byte) and value.place == 0:
            return value.form
        return self.number(value)

    def product(self, a: SumForm, b: SumForm) -> SumForm:
        """Return the product of two forms of one root each."""
        if not a.tables or not b.tables:
            return scaled(b, a.constant) if not a.tables else scaled(a, b.constant)
        one, other = a.root, b.root
        if one is None or other is None:
            raise Unproven("a product of two sums")
        if one is other:
            return single(one, a.array() * b.array())
        if one.number > other.number:
            (a, one), (b, other) = (b, other), (a, one)
        products = a.array()[:, None] * b.array()[None, :]
        return single(self.pair(one, other), products.ravel())


class Algebra(Roots):
    """Bits: comparisons of sums, and of their bytes."""

    def top_bit(self, value: Value) -> Condition:
        """Return the sign of a byte."""
        if isinstance(value, Byte) and value.form.root is None:
            modulus, bounds = _BYTES << 8 * value.place, self.bounds(value.form)
            fitted = fitting(value.form, modulus, bounds, signed=True)
            if fitted is not None:
                return self.less(fitted, constant(0))
        return self.bit(lambda each: each >> 7, value)

    def zeros(self, values: list[Value]) -> Condition:
        """Return whether all of some bytes are 0."""
        values = [_known(each) for each in values]
        if any(isinstance(each, int) and each for each in values):
            return 0
        values = [each for each in values if not isinstance(each, int)]
        if not values:
            return 1
        first = values[0]
        places = sorted(each.place for each in values if isinstance(each, Byte))
        if (
            isinstance(first, Byte)
            and first.form.root is None
            and places == list(range(len(values)))
            and all(isinstance(each, Byte) and each.form.equals(first.form) for each in values)
        ):
            limit = 1 << 8 * len(places)
            if -limit < first.form.low and first.form.high < limit:
                return self.equal(first.form, constant(0))
        try:
            return self.bit(lambda *each: sum(np.asarray(e) != 0 for e in each) == 0, *values)
        except Unproven:
            return self.equal(self._total(values), constant(0))

    def _total(self, values: list[Value]) -> SumForm:
        """Return a sum of some bytes, none of them negative, or of numbers that they are parts of.

        It is 0 if and only if all of them are.
        """
        total, left = constant(0), [*values]
        for each in values:
            if not isinstance(each, Byte) or each.place != 1 or not each.form.low >= 0:
                continue
            bytes_ = (v for v in left if isinstance(v, Byte) and v.place == 0)
            lowest = next((v for v in bytes_ if congruent(v.form, each.form, _BYTES)), None)
            if lowest is not None and each.form.high < 1 << 16:
                total = plus(total, each.form)
                left = [v for v in left if v is not lowest and v is not each]
        for each in left:
            total = plus(total, self.number(each))
        return total

    def less(self, x: SumForm, y: SumForm) -> Condition:
        """Return whether ``x < y``."""
        return self._compared(x, y, equal=False)

    def equal(self, x: SumForm, y: SumForm) -> Condition:
        """Return whether ``x = y``."""
        return self._compared(x, y, equal=True)

    def _compared(self, x: SumForm, y: SumForm, *, equal: bool) -> Condition:
        difference = minus(x, y)
        low, high = difference.low, difference.high
        if low == high or low > 0 or (high < 0) or (low == 0 and not equal):
            return int(low == 0 == high if equal else high < 0)
        root = difference.root
        if root is None and ((x.tables and y.tables) or self.orders_sums):
            return Order(x, y, equal=equal)
        if root is not None:
            array = difference.array()
        else:
            self._latest.appendleft(difference)
            root, array = self.cut(difference, 0 if equal else self.dropped(high - low))
        if equal:
            return bit_of(root, array == 0)
        return bit_of(root, array < 0, difference)

    def carry(self, x: SumForm, y: SumForm, modulus: int, sign: int) -> Condition:
        """Return the carry of x + y, or the borrow of x - y, of numbers below the modulus."""
        arrays = self._together(x, y)
        if arrays is not None:
            root, a, b = arrays
            a, b = a % modulus, b % modulus
            return _bit(root, a < b if sign < 0 else a + b >= modulus)
        one, other = (fitting(each, modulus, self.bounds(each), signed=False) for each in (x, y))
        if one is None or other is None:
            raise Unproven(f"the carry of {x} and {y}")
        return (
            self.less(one, other)
            if sign < 0
            else self.less(minus(constant(modulus - 1), other), one)
        )

    def signed(self, x: SumForm, y: SumForm, modulus: int, sign: int) -> Condition:
        """Return the sign of the exact sum or difference of two signed numbers."""
        half, arrays = modulus >> 1, self._together(x, y)
        if arrays is not None:
            root, a, b = arrays
            return _bit(
                root, (a + half) % modulus - half + sign * ((b + half) % modulus - half) < 0
            )
        one, other = (fitting(each, modulus, self.bounds(each), signed=True) for each in (x, y))
        if one is None or other is None:
            raise Unproven(f"the sign of a sum of {x} and {y}")
        return self.less(one, other) if sign < 0 else self.less(plus(one, other), constant(0))

    def overflow(self, x: SumForm, y: SumForm, modulus: int, sign: int) -> Condition:
        """Return whether the sum or difference of two signed numbers needs more bits."""
        half, arrays = modulus >> 1, self._together(x, y)
        if arrays is not None:
            root, a, b = arrays
            total = (a + half) % modulus - half + sign * ((b + half) % modulus - half)
            return _bit(root, (total < -half) | (total >= half))
        one, other = (fitting(each, modulus, self.bounds(each), signed=True) for each in (x, y))
        if one is not None and other is not None:
            form = plus(one, other, sign)
            if form.low >= -half and form.high < half:
                return 0
        raise Unproven(f"the overflow of a sum of {x} and {y}")

    def _together(self, x: SumForm, y: SumForm) -> tuple[Root | None, Integers, Integers] | None:
        """Return the values of two forms over one root; a sum is cut beside a number, or itself."""
        if len(x.tables.keys() | y.tables.keys()) <= 1:
            return x.root or y.root, x.array(), y.array()
        if x.tables and y.tables and x.tables != y.tables:
            return None
        if x.high - x.low + y.high - y.low > self.WIDE:  # better compared as a whole, if it fits
            return None
        root, array = self.cut(x if x.tables else y)
        if x.tables and y.tables:
            return root, array, array + (y.constant - x.constant)
        return (root, array, y.array()) if x.tables else (root, x.array(), array)


def _known(value: Value) -> Value:
    """Return a byte as a number, if it is the same for all inputs."""
    if isinstance(value, Byte):
        low, high = value.form.low >> 8 * value.place, value.form.high >> 8 * value.place
        if low == high:
            return low & 255
    return value


def _bit(root: Root | None, mask: Any) -> int | Bit:
    return int(mask) if root is None else bit_of(root, mask)
