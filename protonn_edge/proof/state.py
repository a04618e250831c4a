"""The state of a chip under proof, and what two paths have in common where they meet."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np

from protonn_edge.avr.order import CallFrame
from protonn_edge.proof.algebra import Algebra
from protonn_edge.proof.facts import OrderFacts
from protonn_edge.proof.forms import (
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
    minus,
    plus,
    recentred,
    restricted,
    same,
    scaled,
    single,
    where,
)

CARRY, ZERO, NEGATIVE, OVERFLOW, SIGN, HALF, TRANSFER, INTERRUPTS = range(8)


class Flag:
    """A flag that is computed when it is used."""

    def __init__(self, compute: Callable[[], Condition | None]) -> None:
        self.compute = compute
        self.known: Condition | None = None


class Carry(Flag):
    """The carry or borrow of sums modulo a power of 256, which higher bytes continue."""

    def __init__(self, algebra: Algebra, x: SumForm, y: SumForm, place: int, sign: int) -> None:
        super().__init__(lambda: algebra.carry(x, y, 1 << 8 * place, sign))
        self.x, self.y, self.place, self.sign = x, y, place, sign


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

    def __init__(self, form: SumForm, place: int, times: int) -> None:
        self.form, self.place, self.times = form, place, times


class Status:
    """The flags as they were when a program saved them."""

    def __init__(self, flags: list[Any]) -> None:
        self.flags = flags


class ChipState:
    """A chip in front of an instruction, on the inputs within its masks and facts."""

    __slots__ = (
        "calls", "cycles", "facts", "flags", "frames", "masks", "memory", "place", "registers",
        "stack",
    )  # fmt: skip

    def __init__(self, place: int) -> None:
        self.place = place
        self.registers: list[Any] = [None] * 32
        self.flags: list[Any] = [None] * 8
        self.memory: dict[int, Any] = {}
        self.stack: list[Any] = [None, None]  # the bytes of the stack pointer
        # of the functions under way: how far they are, and where they were called
        self.frames: list[CallFrame] = []
        self.calls: list[int] = []
        # the inputs that lead here: values of roots, and comparisons of sums
        self.masks: dict[Root, Mask] = {}
        self.facts: OrderFacts = ()
        self.cycles = 0, 0  # so far: at least and at most

    def copy(self) -> ChipState:
        """Return a copy."""
        other = ChipState(self.place)
        other.registers, other.flags = [*self.registers], [*self.flags]
        other.memory, other.stack = dict(self.memory), [*self.stack]
        other.frames, other.calls = [each.copy() for each in self.frames], [*self.calls]
        other.masks, other.facts = dict(self.masks), self.facts
        other.cycles = self.cycles
        return other

    def spend(self, cycles: int) -> None:
        """Count cycles."""
        least, most = self.cycles
        self.cycles = least + cycles, most + cycles

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
        full = np.ones(root.size, bool)
        self._algebra, self._root, self._states = algebra, root, (one, other)
        self._one, self._other = one.masks.get(root, full), other.masks.get(root, full)

    def value(self, x: Any, y: Any) -> Any:
        """Return the value that is x in one state and y in the other, if there is one."""
        if same(x, y):
            return x
        if not isinstance(x, int | Byte) or not isinstance(y, int | Byte):
            return None
        x, y = self._over_root(x), self._over_root(y)
        for one, other, mask in ((x, y, self._other), (y, x, self._one)):
            if same(one, other) or self._covers(one, other, mask):
                return one
        chosen = self._chosen(x, y)
        if chosen is not None:
            return chosen
        for one, other, state in ((x, y, self._states[1]), (y, x, self._states[0])):
            known = self._known(one, state)
            if isinstance(known, int) and same(known, self._known(other, state)):
                return one
        return None

    def _known(self, value: Any, state: ChipState) -> Any:
        """Return a byte as a number, if all inputs that lead to a state give it the same."""
        if not isinstance(value, Byte):
            return value
        root = value.form.root
        form = root.of if root is not None and root.of is not None else value.form
        self._algebra.facts, self._algebra.masks = state.facts, with_least(state.masks)
        low, high = self._algebra.bounds(form, by_cuts=True)
        self._algebra.forget()
        if form is value.form:
            low, high = (end >> 8 * value.place for end in (low, high))
            return low & 255 if low == high else value
        assert root is not None
        first, last = np.searchsorted(
            root.values, (low >> 8 * root.dropped, high >> 8 * root.dropped)
        )
        array = value.array()[first : last + 1]
        inside = root.values[0] <= low >> 8 * root.dropped and last < root.size
        return int(array[0]) if inside and (array == array[0]).all() else value

    def _chosen(self, x: int | Byte, y: int | Byte) -> Value:
        """Return a table with the values of both, if the root is all that they depend on there."""
        places = {each.place for each in (x, y) if isinstance(each, Byte)}
        place = max(places, default=0)
        x, y = (_moved(each, place) for each in (x, y))
        joined = None
        if all(
            (isinstance(v, int) and place == 0) or (isinstance(v, Byte) and v.place == place)
            for v in (x, y)
        ):
            forms = [self._as_root(constant(v) if isinstance(v, int) else v.form) for v in (x, y)]
            joined = where(self._root, self._one, *forms)
        if joined is None:
            place = 0
            try:
                forms = [self._algebra.number(self._rooted(each)) for each in (x, y)]
            except Unproven:
                return None
            joined = where(self._root, self._one, *forms)
        return None if joined is None else byte_of(joined, place)

    def flag(self, x: Any, y: Any, bit: Callable[[Any], Any]) -> Any:
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
        return Byte(self._as_root(value.form), value.place) if isinstance(value, Byte) else value

    def _as_root(self, form: SumForm) -> SumForm:
        """Return a multiple of a sum that was cut into the root as a form over that."""
        of = self._root.of
        if of is None or self._root.dropped or form.tables.keys() != of.tables.keys():
            return form
        root = next(iter(of.tables))
        at = int(np.argmax(np.abs(of.table(root))))
        factor = int(form.table(root)[at]) // int(of.table(root)[at])
        rest = minus(form, scaled(of, factor))
        if rest.tables:
            return form
        return single(self._root, factor * self._root.values + rest.constant)

    def _over_root(self, value: Any) -> Any:
        """Return a byte of a sum that was cut without its lowest bytes over the root."""
        root = self._root
        of, dropped = root.of, root.dropped
        if (
            not isinstance(value, Byte) or of is None or not dropped or value.place < dropped
            or value.form.tables != of.tables
        ):  # fmt: skip
            return value
        shift = 8 * dropped
        if value.form.constant & (1 << shift) - 1 != of.constant:
            return value
        values = root.values + (value.form.constant >> shift)
        return byte_of(single(root, values), value.place - dropped)

    def _covers(self, x: Any, y: Any, mask: Mask) -> bool:
        """Whether x is equal to y where the mask is set."""
        if not isinstance(x, Byte):
            return False
        form = restricted(self._as_root(x.form), self._root, mask)
        if isinstance(y, int) or same(byte_of(form, x.place), y):
            return same(byte_of(form, x.place), y)
        other = restricted(self._as_root(y.form), self._root, mask)
        if x.place != y.place:
            together = form.root is not None and form.root is other.root
            return together and bool(
                (Byte(form, x.place).array() == Byte(other, y.place).array()).all()
            )
        return congruent(form, other, 256 << 8 * x.place)


def _moved(value: int | Byte, place: int) -> int | Byte:
    """Return a byte that repeats a sign as a higher one."""
    if isinstance(value, Byte) and value.place < place and value.extends:
        return Byte(value.form, place)
    return value


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
        if isinstance(each, int) or each.place != base.place:
            return None
        rest = minus(each.form, base.form)
        if rest.tables:
            return None
        offsets.append(rest.constant)
    return byte_of(plus(base.form, single(way, offsets)), base.place)


def words_over_way(
    algebra: Algebra, way: Root, lows: list[Any], highs: list[Any]
) -> tuple[Value, Value] | None:
    """Return the bytes of a number that is one of these for each value of a way, if possible."""
    words = [_word(algebra, *each) for each in zip(lows, highs, strict=True)]
    base, offsets = words[0], []
    for each in words:
        if base is None or each is None:
            return None
        offsets.append(each.constant - base.constant)
        if not congruent(each, plus(base, constant(offsets[-1])), 1 << 16):
            return None
    assert base is not None
    joined = plus(base, single(way, offsets))
    return byte_of(joined, 0), byte_of(joined, 1)


def _word(algebra: Algebra, low: Any, high: Any) -> SumForm | None:
    """Return a form with these two bytes."""
    if not isinstance(low, int | Byte) or not isinstance(high, int | Byte):
        return None
    if isinstance(low, Byte) and isinstance(high, Byte) and (low.place, high.place) == (0, 1):
        return high.form if congruent(low.form, high.form, 256) else None
    try:
        forms = algebra.number(low), algebra.number(high)
    except Unproven:
        return None
    return recentred(plus(forms[0], scaled(forms[1], 256)), 1 << 16)
