"""Sums, products and flags of bytes that are parts of sums of tables.

A chain of ADD and ADC, or of SUB and SBC, on the bytes of two numbers computes the bytes of their
sum; the carry between them remembers which two forms are added.
"""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np

from protonn_edge.proof.algebra import Algebra
from protonn_edge.proof.forms import (
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
    minus,
    plus,
    recentred,
    same,
    scaled,
    single,
)
from protonn_edge.proof.state import (
    CARRY,
    HALF,
    NEGATIVE,
    OVERFLOW,
    SIGN,
    ZERO,
    Carry,
    ChipState,
    Combined,
    Doubled,
    Flag,
    Zeros,
)


class Bitwise:
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

    def exclusive(self, one: Condition, other: Condition) -> Condition:
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

    def set_signs(self, state: ChipState, result: Value, overflow: Any) -> None:
        """Set the flags of a result, but for carries."""
        flags, algebra = state.flags, self.algebra
        flags[NEGATIVE] = Flag(lambda: algebra.top_bit(result))
        flags[OVERFLOW] = overflow
        if isinstance(overflow, int) and overflow == 0:
            flags[SIGN] = flags[NEGATIVE]
        else:
            negative = flags[NEGATIVE]
            flags[SIGN] = Flag(lambda: self.exclusive(self.bit(negative), self.bit(overflow)))
        flags[ZERO] = Zeros(algebra, [result])

    def sum(
        self, state: ChipState, a: Any, b: Any, carry: Any, sign: int, *, chain: bool = False
    ) -> Any:
        """Add two bytes, or subtract; with `chain`, Z stays clear if it is."""
        flags, algebra, before = state.flags, self.algebra, state.flags[ZERO]
        if a is None or b is None or carry is None:
            flags[:6] = [None] * 6
            return None
        if isinstance(a, int) and isinstance(b, int) and isinstance(carry, int):
            return self._sum_of_numbers(state, a, b, carry, sign, chain=chain)
        if a is b and sign > 0 and isinstance(carry, int) and _is_inside(a):
            return self._doubled(state, a)
        operands = self._continued(a, b, carry, sign) if isinstance(carry, Carry) else None
        if operands is None and not isinstance(carry, int) and sign < 0 and _are_zeros(a, b):
            extended = self._sign_byte(state, carry)
            if extended is not None:
                self._chained(state, extended, before, chain)
                return extended
        x, y, place = operands or self._operands(a, b, carry, sign)
        modulus = 256 << 8 * place
        total = self.algebra.whole(plus(x, y, sign), modulus)
        result = byte_of(total, place)
        flags[CARRY] = Carry(algebra, x, y, place + 1, sign)
        flags[HALF] = Flag(lambda: algebra.carry(x, y, modulus >> 4, sign))
        flags[NEGATIVE] = Flag(lambda: algebra.top_bit(result))
        flags[OVERFLOW] = Flag(lambda: algebra.overflow(x, y, modulus, sign))
        flags[SIGN] = Flag(lambda: algebra.signed(x, y, modulus, sign))
        self._chained(state, result, before, chain)
        return result

    def _doubled(self, state: ChipState, value: Byte | Doubled) -> Doubled:
        """Shift a byte to the left; all that is of use is its upper bits, and the carry."""
        upper = Byte(value.form, value.place)
        state.flags[:6] = [None] * 6
        state.flags[CARRY] = carry = Carry(self.algebra, upper.form, upper.form, upper.place + 1, 1)
        carry.compute = lambda: self.algebra.top_bit(upper)
        return Doubled(scaled(value.form, 2), value.place, getattr(value, "times", 0) + 1)

    def _sum_of_numbers(
        self, state: ChipState, a: int, b: int, carry: int, sign: int, *, chain: bool
    ) -> int:
        flags, before = state.flags, state.flags[ZERO]
        total = a + sign * (b + carry)
        result = total & 255
        flags[CARRY] = total >> 8 & 1
        flags[HALF] = (a ^ b ^ result) >> 4 & 1
        flags[NEGATIVE] = negative = result >> 7
        flags[OVERFLOW] = over = ((a ^ result) & (b ^ result if sign > 0 else a ^ b)) >> 7
        flags[SIGN] = negative ^ over
        self._chained(state, result, before, chain)
        return result

    def _chained(self, state: ChipState, result: Value, before: Any, chain: bool) -> None:
        """Set Z by a byte and, if it continues lower ones, by these."""
        if not chain:
            number = isinstance(result, int)
            state.flags[ZERO] = int(result == 0) if number else Zeros(self.algebra, [result])
        elif isinstance(before, Zeros):
            state.flags[ZERO] = Zeros(self.algebra, [*before.values, result])
        elif before is None:
            state.flags[ZERO] = None
        else:
            bit = self.bit(before)
            if not isinstance(bit, int):
                state.flags[ZERO] = Flag(lambda: self._both_zero(bit, result))
            elif not bit:
                state.flags[ZERO] = 0
            else:
                self._chained(state, result, before, chain=False)

    def _both_zero(self, bit: Condition, result: Value) -> Condition:
        if isinstance(bit, Order):
            raise Unproven("a comparison of sums together with a byte")
        return self.algebra.bit(lambda x, y: (x != 0) & (y == 0), bit, result)

    def _continued(
        self, a: Value, b: Value, carry: Carry, sign: int
    ) -> tuple[SumForm, SumForm, int] | None:
        """Return forms whose lower bytes make the carry and these bytes continue, if possible."""
        if carry.sign != sign:
            return None
        place = carry.place
        pairs = [(carry.x, carry.y)]
        if carry.x is carry.y and sign > 0:  # the top bit, as of a sum with a half
            pairs.append((carry.x, constant(1 << 8 * place - 1)))
        for (one, other), (low, lower) in product(((a, b), (b, a))[: 1 + (sign > 0)], pairs):
            x = self._extended(low, place, one)
            y = None if x is None else self._extended(lower, place, other)
            if x is not None and y is not None:
                return x, y, place
        return _negated(a, carry) if sign < 0 and isinstance(b, int) and b == 255 else None

    def _operands(self, a: Value, b: Value, carry: Any, sign: int) -> tuple[SumForm, SumForm, int]:
        """Return forms and a place, so that the result is this byte of their sum or difference."""
        algebra = self.algebra
        if not isinstance(carry, int):
            carry = self.bit(carry)
        if isinstance(carry, int) and carry == 0:
            for one, other in ((a, b), (b, a)) if sign > 0 else ((a, b),):
                # what is added to a byte does not touch those below
                number = isinstance(other, int)
                if isinstance(one, Byte) and one.place and (number or not one.form.root):
                    more = scaled(algebra.ending(other), 1 << 8 * one.place)
                    return one.form, more, one.place
            return algebra.ending(a), algebra.ending(b), 0
        # A byte below that makes the carry.
        made = constant(carry) if isinstance(carry, int) else carry.number()
        x, y = (scaled(algebra.ending(each), 256) for each in (a, b))
        if sign > 0:
            return plus(x, scaled(made, 255)), plus(y, constant(1)), 1
        return x, plus(y, made), 1

    def _extended(self, form: SumForm, place: int, value: Value) -> SumForm | None:
        """Return a form congruent to one modulo 256**place, with this byte there."""
        modulus = 1 << 8 * place
        if isinstance(value, Byte):
            fits = value.place == place or (value.place < place and value.extends)
            if fits and congruent(value.form, form, modulus):
                return value.form
            alike = value.form.root is not None and value.form.root is form.root
            if alike and (value.array() == form.array() >> 8 * place & 255).all():
                return form
        elif isinstance(value, int) and form.low >> 8 * place == form.high >> 8 * place:
            more = (value - (form.low >> 8 * place)) & 255
            return plus(form, constant(more << 8 * place)) if more else form
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

    def _sign_byte(self, state: ChipState, carry: Any) -> Value:
        """Return 0 or 255, whether a carry is set: a sign, as the byte above a sum."""
        bit = self.bit(carry)
        if isinstance(bit, int):
            return None
        if isinstance(bit, Bit) and (bit.form is None or bit.form.root is not None):
            result: Value = byte_of(single(bit.root, np.where(bit.mask, 255, 0)), 0)
        elif isinstance(bit, Order) and bit.equal:
            return None
        else:
            form = bit.form if isinstance(bit, Bit) else minus(bit.x, bit.y)
            assert form is not None
            place = 0
            while not Byte(form, place).extends:
                place += 1
            result = Byte(form, place)
        flags = state.flags
        flags[OVERFLOW] = 0
        flags[CARRY] = flags[NEGATIVE] = flags[SIGN] = flags[HALF] = bit
        return result


def _is_inside(value: Any) -> bool:
    """Whether it is a byte of a sum, which is not its lowest one."""
    if isinstance(value, Byte):
        return value.place > 0 and not value.form.root
    return isinstance(value, Doubled) and value.times < 7


def _are_zeros(*values: Value) -> bool:
    return all(isinstance(each, int) and each == 0 for each in values)


def _negated(a: Value, carry: Carry) -> tuple[SumForm, SumForm, int] | None:
    """Return the operands of ``0 - F``, whose higher bytes are computed as ``(-1 - F) + 1``."""
    zero = not carry.x.tables and carry.x.constant % (1 << 8 * carry.place) == 0
    if not zero or not isinstance(a, Byte) or a.place != carry.place:
        return None
    form = minus(constant(-1), a.form)
    if not congruent(form, carry.y, 1 << 8 * carry.place):
        return None
    return constant(0), form, carry.place
