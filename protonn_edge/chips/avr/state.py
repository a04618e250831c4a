"""What is known of a chip where code reaches an instruction: above all, of its stack pointer.

Compilers reserve local variables by computing with copies of the stack pointer, byte by byte. So a
byte may be a part of an address on the stack, besides a number. The interrupt flag is followed as
well, and the copies of it that code keeps to write them back to SREG.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from protonn_edge.chips.avr.instruction_set import KEPT_BY_CALLEE
from protonn_edge.chips.avr.semantics import (
    CARRY,
    HALF,
    INTERRUPTS,
    SREG,
    STACK_LOW,
    TRANSFER,
    KnownNumbers,
    Y,
)

_ARGUMENTS = range(8, 26, 2)  # pairs of registers that a call may pass
_LONGEST_OFFSET = 63  # of ``std``
_FLAG = 1 << INTERRUPTS

OFF, ON, ENTRY, RETI = (frozenset({each}) for each in ("clear", "set", "as at the entry", "reti"))
"""Possible values of the interrupt flag, or of its bit in a byte, and unions; RETI sets it."""
_ANY = OFF | ON | ENTRY


class Half(NamedTuple):
    """One byte of an address on the stack."""

    below: int  # bytes from the address up to the stack pointer at the function's entry
    high: bool

    def lowered(self, by: int) -> Half:
        """Return the byte after the address was lowered."""
        return Half((self.below + by) % 0x10000, self.high)


class Slot(NamedTuple):
    """A byte on the stack."""

    below: int  # bytes from it up to the stack pointer at the function's entry


class _Assumed(NamedTuple):
    """A number kept in a local variable, which a pointer may have changed, or computed from one.

    It counts for what is stored there, but calls and jumps through it stay unknown.
    """

    number: int


class _Lowered(NamedTuple):
    """The carry of a sum that lowered the lower byte of an address on the stack."""

    by: int


Value = int | _Assumed | Half | frozenset[str] | None
"""The content of a byte: a number, a part of a stack address, an interrupt flag, or unknown."""

Registers = tuple[Value, ...]
"""The contents of the 32 registers."""

AT_CALLS: Registers = (None, 0, *[None] * 30)
"""The known contents of registers when a function is called."""

_KEPT_BY_CALLS = frozenset({*KEPT_BY_CALLEE, Y, Y + 1})

UNWRITTEN: tuple[Value, Value] = (None, None)
_UNKNOWN: tuple[Value, Value] = (_ANY, _ANY)


@dataclass
class State:
    """The known registers and stack before an instruction."""

    depth: int = 0  # bytes on the stack below the function's return address
    registers: list[Value] = field(default_factory=lambda: [*AT_CALLS])
    # of which the last is a set of possible ones
    flags: list[Any] = field(default_factory=lambda: [None] * INTERRUPTS + [ENTRY])
    # the halves of a new stack pointer, low and high, while only one is written
    pointer: tuple[Value, Value] = UNWRITTEN
    slots: Mapping[int, Value] = field(default_factory=dict)  # known bytes, by `Slot.below`

    def copy(self) -> State:
        """Return a copy."""
        return State(self.depth, [*self.registers], [*self.flags], self.pointer, self.slots)

    @property
    def flag(self) -> frozenset[str]:
        """Possible interrupt flags; calls are assumed not to enable interrupts."""
        flag = self.flags[INTERRUPTS]
        return flag if isinstance(flag, frozenset) else ON if flag else OFF

    @property
    def has_half_a_pointer(self) -> bool:
        """Whether one half of the stack pointer is the old one."""
        return self.pointer != UNWRITTEN

    def merged(self, other: State) -> State:
        """Return the state where two paths of the same depth meet."""
        if self == other:
            return self
        flags = [
            mine if mine == yours else None
            for mine, yours in zip(self.flags[:INTERRUPTS], other.flags, strict=False)
        ]
        slots = self.slots
        if slots != other.slots:
            both = slots.keys() & other.slots.keys()
            slots = {below: _joined(slots[below], other.slots[below]) for below in both}
        return State(
            self.depth,
            [
                mine if mine == yours else _joined(mine, yours)  # mostly all of them are equal
                for mine, yours in zip(self.registers, other.registers, strict=True)
            ],
            [*flags, self.flag | other.flag],
            self.pointer if self.pointer == other.pointer else _UNKNOWN,
            slots,
        )

    def arguments(self) -> Registers:
        """Return the registers of a callee, with numbers near the stack pointer's address."""
        registers = [*AT_CALLS]
        for at in _ARGUMENTS:
            pair = self.registers[at : at + 2]
            if STACK_LOW - _LONGEST_OFFSET <= (number(*pair) or 0) <= SREG:
                registers[at : at + 2] = pair
        return tuple(registers)

    def after_call(self) -> State:
        """Return the state after a call, which preserves the registers that the ABI demands."""
        registers = [
            value if number in _KEPT_BY_CALLS else None
            for number, value in enumerate(self.registers)
        ]
        registers[1] = 0
        return State(
            self.depth, registers, [None] * INTERRUPTS + [self.flag | ENTRY], slots=self.slots
        )

    # ---- the stack ----

    def move(self, depth: int) -> None:
        """Let another number of bytes be on the stack."""
        if depth < self.depth:
            self.slots = {below: each for below, each in self.slots.items() if below < depth}
        self.depth = depth

    def read(self, slot: Slot) -> Value:
        """Return what is known of a local variable.

        It may change through pointers, so only copies of SREG are known, and what else it got is
        assumed.
        """
        value = self.slots.get(slot.below)
        return value if isinstance(value, _Assumed | frozenset) else None

    def write(self, slot: Slot, value: Value) -> None:
        """Set a local variable."""
        self.slots = {**self.slots, slot.below: _kept(value)}

    def push(self, value: Value) -> None:
        """Put a byte onto the stack."""
        self.slots = {**self.slots, self.depth: value}
        self.depth += 1

    def pop(self) -> Value:
        """Take a byte off the stack."""
        value = self.slots.get(self.depth - 1)
        self.move(self.depth - 1)
        return value


class StackAddresses(KnownNumbers):
    """Numbers, bytes of addresses on the stack, and interrupt flags in copies of SREG."""

    def sum(
        self, flags: list[Any], a: object, b: object, carry: Any, sign: int, *, chain: bool = False
    ) -> Any:
        """Add two bytes, or subtract: also a number and a byte of an address."""
        if sign > 0 and isinstance(b, Half):
            a, b = b, a
        if isinstance(a, Half):
            flags[:TRANSFER] = [None] * TRANSFER
            by = carry.by if isinstance(carry, _Lowered) else carry
            if not isinstance(b, int) or not isinstance(by, int) or carry == 1:
                return None
            by -= sign * b * (256 if a.high else 1)
            flags[CARRY] = _Lowered(by)
            return a.lowered(by)
        result = super().sum(flags, _plain(a), _plain(b), _plain(carry), sign, chain=chain)
        if result is None or not any(isinstance(each, _Assumed) for each in (a, b, carry)):
            return result
        flags[:TRANSFER] = [_Assumed(flags[CARRY]), *[None] * HALF]
        return _Assumed(result)

    def both(self, a: Value, b: Value) -> Value:
        """Return the bits that are set in two bytes."""
        number: Value = super().both(a, b)
        return _decided(a, b, OFF, ON) if number is None else number

    def either(self, a: Value, b: Value) -> Value:
        """Return the bits that are set in one of two bytes."""
        number: Value = super().either(a, b)
        return _decided(a, b, ON, OFF) if number is None else number


def flag_in(value: Value) -> frozenset[str]:
    """Return the interrupt flag that writing a byte to SREG would set."""
    if isinstance(value, _Assumed):
        value = value.number
    if isinstance(value, int):
        return ON if value >= _FLAG else OFF
    return value if isinstance(value, frozenset) else _ANY


def number(low: Value, high: Value) -> int | None:
    """Return the number in two bytes, if known or assumed."""
    low, high = _plain(low), _plain(high)
    return None if low is None or high is None else high << 8 | low


def below(low: Value, high: Value) -> int | None:
    """Return how far an address on the stack is below the function's entry, from its bytes."""
    if not isinstance(low, Half) or not isinstance(high, Half) or low.high or not high.high:
        return None
    if (low.below - high.below) % 256:
        return None
    return (high.below + 0x8000) % 0x10000 - 0x8000


def _decided(
    a: Value, b: Value, decisive: frozenset[str], neutral: frozenset[str]
) -> frozenset[str]:
    """Return the flag of two that one of them decides, if it has a value."""
    flags = flag_in(a), flag_in(b)
    both = flags[0] & flags[1]
    return decisive if decisive in flags else (flags[0] | flags[1]) - (neutral - both)


def _plain(value: object) -> int | None:
    """Return a number, if known or assumed."""
    if isinstance(value, _Assumed):
        return value.number
    return value if isinstance(value, int) else None


def _joined(mine: Value, yours: Value) -> Value:
    """Return the known content of a byte where two paths meet."""
    if mine == yours:
        return mine
    both = _kept(mine), _kept(yours)
    return both[0] if both[0] == both[1] else flag_in(mine) | flag_in(yours)


def _kept(value: Value) -> Value:
    """Return the known content of a byte in a local variable."""
    if isinstance(value, int):
        return _Assumed(value)
    return value if isinstance(value, _Assumed) else flag_in(value)
