"""The state of a chip under proof, and what two paths have in common where they meet."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np

from protonn_edge.extensions.proof.algebra import Algebra
from protonn_edge.extensions.proof.facts import OrderFacts
from protonn_edge.extensions.proof.forms import (
    Bit,
    Byte,
    Condition,
    Mask,
    Root,
    SumForm,
    Unproven,
    Value,
    byte_of,
    congruent,
    constant,
    different_parts,
    factor_of,
    minus,
    nearest_numbers,
    plus,
    recentred,
    rest_of,
    restricted,
    same,
    scaled,
    single,
    where,
)
from protonn_edge.extensions.proof.order import CallFrame


class Flag:
    """A flag that is computed when it is used."""

    def __init__(self, compute: Callable[[], Condition | None]) -> None:
        self.compute = compute
        self.known: Condition | None = None


Flags = list[Any]
"""What is known of the flags, by their numbers in SREG: each a `Flag` or a condition, or None."""


class Carry(Flag):
    """The carry or borrow of sums modulo a power of 256, which higher bytes continue."""

    def __init__(self, algebra: Algebra, x: SumForm, y: SumForm, bit: int, sign: int) -> None:
        super().__init__(lambda: algebra.carry(x, y, 1 << bit, sign))
        self.x, self.y, self.bit, self.sign = x, y, bit, sign

    def pairs(self, sign: int) -> list[tuple[SumForm, SumForm]]:
        """Return forms of which it is the carry into a bit, or with a sign of -1 the borrow.

        The carry of X + X is bit k - 1 of X, which is also that of ``X + 2**(k - 1)``, and the
        opposite of that bit of -1 - X; X has a borrow at ``X - 2**(k - 1)`` if the bit is clear.
        """
        pairs = [(self.x, self.y)] if sign == self.sign else []
        if self.is_bit:
            half = constant(1 << self.bit - 1)
            pairs.append((self.x if sign > 0 else minus(constant(-1), self.x), half))
        return pairs

    @property
    def is_bit(self) -> bool:
        """Whether it is the bit of a form below its own, for any form."""
        return self.x is self.y and self.sign > 0


class Zeros(Flag):
    """Whether all of some bytes are 0, to which higher bytes add themselves."""

    def __init__(self, algebra: Algebra, values: list[Value]) -> None:
        parts = [part for each in values for part in getattr(each, "parts", [each])]
        super().__init__(lambda: algebra.zeros(parts))
        self.values = values


class Combined:
    """Bytes of several roots that are joined by OR: of use only to know whether all are 0."""

    def __init__(self, *values: Any) -> None:
        self.parts: list[Value] = []
        for each in values:
            self.parts += each.parts if isinstance(each, Combined) else [each]


class Doubled:
    """A byte of a form, but for some lowest bits: one for each time that it was doubled."""

    def __init__(self, form: SumForm, bit: int, times: int) -> None:
        self.form, self.bit, self.times = form, bit, times


class Status:
    """The flags as they were when a program saved them."""

    def __init__(self, flags: Flags) -> None:
        self.flags = flags


class ChipState:
    """A chip in front of an instruction, on the inputs within its masks and facts."""

    __slots__ = (
        "calls", "cycles", "facts", "flags", "frames", "masks", "memory", "place", "progress",
        "registers", "stack",
    )  # fmt: skip

    def __init__(self, place: int) -> None:
        self.place = place
        self.registers: list[Any] = [None] * 32
        self.flags: Flags = [None] * 8
        self.memory: dict[int, Any] = {}
        self.stack: list[Any] = [None, None]  # the bytes of the stack pointer
        # of the functions under way: how far they are, and where they were called
        self.frames: list[CallFrame] = []
        self.calls: list[int] = []
        # the inputs that lead here: values of roots, and comparisons of sums
        self.masks: dict[Root, Mask] = {}
        self.facts: OrderFacts = ()
        self.cycles = 0, 0  # so far: at least and at most
        # of `check_progress`: jumps back until the next earlier state, and it
        self.progress: tuple[int, int, ChipState | None] = (0, 1, None)

    def copy(self) -> ChipState:
        """Return a copy."""
        other = ChipState(self.place)
        other.registers, other.flags = [*self.registers], [*self.flags]
        other.memory, other.stack = dict(self.memory), [*self.stack]
        other.frames, other.calls = [each.copy() for each in self.frames], [*self.calls]
        other.masks, other.facts = dict(self.masks), self.facts
        other.cycles, other.progress = self.cycles, self.progress
        return other

    def spend(self, cycles: int) -> None:
        """Count cycles."""
        least, most = self.cycles
        self.cycles = least + cycles, most + cycles

    def reached(self, root: Root) -> Mask:
        """Return which values of a root lead here."""
        return self.masks.get(root, np.ones(root.size, bool))

    def narrow(self, root: Root, mask: Mask) -> None:
        """Leave only inputs within a mask."""
        own = self.masks.get(root)
        self.masks[root] = mask if own is None else own & mask


def spanned(states: Iterable[ChipState]) -> tuple[int, int]:
    """Return the least and the most cycles of some states."""
    least, most = zip(*(each.cycles for each in states), strict=True)
    return min(least), max(most)


def with_least(masks: Mapping[Root, Mask]) -> dict[Root, Mask]:
    """Return masks with those that follow where a sum is least: so is each of its tables."""
    every, left = dict(masks), [*masks]
    while left:
        root = left.pop()
        of = root.of
        if of is None or root.dropped or root.values[every[root]].max(initial=of.low) > of.low:
            continue
        for each, table in of.tables.items():
            own, least = every.get(each), table.array == table.low
            every[each] = least if own is None else own & least
            left += [each] if own is None else []
    return every


def same_mask(one: Mask | None, other: Mask | None) -> bool:
    """Whether two states are on the same values of a root."""
    if one is None or other is None:
        return one is other
    return one is other or bool((one == other).all())


class Meeting:
    """The common values of two states that differ in the values of one root."""

    def __init__(self, algebra: Algebra, root: Root, one: ChipState, other: ChipState) -> None:
        self._algebra, self._root, self._states = algebra, root, (one, other)
        self._one = one.reached(root)
        self._masks = [with_least(each.masks) for each in (one, other)]

    def value(self, x: Any, y: Any) -> Any:
        """Return the value that is x in one state and y in the other, if there is one."""
        if same(x, y):
            return x
        x, y = (self._of_parts(*each) for each in zip((x, y), self._states, strict=True))
        if not isinstance(x, int | Byte) or not isinstance(y, int | Byte):
            return None
        x, y = self._over_root(x), self._over_root(y)
        for one, other, masks in ((x, y, self._masks[1]), (y, x, self._masks[0])):
            if same(one, other) or self._covers(one, other, masks):
                return one
        chosen = self._chosen(x, y)
        if chosen is not None:
            return chosen
        for one, other, states in ((x, y, self._states), (y, x, self._states[::-1])):
            known = self._known(other, states[1])
            value = one if same(one, known) else self._extended(one, known, *states)
            if value is not None:
                return value
        return None

    def _of_parts(self, value: object, state: ChipState) -> Any:
        """Return bytes that are joined by OR as 0, if a state is where all of them are."""
        if not isinstance(value, Combined):
            return value
        return 0 if all(self._known(each, state) == 0 for each in value.parts) else None

    def _extended(self, byte: object, number: object, own: ChipState, other: ChipState) -> Value:
        """Return a value that is this byte in one state, and a number in the other, if possible.

        A sum's range in a state is an interval. The byte, a function of a sum, may be changed where
        the sum is only in the other state.
        """
        if not isinstance(byte, Byte) or not isinstance(number, int):
            return None
        root = byte.form.root
        if root is None or root.of is None:
            return byte if self._known(byte, other) == number else None
        low, high = (end >> root.dropped for end in self._bounds(root.of, other))
        if low < root.values[0] or high > root.values[-1]:
            return None  # the other state may have values for which there is no root
        there, array = self._reached(root, other), byte.array()
        different = there & (array != number)
        if not different.any():
            return byte
        if (different & self._reached(root, own)).any():
            return None
        return byte_of(single(root, np.where(different, number, array)), 0)

    def _bounds(self, form: SumForm, state: ChipState) -> tuple[int, int]:
        self._algebra.facts, self._algebra.masks = state.facts, with_least(state.masks)
        bounds = self._algebra.bounds(form, by_cuts=True)
        self._algebra.forget()
        return bounds

    def _reached(self, root: Root, state: ChipState) -> Mask:
        """Return where a root may be in a state."""
        assert root.of is not None
        low, high = (end >> root.dropped for end in self._bounds(root.of, state))
        within: Mask = (root.values >= low) & (root.values <= high)
        return within & state.masks.get(root, True)

    def _known(self, value: object, state: ChipState) -> Any:
        """Return a byte as a number, if all inputs that lead to a state give it the same."""
        if not isinstance(value, Byte):
            return value
        root = value.form.root
        if root is None or root.of is None:
            low, high = (end >> value.bit for end in self._bounds(value.form, state))
            return low & 255 if low == high else value
        array = value.array()[self._reached(root, state)]
        return int(array[0]) if array.size and (array == array[0]).all() else value

    def _chosen(self, x: int | Byte, y: int | Byte) -> Value:
        """Return a table with the values of both, if the root is all that they depend on there."""
        bit = max((each.bit for each in (x, y) if isinstance(each, Byte)), default=0)
        modulus = max(256 << bit, 1 << 16)
        x, y = (_moved(each, bit) for each in (x, y))
        joined = None
        if all(
            (isinstance(v, int) and bit == 0) or (isinstance(v, Byte) and v.bit == bit)
            for v in (x, y)
        ):
            forms = [self._as_root(constant(v) if isinstance(v, int) else v.form) for v in (x, y)]
            joined = where(self._root, self._one, *forms, modulus=modulus)
        if joined is None:
            bit = 0
            try:
                forms = [self._algebra.number(self._rooted(each)) for each in (x, y)]
            except Unproven:
                return None
            joined = where(self._root, self._one, *forms)
        return None if joined is None else _byte_at(joined, bit)

    def flag(self, x: object, y: object, bit: Callable[[Any], Any]) -> Any:
        """Return the flag that is x in one state and y in the other, if it is ever used."""
        if x is y or x is None or y is None:
            return x if x is y else None

        def compute() -> Condition | None:
            masks = []
            for each in (x, y):
                value = bit(each)
                if isinstance(value, Bit) and value.root is self._root:
                    masks.append(value.mask)
                elif isinstance(value, int):
                    masks.append(np.full(self._root.size, bool(value)))
                else:
                    return None
            mask = np.where(self._one, *masks)
            return int(mask[0]) if mask.all() or not mask.any() else Bit(self._root, mask)

        return Flag(compute)

    def _rooted(self, value: int | Byte) -> int | Byte:
        return Byte(self._as_root(value.form), value.bit) if isinstance(value, Byte) else value

    def _as_root(self, form: SumForm) -> SumForm:
        """Return a multiple of a sum that was cut into the root as a form over that."""
        of = self._root.of
        if of is None or self._root.dropped or form.tables.keys() != of.tables.keys():
            return form
        factor = factor_of(form, of)
        rest = minus(form, scaled(of, factor))
        if rest.tables:
            return form
        return single(self._root, factor * self._root.values + rest.constant)

    def _over_root(self, value: object) -> Any:
        """Return a byte of a sum that was cut without its lowest bytes over the root."""
        root, of = self._root, self._root.of
        if (
            not isinstance(value, Byte) or of is None or not root.dropped
            or value.bit < root.dropped or value.form.tables.keys() != of.tables.keys()
        ):  # fmt: skip
            return value
        found, array = self._algebra.array(value)
        return byte_of(single(root, array), 0) if found is root else value

    def _covers(self, x: object, y: Any, masks: Mapping[Root, Mask]) -> bool:
        """Whether x is equal to y within masks."""
        if not isinstance(x, Byte):
            return False
        if isinstance(y, Byte) and x.bit == y.bit:
            parts = different_parts(self._as_root(x.form), self._as_root(y.form))
            return self._are_congruent(*parts, 256 << x.bit, masks)
        form = self._within(self._as_root(x.form), masks)
        if isinstance(y, int):
            return same(_byte_at(form, x.bit), y)
        other = self._within(self._as_root(y.form), masks)
        together = form.root is not None and form.root is other.root
        return together and bool((Byte(form, x.bit).array() == Byte(other, y.bit).array()).all())

    def _are_congruent(
        self, x: SumForm, y: SumForm, modulus: int, masks: Mapping[Root, Mask]
    ) -> bool:
        """Whether two forms are equal modulo a number, within masks."""
        roots = x.tables.keys() | y.tables.keys()
        if len(roots) == 1 and roots <= masks.keys():  # such as a weight times a value of 0
            (root,) = roots
            difference = (x.table(root) - y.table(root))[masks[root]] + (x.constant - y.constant)
            if not np.count_nonzero(rest_of(difference, modulus)):
                return True
            if root.of is None or root.of.tables.keys().isdisjoint(masks):
                return False
        return congruent(self._within(x, masks), self._within(y, masks), modulus)

    def _within(self, form: SumForm, masks: Mapping[Root, Mask]) -> SumForm:
        """Return a form that is equal within masks.

        A function of a sum becomes one of what the sum is there: another sum, an input or a number.
        """
        form = _restricted(form, masks)
        for root in [*form.tables]:
            of = root.of if root in form.tables else None
            if of is None or root.dropped or of.tables.keys().isdisjoint(masks):
                continue
            of = _restricted(of, masks)
            other, values = (of.root, of.array()) if of.root else self._algebra.cut(of)
            at = np.searchsorted(root.values, values).clip(0, root.size - 1)
            if (root.values[at] == values).all():
                form = plus(form.without(root), single(other, form.table(root)[at]))
        return form


def _restricted(form: SumForm, masks: Mapping[Root, Mask]) -> SumForm:
    """Return a form that is equal within masks, with one value outside of each."""
    for root in masks.keys() & form.tables.keys():
        form = restricted(form, root, masks[root])
    return form


def _moved(value: int | Byte, bit: int) -> int | Byte:
    """Return a byte that repeats a sign as a higher one."""
    if isinstance(value, Byte) and value.is_at(bit):
        return Byte(value.form, bit)
    return value


def _byte_at(form: SumForm, bit: int) -> int | Byte:
    return Byte(form, bit) if form.tables else form.constant >> bit & 255


def over_way(way: Root, values: list[Any]) -> Any:
    """Return the value that is one of these for each value of a way, if there is one."""
    first = values[0]
    if not all(isinstance(each, int | Byte) for each in values):
        return first if all(each is first for each in values) else None
    if all(same(each, first) for each in values):
        return first
    if all(isinstance(each, int) for each in values):
        return byte_of(single(way, values), 0)
    base = next(each for each in values if isinstance(each, Byte))
    offsets = []
    for each in values:
        if isinstance(each, int) or each.bit != base.bit:
            return None
        rest = minus(each.form, base.form)
        if rest.tables:
            return None
        offsets.append(rest.constant)
    near = nearest_numbers(offsets, max(256 << base.bit, 1 << 16))
    return _byte_at(plus(base.form, single(way, near)), base.bit)


def words_over_way(
    algebra: Algebra, way: Root, lows: list[Any], highs: list[Any]
) -> tuple[Value, Value] | None:
    """Return the bytes of a number that is one of these for each value of a way, if possible."""
    words = [_word(algebra, *each) for each in zip(lows, highs, strict=True)]
    base, offsets = words[0], []
    for each in words:
        if base is None or each is None:
            return None
        offsets.append((each.constant - base.constant + 0x8000) % 0x10000 - 0x8000)
        if not congruent(each, plus(base, constant(offsets[-1])), 1 << 16):
            return None
    assert base is not None
    joined = plus(base, single(way, offsets))
    return byte_of(joined, 0), byte_of(joined, 1)


def _word(algebra: Algebra, low: object, high: object) -> SumForm | None:
    """Return a form with these two bytes."""
    if not isinstance(low, int | Byte) or not isinstance(high, int | Byte):
        return None
    if isinstance(low, Byte) and isinstance(high, Byte) and (low.bit, high.bit) == (0, 8):
        return high.form if congruent(low.form, high.form, 256) else None
    try:
        forms = algebra.number(low), algebra.number(high)
    except Unproven:
        return None
    return recentred(plus(forms[0], scaled(forms[1], 256)), 1 << 16)
