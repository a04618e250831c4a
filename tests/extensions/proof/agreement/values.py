"""What a machine computes with: numbers, one number per lane, or terms of z3.

A number is what all lanes, or all assignments, have in common: loop counters and addresses stay
numbers, so that control flow is followed and not guessed. Each operation takes numbers beside
values of its own kind, and returns a number where it can. A bit is a value of one bit.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from extensions.proof.agreement.sums import Sums

try:
    import z3
except ModuleNotFoundError:  # tests that prove are skipped
    z3 = None

Value = Any
"""An int, an array of int64 with a lane each, or a bit vector of z3."""


class Lanes:
    """Numbers, and arrays with a lane each."""

    def unknown_bit(self) -> Value:
        """Return what a flag is that nothing has set."""
        return 1

    def zext(self, value: Value, bits: int) -> Value:  # noqa: ARG002
        """Return the value with zeros above, to so many bits in all."""
        return value

    def sext(self, value: Value, bits: int) -> Value:
        """Return a byte with its sign above, to so many bits in all."""
        return self.part((value ^ 0x80) - 0x80, 0, bits)

    def part(self, value: Value, low: int, bits: int) -> Value:
        """Return so many bits of a value, or of a sum or difference, from bit `low` on."""
        return value >> low & (1 << bits) - 1

    def joined(self, high: Value, low: Value) -> Value:
        """Return 16 bits made of two bytes."""
        return high << 8 | low

    def equal(self, one: Value, other: Value) -> Value:
        """Return the bit of whether two values are equal."""
        same = one == other
        return same.astype(np.int64) if isinstance(same, np.ndarray) else int(same)

    def choose(self, bit: Value, one: Value, other: Value, bits: int = 8) -> Value:  # noqa: ARG002
        """Return one value where the bit is set, else the other."""
        if isinstance(bit, int):
            return one if bit else other
        return np.where(bit != 0, one, other)

    def product(self, one: Value, other: Value) -> Value:
        """Return the 16 bits of the product of two bytes without signs."""
        return one * other

    # ---- what terms can be known to be ----

    def total(self, a: Value, b: Value, carry: Value, sign: int) -> Value:
        """Return a + b + carry, or a - b - carry, of bytes and a bit."""
        return a + sign * (b + carry)

    def plus(self, value: Value, by: int, bits: int) -> Value:
        """Return the sum with a number, as so many bits."""
        return self.part(value + by, 0, bits)

    def shifted(self, result: Value, before: Value, top: Value) -> Value:  # noqa: ARG002
        """Return a byte shifted down by one, with another top bit: the result."""
        return result

    def bytes_of_product(
        self,
        product: Sequence[Value],
        factors: Sequence[Value],  # noqa: ARG002
        signs: Sequence[bool],  # noqa: ARG002
    ) -> Sequence[Value]:
        """Return the lower and upper byte of a product of factors with signs or without."""
        return product


class Terms(Lanes):
    """Bit vectors of z3, and numbers.

    If products are `abstract`, they are a function of their factors of which nothing is known but
    that it is 0 where one of them is: what is proven of any such function holds for the product,
    and takes less time.
    """

    def __init__(self, *, abstract: bool) -> None:
        byte = z3.BitVecSort(8)
        self._product = z3.Function("product", byte, byte, z3.BitVecSort(16)) if abstract else None
        self.sums = Sums(lambda value: self.part(value, 7, 1))

    def unknown_bit(self) -> Value:
        return z3.FreshConst(z3.BitVecSort(1), "flag")

    def zext(self, value: Value, bits: int) -> Value:
        if isinstance(value, int) or value.size() == bits:
            return value
        return z3.ZeroExt(bits - value.size(), value)

    def sext(self, value: Value, bits: int) -> Value:
        if isinstance(value, int):
            return super().sext(value, bits)
        return z3.SignExt(bits - value.size(), value)

    def part(self, value: Value, low: int, bits: int) -> Value:
        if isinstance(value, int):
            return super().part(value, low, bits)
        if value.size() == bits:
            return value
        if self.sums.is_total(value):
            return self.sums.part_of_total(value, z3.Extract(low + bits - 1, low, value))
        part = self._part_of_term(value, low, bits)
        return part if isinstance(part, int) else self.sums.part(value, part, low, bits)

    def total(self, a: Value, b: Value, carry: Value, sign: int) -> Value:
        if all(isinstance(each, int) for each in (a, b, carry)):
            return super().total(a, b, carry, sign)
        total = term(self.zext(a, 9), 9)
        for other in (b, carry):
            if not isinstance(other, int) or other:
                more = self.zext(other, 9)
                total = total + more if sign > 0 else total - more
        self.sums.total(total, a, b, carry, sign)
        return total

    def plus(self, value: Value, by: int, bits: int) -> Value:
        if isinstance(value, int):
            return super().plus(value, by, bits)
        return self.sums.plus(value + by, value, by)

    def shifted(self, result: Value, before: Value, top: Value) -> Value:
        if isinstance(result, int) or isinstance(before, int):
            return result
        return self.sums.shifted(result, before, top)

    def bytes_of_product(
        self, product: Sequence[Value], factors: Sequence[Value], signs: Sequence[bool]
    ) -> Sequence[Value]:
        if any(isinstance(each, int) for each in product):
            return product
        return self.sums.product(product, factors, signs)

    def _part_of_term(self, value: Any, low: int, bits: int) -> Value:
        kind = value.decl().kind()
        if kind == z3.Z3_OP_ZERO_EXT:
            inner = value.arg(0)
            if low + bits <= inner.size():
                return self.part(inner, low, bits)
            if low >= inner.size():
                return 0
        if kind == z3.Z3_OP_CONCAT and value.num_args() == 2:
            high, rest = value.children()
            if low + bits <= rest.size():
                return self.part(_number(rest), low, bits)
            if low >= rest.size():
                return self.part(_number(high), low - rest.size(), bits)
        return z3.Extract(low + bits - 1, low, value)

    def joined(self, high: Value, low: Value) -> Value:
        if isinstance(high, int) and isinstance(low, int):
            return super().joined(high, low)
        parts = low, high
        high, low = term(high, 8), term(low, 8)
        if _is_extract(high, 15, 8) and _is_extract(low, 7, 0):
            whole = high.children()[0]
            if whole.eq(low.children()[0]) and whole.size() == 16:
                return whole
        return self.sums.joined(z3.Concat(high, low), parts)

    def equal(self, one: Value, other: Value) -> Value:
        if isinstance(one, int) and isinstance(other, int):
            return super().equal(one, other)
        if isinstance(one, int):
            one, other = other, one
        if not isinstance(other, int) and one.eq(other):
            return 1
        return z3.If(one == other, z3.BitVecVal(1, 1), z3.BitVecVal(0, 1))

    def choose(self, bit: Value, one: Value, other: Value, bits: int = 8) -> Value:
        if isinstance(bit, int):
            return one if bit else other
        if isinstance(one, int) and isinstance(other, int):
            if one == other:
                return one
            chosen = z3.If(truth(bit), z3.BitVecVal(one, bits), z3.BitVecVal(other, bits))
            return self.sums.chosen(chosen, bit, one, other)
        if one is other:
            return one
        one, other = term(one, bits), term(other, bits)
        if one.eq(other):
            return one
        return self.sums.counted(z3.If(truth(bit), one, other), bit, one, other)

    def same_where_zero(self, zeros: Sequence[Any], one: Value, other: Value) -> bool:
        """Return whether two values are known to be the same where one of the terms is 0."""
        return any(self.sums.same_without(zero, one, other) for zero in zeros)

    def product(self, one: Value, other: Value) -> Value:
        if isinstance(one, int) and isinstance(other, int):
            return one * other
        if any(isinstance(each, int) and each == 0 for each in (one, other)):
            return 0
        one, other = sorted((term(one, 8), term(other, 8)), key=_rank)
        if z3.is_bv_value(other) and _is_choice_of_numbers(one):
            condition, *ways = one.children()
            return z3.If(condition, *(z3.BitVecVal(way.as_long() * other.as_long(), 16)
                                      for way in ways))  # fmt: skip
        if z3.is_bv_value(other) and other.as_long().bit_count() == 1:
            return z3.ZeroExt(8, one) << other.as_long().bit_length() - 1
        if self._product is not None:
            nothing = z3.BitVecVal(0, 16)
            product = self._product(one, other)
            for factor in (one, other):
                if not z3.is_bv_value(factor):
                    product = z3.If(factor == 0, nothing, product)
            return product
        return z3.ZeroExt(8, one) * z3.ZeroExt(8, other)


def _is_choice_of_numbers(value: Any) -> bool:
    return value.decl().kind() == z3.Z3_OP_ITE and all(map(z3.is_bv_value, value.children()[1:]))


def _rank(factor: Any) -> tuple[bool, int]:
    """Return what orders factors, numbers last."""
    return z3.is_bv_value(factor), factor.get_id()


def truth(bit: Value) -> Any:
    """Return the condition of z3 that a bit stands for."""
    if isinstance(bit, int):
        return z3.BoolVal(bool(bit))
    if _is_choice_of_numbers(bit):
        condition, *ways = bit.children()
        return condition if ways[0].as_long() else z3.Not(condition)
    return bit == 1


def zero_of(condition: Any) -> Any:
    """Return the term that a condition says is 0, or None."""
    if z3.is_eq(condition):
        one, other = condition.children()
        if z3.is_bv_value(other) and other.as_long() == 0:
            return one
    return None


def term(value: Value, bits: int) -> Any:
    """Return the term of a value of so many bits."""
    return z3.BitVecVal(value, bits) if isinstance(value, int) else value


def _number(value: Any) -> Value:
    return value.as_long() if z3.is_bv_value(value) else value


def _is_extract(value: Any, high: int, low: int) -> bool:
    return value.decl().kind() == z3.Z3_OP_EXTRACT and value.params() == [high, low]
