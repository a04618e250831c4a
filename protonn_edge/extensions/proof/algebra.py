"""Bytes and bits of sums: what is computed for each value of a root, and what is compared."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from protonn_edge.extensions.proof.choices import ChoiceRoots
from protonn_edge.extensions.proof.forms import (
    Bit,
    Byte,
    Condition,
    Integers,
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

_BYTES = 256


class Bytes(ChoiceRoots):
    """Bytes as functions of roots."""

    def array(self, byte: Byte) -> tuple[Root, Integers]:
        """Return a byte's root and values; a sum is cut."""
        root, values = self._from_bit(byte)
        return root, values & 255

    def _from_bit(self, byte: Byte) -> tuple[Root, Integers]:
        """Return a root, and integers whose lowest byte this is."""
        if byte.form.root is not None:
            return byte.form.root, byte.form.array() >> byte.bit
        form, bit = self._latest_like(byte.form, 256 << byte.bit), byte.bit
        low, high = self._domain(form)
        wide = self.spread(form) > self.WIDE
        if bit == 0 and wide:
            root = self.lowest(form)
            return root, root.values
        dropped = min(bit, self.dropped(high - low, bit)) if wide else 0
        root, values = self.cut(form, dropped)
        return root, values >> bit - dropped

    def dropped(self, width: int, bit: int = 0) -> int:
        """Return how many lowest bits a sum of this range is cut without.

        All bytes of a number that begins at any of its bits have the same root.
        """
        dropped = bit % 8
        while width >> dropped > self.WIDE:
            dropped += 8
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
        if value.bit == 0 and low <= value.form.low and value.form.high < low + _BYTES:
            return value.form
        root, array = self._from_bit(value)
        number = (array - low) % _BYTES + low
        reached = array[self.masks[root]] if root in self.masks else array[:0]
        # Of inputs that do not lead here, any number is right.
        if reached.size and low <= reached.min() and reached.max() < low + _BYTES:
            if (reached == reached[0]).all() and (number != array).any():
                return constant(int(reached[0]))
            return single(root, array)
        return single(root, number)

    def ending(self, value: Value) -> SumForm:
        """Return a form whose lowest byte is the value."""
        if isinstance(value, Byte) and value.bit == 0:
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
        pair = self.pair(one, other)  # it refuses too many, before there is an array of them
        return single(pair, (a.array()[:, None] * b.array()[None, :]).ravel())


class Algebra(Bytes):
    """Bits: comparisons of sums, and of their bytes."""

    def top_bit(self, value: Value) -> Condition:
        """Return the sign of a byte."""
        if isinstance(value, Byte) and value.form.root is None:
            fitted = self._fitting(value.form, _BYTES << value.bit, signed=True)
            if fitted is not None:
                self._latest.appendleft(fitted)  # the highest byte's, for those below
                return self.less(fitted, constant(0), value.bit)
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
        bits = sorted(each.bit for each in values if isinstance(each, Byte))
        if (
            isinstance(first, Byte)
            and first.form.root is None
            and bits == [*range(0, 8 * len(values), 8)]
            and all(isinstance(each, Byte) and each.form.equals(first.form) for each in values)
        ):
            limit = 1 << 8 * len(bits)
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
            if not isinstance(each, Byte) or each.bit != 8 or not each.form.low >= 0:
                continue
            bytes_ = (v for v in left if isinstance(v, Byte) and v.bit == 0)
            lowest = next((v for v in bytes_ if congruent(v.form, each.form, _BYTES)), None)
            if lowest is not None and each.form.high < 1 << 16:
                total = plus(total, each.form)
                left = [v for v in left if v is not lowest and v is not each]
        for each in left:
            total = plus(total, self.number(each))
        return total

    def less(self, x: SumForm, y: SumForm, bit: int = 0) -> Condition:
        """Return whether ``x < y``; with the first bit of a byte of their difference."""
        return self._compared(x, y, bit, equal=False)

    def equal(self, x: SumForm, y: SumForm) -> Condition:
        """Return whether ``x = y``."""
        return self._compared(x, y, 0, equal=True)

    def _compared(self, x: SumForm, y: SumForm, bit: int, *, equal: bool) -> Condition:
        difference = minus(x, y)
        low, high = self.masked_bounds(difference)
        if low == high or low > 0 or high < 0 or (low == 0 and not equal):
            return int(low == 0 == high if equal else high < 0)
        root = difference.root
        if equal and root is None and high - low > self.WIDE and self.bounds(difference)[0] == 0:
            # not less than 0, as a largest sum less another one: 0 if it is less than 1
            return self.less(difference, constant(1))
        if root is None and ((x.tables and y.tables) or self.orders_sums):
            return Order(x, y, equal=equal)
        if root is not None:
            array = difference.array()
        else:
            self._latest.appendleft(difference)
            root, array = self.cut(
                difference, 0 if equal else self.dropped(difference.high - difference.low, bit)
            )
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
        one, other = (self._fitting(each, modulus) for each in (x, y))
        if one is None or other is None:
            raise Unproven(f"the carry of {x} and {y}")
        if sign > 0:
            one, other = minus(constant(modulus - 1), other), one
        return self.less(one, other, modulus.bit_length() - 1)

    def _fitting(self, form: SumForm, modulus: int, *, signed: bool = False) -> SumForm | None:
        return fitting(form, modulus, self.bounds(form, by_cuts=True), signed=signed)

    def signed(self, x: SumForm, y: SumForm, modulus: int, sign: int) -> Condition:
        """Return the sign of the exact sum or difference of two signed numbers."""
        half, arrays = modulus >> 1, self._together(x, y)
        if arrays is not None:
            root, a, b = arrays
            return _bit(
                root, (a + half) % modulus - half + sign * ((b + half) % modulus - half) < 0
            )
        one, other = (self._fitting(each, modulus, signed=True) for each in (x, y))
        if one is None or other is None:
            raise Unproven(f"the sign of a sum of {x} and {y}")
        if sign > 0:
            one, other = plus(one, other), constant(0)
        return self.less(one, other, modulus.bit_length() - 1)

    def overflow(self, x: SumForm, y: SumForm, modulus: int, sign: int) -> Condition:
        """Return whether the sum or difference of two signed numbers needs more bits."""
        half, arrays = modulus >> 1, self._together(x, y)
        if arrays is not None:
            root, a, b = arrays
            total = (a + half) % modulus - half + sign * ((b + half) % modulus - half)
            return _bit(root, (total < -half) | (total >= half))
        one, other = (self._fitting(each, modulus, signed=True) for each in (x, y))
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
        low, high = value.form.low >> value.bit, value.form.high >> value.bit
        if low == high:
            return low & 255
    return value


def _bit(root: Root | None, mask: Any) -> int | Bit:
    return int(mask) if root is None else bit_of(root, mask)
