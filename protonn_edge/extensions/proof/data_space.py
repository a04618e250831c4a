"""The memory of a chip under proof: addresses, the stack, and what may be written."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from protonn_edge.chips.avr.semantics import IO_REGISTERS, SREG
from protonn_edge.extensions.proof.adapted import CallersArray
from protonn_edge.extensions.proof.algebra import Algebra
from protonn_edge.extensions.proof.forms import (
    Bit,
    Byte,
    Integers,
    Root,
    SumForm,
    Summand,
    Unproven,
    Value,
    byte_of,
    congruent,
    constant,
    plus,
    single,
    variable,
)
from protonn_edge.extensions.proof.state import ChipState

FIRST_SRAM = 0x100
OFFSETS = 1 << 20
"""Addresses from here on are relative: `OFFSETS` apart for each pointer of unknown value."""
_BASE = 1 << 16  # so that an offset may be negative
_NOWHERE = range(0)
Place = int | tuple[Root, Integers]
"""A data address, or one for each value of a root."""


class DataSpace:
    """Memory that may be written only where the model's variables are.

    Attributes
    ----------
    initial : dict of int to int
        Bytes of the model's variables before the call: all that may be written.
    carried : set of int
        Those that are read before they are written.
    callers : CallersArray
        An array that is only read, without a pointer to it.
    kept : frozenset of int
        Bytes of the model's variables that nothing initializes, such as counters: they may be
        anything whenever they are read, and nothing is claimed of them.
    """

    def __init__(self, algebra: Algebra, initial: Mapping[int, int]) -> None:
        self.algebra, self.initial = algebra, dict(initial)
        self.carried: set[int] = set()
        self.kept: frozenset[int] = frozenset()
        self.callers = CallersArray()
        self._pointers: dict[Summand, tuple[Root, int]] = {}
        self._writable: dict[int, range] = {}

    def pointer(
        self, name: str, values: NDArray[np.int64], writable: range = _NOWHERE
    ) -> tuple[Root, int]:
        """Return a root for an address, and a place that stands for the address.

        Only the addresses at `writable` distances from it are written.
        """
        root = Root(name, values, is_address=True)
        if len(values) == 1:
            return root, int(values[0])
        place = (len(self._pointers) + 1) * OFFSETS + _BASE
        self._pointers[variable(root).tables[root]] = root, place
        self._writable[place - _BASE] = range(place + writable.start, place + writable.stop)
        return root, place

    def array(self, name: str, bytes_: Sequence[Byte]) -> tuple[list[Value], dict[int, Any]]:
        """Return a pointer to an array that is only read, and the memory there."""
        root, place = self.pointer(name, np.arange(FIRST_SRAM, 0x10000 - len(bytes_)))
        memory = {place + k: byte for k, byte in enumerate(bytes_)}
        return [byte_of(variable(root), k) for k in range(2)], memory

    def stack(self) -> list[Value]:
        """Return the bytes of a stack pointer that may be anywhere in SRAM."""
        root, _ = self.pointer("stack", np.arange(FIRST_SRAM, 0x10000), range(-_BASE, 1))
        return [byte_of(variable(root), k) for k in range(2)]

    def address(self, low: Value, high: Value, offset: int = 0) -> Place:
        """Return an address: a number, or a root and the addresses over it."""
        if low is None or high is None:
            raise Unproven("an undefined address is used")
        if isinstance(low, int) and isinstance(high, int):
            return (low + (high << 8) + offset) & 0xFFFF
        form = _whole(low, high)
        if form is not None:
            pointer = self._pointers.get(next(iter(form.tables.values()))) if form.root else None
            if pointer is not None:
                more = form.constant - int(pointer[0].values[0]) + offset
                return pointer[1] + (more + 0x8000) % 0x10000 - 0x8000
            one, array = (form.root, form.array()) if form.root else self.algebra.cut(form)
            return one, (array + offset) & 0xFFFF
        root, array = self.algebra.pointwise(lambda x, y: (x | y << 8) + offset & 0xFFFF, low, high)
        assert root is not None
        return root, array

    def moved(self, low: Value, high: Value, by: int) -> list[Value]:
        """Return the bytes of a pointer that is incremented or decremented."""
        form = _whole(low, high)
        if form is None:
            place = self.address(low, high)
            assert isinstance(place, tuple)
            form = single(*place)
        moved = plus(form, constant(by))
        return [byte_of(moved, 0), byte_of(moved, 1)]

    def load(self, state: ChipState, place: Place) -> Any:
        """Return the byte at an address."""
        if isinstance(place, tuple):
            return self._load_one_of(state, *place)
        return self.read(state, place)

    def store(self, state: ChipState, place: Place, value: Any) -> None:
        """Set the byte at an address."""
        if isinstance(place, tuple):
            self._store_one_of(state, *place, value)
        else:
            self.write(state, place, value)

    def read(self, state: ChipState, place: int) -> Any:
        """Return a byte of the data space."""
        if place in self.kept:
            return anything()
        value = state.memory.get(place)
        if value is None and place not in state.memory:
            if place in self.initial:
                return self.before(state, place)
            argument = self.callers.at(place)
            if argument is not None:
                return argument
            if place < OFFSETS or not self._writable[place - place % OFFSETS]:
                raise Unproven(f"it reads {_named(place)}")
        if isinstance(value, Byte) and value.bit == 0 and value.form.root is not None:
            form = value.form
            beside = (getattr(state.memory.get(place + k), "form", None) for k in (-1, 1))
            if any(each is not None and each.root is form.root for each in beside):
                return value  # of a number of several bytes
            if form.low >= -128 and form.high < (256 if form.low >= 0 else 128):
                return byte_of(self.algebra.reduced(form), 0)
        return value

    def before(self, state: ChipState, place: int) -> Any:
        """Return what a state holds at a place, written or not; None if that is undefined."""
        if place in state.memory or place not in self.initial:
            return state.memory.get(place)
        self.carried.add(place)
        return self.initial[place]

    def write(self, state: ChipState, place: int, value: object) -> None:
        """Set a byte of the data space, which must be one of the model's or of the stack."""
        if place in self.kept:
            return
        if place < OFFSETS:
            inside = place in self.initial
        else:
            inside = place in self._writable[place - place % OFFSETS]
        if not inside:
            raise Unproven(f"it writes {_named(place)}")
        state.memory[place] = value
        if place >= OFFSETS:
            self.clear_below(state)

    def _load_one_of(self, state: ChipState, root: Root, addresses: NDArray[np.int64]) -> Value:
        """Return the byte at an address that depends on a root, as the byte's value must."""
        mask = state.reached(root)
        if self.kept.issuperset(addresses[mask].tolist()):
            return anything()
        values = np.zeros(root.size, np.int64)
        for address in np.unique(addresses[mask]).tolist():
            here = addresses == address
            values[here] = np.broadcast_to(_over(root, self.read(state, address)), here.shape)[here]
        return byte_of(single(root, values), 0)

    def _store_one_of(
        self, state: ChipState, root: Root, addresses: NDArray[np.int64], value: Value
    ) -> None:
        """Set the byte at an address that depends on a root, as the bytes' values must."""
        mask = state.reached(root)
        if self.kept.issuperset(addresses[mask].tolist()):
            return
        new = _over(root, value)
        for address in np.unique(addresses[mask]).tolist():
            before = _over(root, self.before(state, address))
            array = np.where(mask & (addresses == address), new, before)
            self.write(state, address, byte_of(single(root, array), 0))

    def clear_below(self, state: ChipState) -> None:
        """Forget what is below the top of the stack, which an interrupt may change."""
        top = self.top(state)
        lowest = top - top % OFFSETS
        for place in [each for each in state.memory if lowest <= each <= top]:
            del state.memory[place]

    def top(self, state: ChipState) -> int:
        """Return where the next byte on the stack goes."""
        place = self.address(*state.stack)
        if not isinstance(place, int) or place < OFFSETS:
            raise Unproven("the stack is elsewhere than before the call")
        return place


def anything() -> Value:
    """Return a byte of which nothing is known."""
    return byte_of(variable(Root("anything", np.arange(256))), 0)


def any_bit() -> Bit:
    """Return a bit of which nothing is known."""
    return Bit(Root("any bit", [0, 1]), np.array([False, True]))


def _over(root: Root, value: object) -> Any:
    """Return the values of a byte over a root, of which it is a function."""
    if isinstance(value, Byte) and value.form.root is root:
        return value.array()
    if not isinstance(value, int):
        raise Unproven("a variable is used at an unknown place")
    return value


def _named(place: int) -> str:
    if IO_REGISTERS <= place <= SREG:
        return f"I/O 0x{place - IO_REGISTERS:x}"
    if place < OFFSETS:
        return f"0x{place:x}, which is none of the model's variables"
    return "beyond its arguments and its stack"


def _whole(low: Value, high: Value) -> SumForm | None:
    """Return the form of two bytes, if they are its lowest ones."""
    if isinstance(low, int) and isinstance(high, int):
        return constant(low | high << 8)
    if not isinstance(low, Byte) or not isinstance(high, Byte) or (low.bit, high.bit) != (0, 8):
        return None
    return high.form if congruent(low.form, high.form, 256) else None
