"""Sums, products and flags of bytes that are parts of sums of tables.

A chain of ADD and ADC, or of SUB and SBC, on the bytes of two numbers computes the bytes of their
sum; the carry between them remembers which two forms are added.
"""

from __future__ import annotations

from functools import partial
from itertools import product
from typing import Any

import numpy as np

from protonn_edge.chips.avr.semantics import (
    CARRY,
    HALF,
    NEGATIVE,
    OVERFLOW,
    SIGN,
    TRANSFER,
    ZERO,
    KnownNumbers,
)
from protonn_edge.extensions.proof.algebra import Algebra
from protonn_edge.extensions.proof.forms import (
    Bit,
    Byte,
    Condition,
    Order,
    SumForm,
    Unproven,
    Value,
    byte_of,
    congruent,
    constant,
    fitting,
    minus,
    plus,
    recentred,
    same,
    scaled,
    single,
)
from protonn_edge.extensions.proof.state import Carry, Combined, Doubled, Flag, Flags, Zeros


class Bitwise(KnownNumbers):
    """Bits of flags and bytes, and what AND, OR and EOR make of them."""

    def __init__(self, algebra: Algebra) -> None:
        self.algebra = algebra

    def bit(self, flag: Any) -> Condition:
        """Return the bit of a flag."""
        if isinstance(flag, Flag):
            bit = flag.known
            if bit is None:
                bit = flag.compute()
                if not self.algebra.facts and not self.algebra.masks:
                    flag.known = bit
            flag = bit
        if flag is None:
            raise Unproven("an undefined flag is used")
        return flag  # type: ignore[no-any-return]

    def bit_of(self, value: Value, number: int) -> Condition:
        """Return a bit of a byte."""
        if number == 7:
            return self.algebra.top_bit(value)
        return self.algebra.bit(lambda x: x >> number & 1, value)

    def flag_of(self, value: Value, number: int) -> Flag | None:
        """Return a bit of a byte, if the byte is defined."""
        return None if value is None else Flag(partial(self.bit_of, value, number))

    def with_flag(self, value: Value, number: int, flag: object) -> Any:
        """Return a byte with another bit."""
        bit = self.bit(flag)
        if isinstance(bit, Order):
            raise Unproven("a comparison of sums is used as a number")
        moved = self.algebra.byte(lambda x: x << number, bit)
        return self.either(self.both(value, 255 ^ 1 << number), moved)

    def equal(self, a: Value, b: Value) -> int | Flag:
        """Return whether two bytes are equal."""
        algebra = self.algebra
        if same(a, b) and a is not None:
            return 1
        return Flag(lambda: algebra.equal(algebra.number(a), algebra.number(b)))

    def complement(self, value: object) -> Any:
        """Return 255 less a byte."""
        if isinstance(value, Byte):
            return Byte(minus(constant(-1), value.form), value.bit)
        if isinstance(value, Doubled):
            return Doubled(minus(constant(-1), value.form), value.bit, value.times)
        return super().complement(value)

    def swapped(self, value: Value) -> Value:
        """Return a byte whose halves are exchanged."""
        if value is None:
            return None
        return self.algebra.byte(lambda x: x << 4 & 240 | x >> 4, value)

    def exclusive(self, a: Value, b: Value) -> Value:
        """Return the bits that are set in one of two bytes, and not in both."""
        for one, other in ((a, b), (b, a)):
            if isinstance(one, int) and one == 0:
                return other
        if a is None or b is None:
            return None
        return self.algebra.byte(lambda x, y: x ^ y, a, b)

    def set_signs(self, flags: Flags, result: Value) -> None:
        """Set the flags of a result that has no carries."""
        if result is None:
            super().set_signs(flags, result)
            return
        flags[SIGN] = flags[NEGATIVE] = Flag(lambda: self.algebra.top_bit(result))
        flags[OVERFLOW] = 0
        flags[ZERO] = Zeros(self.algebra, [result])

    def _differ(self, one: Condition, other: Condition) -> Condition:
        """Return whether one of two bits is set, and not both."""
        if isinstance(one, Order) or isinstance(other, Order):
            raise Unproven("two comparisons of sums together")
        return self.algebra.bit(lambda x, y: x ^ y, one, other)

    def both(self, a: Value, b: Value) -> Value:
        """Return the bits that are set in two bytes."""
        for one, other in ((a, b), (b, a)):
            if isinstance(one, int) and one in (0, 255):
                return other if one else 0
        if a is None or b is None or same(a, b):
            return a if same(a, b) else None
        return self.algebra.byte(lambda x, y: x & y, a, b)

    def either(self, a: Any, b: Any) -> Any:
        """Return the bits that are set in one of two bytes."""
        for one, other in ((a, b), (b, a)):
            if isinstance(one, int) and one in (0, 255):
                return 255 if one else other
        if a is None or b is None or same(a, b):
            return a if same(a, b) else None
        try:
            return self.algebra.byte(lambda x, y: x | y, a, b)
        except Unproven:
            return Combined(a, b)


class Arithmetic(Bitwise):
    """What instructions compute with."""

    def sum(
        self, flags: Flags, a: Any, b: Any, carry: Any, sign: int, *, chain: bool = False
    ) -> Any:
        """Add two bytes, or subtract; with `chain`, Z stays clear if it is."""
        algebra = self.algebra
        known = a, b, carry
        if any(each is None for each in known) or all(isinstance(each, int) for each in known):
            return super().sum(flags, a, b, carry, sign, chain=chain)
        if a is b and sign > 0 and isinstance(carry, int) and _is_inside(a):
            return self._doubled(flags, a)
        operands = None
        if isinstance(carry, Carry) and not (sign < 0 and carry.is_bit and _are_zeros(a, b)):
            operands = self._continued(a, b, carry, sign)
        if operands is None and not isinstance(carry, int) and sign < 0 and _are_zeros(a, b):
            bit = self.bit(carry)
            if isinstance(bit, int):
                return super().sum(flags, 0, 0, bit, sign, chain=chain)
            extended = self._sign_byte(flags, bit)
            if extended is not None:
                self.set_zero(flags, extended, chain=chain)
                return extended
        x, y, bit = operands or self._operands(a, b, carry, sign)
        modulus = 256 << bit
        total = self.algebra.whole(plus(x, y, sign), modulus)
        result = Byte(total, bit) if total.tables else total.constant >> bit & 255
        flags[CARRY] = Carry(algebra, x, y, bit + 8, sign)
        flags[HALF] = Flag(lambda: algebra.carry(x, y, modulus >> 4, sign))
        flags[NEGATIVE] = Flag(lambda: algebra.top_bit(result))
        flags[OVERFLOW] = Flag(lambda: algebra.overflow(x, y, modulus, sign))
        flags[SIGN] = Flag(lambda: algebra.signed(x, y, modulus, sign))
        self.set_zero(flags, result, chain=chain)
        return result

    def _doubled(self, flags: Flags, value: Byte | Doubled) -> Doubled:
        """Shift a byte to the left; all that is of use is its upper bits, and the carry."""
        upper = Byte(value.form, value.bit)
        flags[:TRANSFER] = [None] * TRANSFER
        flags[CARRY] = carry = Carry(self.algebra, upper.form, upper.form, upper.bit + 8, 1)
        carry.compute = lambda: self.algebra.top_bit(upper)
        return Doubled(scaled(value.form, 2), value.bit, getattr(value, "times", 0) + 1)

    def product(self, flags: Flags, a: Value, b: Value, signed: tuple[bool, bool]) -> list[Any]:
        """Return the bytes of a product, and set flags."""
        algebra = self.algebra
        forms = (algebra.number(each, signed=of) for each, of in zip((a, b), signed, strict=True))
        total = algebra.product(*forms)
        low, high = byte_of(total, 0), byte_of(total, 1)
        flags[CARRY] = Flag(lambda: algebra.top_bit(high))
        flags[ZERO] = Zeros(algebra, [low, high])
        return [low, high]

    def halved(self, flags: Flags, value: Value, above: object, *, signed: bool) -> Value:
        """Shift a byte and a flag above it to the right, or its own sign, and set flags."""
        algebra = self.algebra
        result: Value = None
        if value is None:
            result = super().halved(flags, value, above, signed=signed)
            return result
        if isinstance(value, Byte):
            result = self._half_of_sum(value, above, signed=signed)
        if result is None:
            top = algebra.top_bit(value) if signed else self.bit(above)
            if isinstance(top, Order):
                root, array = algebra.cut(minus(top.x, top.y))
                top = Bit(root, array == 0 if top.equal else array < 0)
            result = algebra.byte(lambda x, t: x >> 1 | t << 7, value, top)
        carry = flags[CARRY] = flags[SIGN] = self.lowest_bit(value)
        flags[NEGATIVE] = Flag(lambda: algebra.top_bit(result))
        flags[OVERFLOW] = Flag(lambda: self._differ(algebra.top_bit(result), self.bit(carry)))
        flags[ZERO] = Zeros(algebra, [result])
        return result

    def _half_of_sum(self, value: Byte, above: object, *, signed: bool) -> Byte | None:
        """Return the byte of a sum that begins a bit higher, if the bit that is shifted in fits.

        With `signed`, that is the byte's own sign. Else it must be the bit above the byte of a form
        that has the same bits up to there.
        """
        form, bit = value.form, value.bit
        if form.root is not None:
            return None
        if isinstance(above, Carry):
            fits = above.is_bit and congruent(above.x, form, 256 << bit)
            fits &= Byte(above.x, above.bit - 1).is_at(bit + 8)
            return Byte(above.x, bit + 1) if fits else None
        if signed or (isinstance(above, int) and above == 0):
            fitted = fitting(form, 256 << bit, self.algebra.bounds(form), signed=signed)
            return None if fitted is None else Byte(fitted, bit + 1)
        return None

    def lowest_bit(self, value: Value) -> int | Flag:
        """Return the lowest bit of a byte; of a sum, it is the carry of twice the sum."""
        if isinstance(value, int):
            return value & 1
        compute = lambda: self.algebra.bit(lambda x: x & 1, value)  # noqa: E731
        if not isinstance(value, Byte) or value.form.root is not None:
            return Flag(compute)
        carry = Carry(self.algebra, value.form, value.form, value.bit + 1, 1)
        carry.compute = compute
        return carry

    def set_zero(self, flags: Flags, result: Value, *, chain: bool) -> None:
        """Set Z by a byte and, if it continues lower ones, by these."""
        before = flags[ZERO] if chain else 1
        if isinstance(before, Zeros):
            flags[ZERO] = Zeros(self.algebra, [*before.values, result])
        elif before is not None:
            bit = self.bit(before)
            if not isinstance(bit, int):
                flags[ZERO] = Flag(lambda: self._both_zero(bit, result))
            elif isinstance(result, int):
                flags[ZERO] = int(bit and result == 0)
            else:
                flags[ZERO] = Zeros(self.algebra, [result]) if bit else 0

    def _both_zero(self, bit: Condition, result: Value) -> Condition:
        if isinstance(bit, Order):
            raise Unproven("a comparison of sums together with a byte")
        return self.algebra.bit(lambda x, y: (x != 0) & (y == 0), bit, result)

    def _continued(
        self, a: Value, b: Value, carry: Carry, sign: int
    ) -> tuple[SumForm, SumForm, int] | None:
        """Return forms whose lower bytes make the carry and these bytes continue, if possible."""
        bit, bytes_ = carry.bit, ((a, b), (b, a))[: 1 + (sign > 0)]
        for (one, other), (low, lower) in product(bytes_, carry.pairs(sign)):
            x = self._extended(low, bit, one)
            y = None if x is None else self._extended(lower, bit, other)
            if x is not None and y is not None:
                return x, y, bit
        if sign != carry.sign:
            return None
        return _negated(a, carry) if sign < 0 and isinstance(b, int) and b == 255 else None

    def _operands(self, a: Value, b: Value, carry: Any, sign: int) -> tuple[SumForm, SumForm, int]:
        """Return forms and a bit, where the result begins in their sum or difference."""
        algebra = self.algebra
        if not isinstance(carry, int):
            carry = self.bit(carry)
        if isinstance(carry, int) and carry == 0:
            for one, other in ((a, b), (b, a)) if sign > 0 else ((a, b),):
                # what is added to a byte does not touch those below
                number = isinstance(other, int)
                if isinstance(one, Byte) and one.bit and (number or not one.form.root):
                    more = scaled(algebra.ending(other), 1 << one.bit)
                    return one.form, more, one.bit
            return algebra.ending(a), algebra.ending(b), 0
        # A byte below that makes the carry.
        made = constant(carry) if isinstance(carry, int) else carry.number()
        x, y = (scaled(algebra.ending(each), 256) for each in (a, b))
        if sign > 0:
            return plus(x, scaled(made, 255)), plus(y, constant(1)), 8
        return x, plus(y, made), 8

    def _extended(self, form: SumForm, bit: int, value: Value) -> SumForm | None:
        """Return a form congruent to one modulo ``2**bit``, with this byte there."""
        modulus = 1 << bit
        if isinstance(value, Byte):
            if value.is_at(bit) and congruent(value.form, form, modulus):
                return value.form
            alike = value.form.root is not None and value.form.root is form.root
            if alike and (value.array() == form.array() >> bit & 255).all():
                return form
        elif isinstance(value, int):
            least, most = (end >> bit for end in self.algebra.masked_bounds(form))
            if least == most:
                more = (value - least) & 255
                return plus(form, constant(more << bit)) if more else form
        if form.low >= 0 and form.high < modulus:
            low = form
        elif len(form.tables) <= 1:
            array = form.array() % modulus
            low = single(form.root, array) if form.root else constant(int(array))
        else:
            return None
        try:
            high = self.algebra.number(value)
        except Unproven:
            return None
        return recentred(plus(low, scaled(high, modulus)), 256 * modulus)

    def _sign_byte(self, flags: Flags, bit: Bit | Order) -> Value:
        """Return 0 or 255, whether a bit is set: a sign, as the byte above a sum."""
        if isinstance(bit, Bit) and (bit.form is None or bit.form.root is not None):
            result: Value = byte_of(single(bit.root, np.where(bit.mask, 255, 0)), 0)
        elif isinstance(bit, Order) and bit.equal:
            return None
        else:
            form = bit.form if isinstance(bit, Bit) else minus(bit.x, bit.y)
            assert form is not None
            result = Byte(form, -(-max(form.high, -form.low).bit_length() // 8) * 8)
        flags[OVERFLOW] = 0
        flags[CARRY] = flags[NEGATIVE] = flags[SIGN] = flags[HALF] = bit
        return result


def _is_inside(value: object) -> bool:
    """Whether it is a byte of a sum, which is not its lowest one."""
    if isinstance(value, Byte):
        return value.bit > 0 and not value.form.root
    return isinstance(value, Doubled) and value.times < 7


def _are_zeros(*values: Value) -> bool:
    return all(isinstance(each, int) and each == 0 for each in values)


def _negated(a: Value, carry: Carry) -> tuple[SumForm, SumForm, int] | None:
    """Return the operands of ``0 - F``, whose higher bytes are computed as ``(-1 - F) + 1``."""
    zero = not carry.x.tables and carry.x.constant % (1 << carry.bit) == 0
    if not zero or not isinstance(a, Byte) or a.bit != carry.bit:
        return None
    form = minus(constant(-1), a.form)
    if not congruent(form, carry.y, 1 << carry.bit):
        return None
    return constant(0), form, carry.bit
