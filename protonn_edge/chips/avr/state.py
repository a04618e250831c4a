"""Tracks the stack pointer from instruction to instruction, as far as it is known.

Compilers reserve local variables by computing with copies of the stack pointer, byte by byte. So a
`State` records for each register which part of which stack address it holds, if any. It also
follows the interrupt flag, and the copies of it that code keeps to write them back to SREG.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from protonn_edge.chips.avr import instructions
from protonn_edge.chips.avr.instruction_set import EFFECTS, KEPT_BY_CALLEE, PRODUCTS
from protonn_edge.chips.avr.instructions import Decoded

_X, _Y, Z = 26, 28, 30  # pointers
_IO_REGISTERS = 0x20  # where they begin, in data addresses
_SPL, _SPH, _SREG = 0x5D, 0x5E, 0x5F  # data addresses
_ARGUMENTS = range(8, 26, 2)  # pairs of registers that a call may pass
_LONGEST_OFFSET = 63  # of ``std``
_FLAG = 1 << instructions.INTERRUPT_FLAG

OFF, ON, ENTRY, RETI = (frozenset({each}) for each in ("clear", "set", "as at the entry", "reti"))
"""Possible values of the interrupt flag, or of its bit in a byte, and unions; RETI sets it."""
_ANY = OFF | ON | ENTRY


class _Half(NamedTuple):
    """One byte of an address on the stack."""

    below: int  # bytes from the address up to the stack pointer at the function's entry
    high: bool


class _Slot(NamedTuple):
    """A byte on the stack."""

    below: int  # bytes from it up to the stack pointer at the function's entry


class _Assumed(NamedTuple):
    """A number computed or kept in a local variable, which a pointer may have changed.

    It counts for what is stored there, but calls and jumps through it stay unknown.
    """

    number: int


_Value = int | _Assumed | _Half | frozenset[str] | None
"""The content of a byte: a number, a part of a stack address, an interrupt flag, or unknown."""

Registers = tuple[_Value, ...]
"""The contents of the 32 registers."""

AT_CALLS: Registers = (None, 0, *[None] * 30)
"""The known contents of registers when a function is called."""

_KEPT_BY_CALLS = frozenset({*KEPT_BY_CALLEE, _Y, _Y + 1})
_LOW_BYTE_SUMS = frozenset({"subi", "sub", "add"})
READERS = frozenset(
    name for name, effect in EFFECTS.items() if not effect.writes_operand and name not in PRODUCTS
)
"""Instructions that do not change a register that they name."""

_STORES = frozenset({"out", "sts", "std", "st", "push"})


class State(NamedTuple):
    """The known registers and stack before an instruction."""

    depth: int = 0  # bytes on the stack below the function's return address
    registers: Registers = AT_CALLS
    # the halves of a new stack pointer, low and high, while only one is written
    pointer: tuple[_Value, _Value] = (None, None)
    carry: int | None = None  # how much the last addition lowered the low byte of a stack address
    starts_anew: bool = False  # the stack pointer was set to a constant, as the start-up code does
    # possible interrupt flags; calls are assumed not to enable interrupts
    flag: frozenset[str] = ENTRY
    slots: Mapping[int, _Value] = {}  # known bytes on the stack, by `_Slot.below`

    def merged(self, other: State) -> State:
        """Return the state where two paths of the same depth meet."""
        if self == other:
            return self
        return State(
            self.depth,
            _joined_registers(self.registers, other.registers),
            self.pointer if self.pointer == other.pointer else (_ANY, _ANY),
            self.carry if self.carry == other.carry else None,
            flag=self.flag | other.flag,
            slots=_joined_slots(self.slots, other.slots),
        )

    def arguments(self) -> Registers:
        """Return the registers of a callee, with numbers near the stack pointer's address."""
        registers = [*AT_CALLS]
        for at in _ARGUMENTS:
            pair = self.registers[at : at + 2]
            if _SPL - _LONGEST_OFFSET <= (_number(*pair) or 0) <= _SREG:
                registers[at : at + 2] = pair
        return tuple(registers)

    def after_call(self) -> State:
        """Return the state after a call, which preserves the registers that the ABI demands."""
        registers = [
            value if number in _KEPT_BY_CALLS else None
            for number, value in enumerate(self.registers)
        ]
        registers[1] = 0
        return State(self.depth, tuple(registers), flag=self.flag | ENTRY, slots=self.slots)

    def after(self, here: Decoded) -> State | None:
        """Return the state after an instruction, or None if the stack pointer is lost."""
        name, (place, value) = here.name, self._written(here)
        if place in {_SPL, _SPH}:
            return self._after_pointer_write(place == _SPH, value)
        changed = self._results(here)
        if isinstance(place, int) and place < len(self.registers):
            changed[place] = value
        carry = None if EFFECTS[name].sets_flags else self.carry
        if name in _LOW_BYTE_SUMS:
            carry = self._taken(here)
        depth, slots = self.depth + (name == "push") - (name == "pop"), self.slots
        if isinstance(place, _Slot):
            slots = {**slots, place.below: value if name == "push" else _kept(value)}
        if name == "pop":
            slots = {below: each for below, each in slots.items() if below < depth}
        registers = self.registers
        if changed:
            copied = [*registers]
            for number, each in changed.items():
                copied[number] = each
            registers = tuple(copied)
        flag = self.flag_set_by(here) or self.flag
        return State(depth, registers, self.pointer, carry, flag=flag, slots=slots)

    def flag_set_by(self, here: Decoded) -> frozenset[str] | None:
        """Return the interrupt flags that an instruction may set; None if it sets none."""
        if here.name in {"bset", "bclr"} and here.operands["s"] == instructions.INTERRUPT_FLAG:
            return ON if here.name == "bset" else OFF
        if here.name not in _STORES:
            return None
        place, value = self._written(here)
        return _flag_in(value) if place == _SREG else None

    def stack_byte_written(self, here: Decoded) -> int | None:
        """Return how far below the stack pointer at the entry an instruction writes, if known."""
        place, _ = self._written(here)
        return place.below if isinstance(place, _Slot) else None

    def _written(self, here: Decoded) -> tuple[int | _Slot | None, _Value]:
        """Return the place to which an instruction writes, if known, and the value."""
        if here.name not in _STORES:
            return None, None
        return self._place(here), self.registers[here.operands["r" if here.name == "out" else "d"]]

    def _place(self, here: Decoded) -> int | _Slot | None:
        """Return the data address or the byte on the stack that is read or written, if known."""
        operands = here.operands
        match here.name:
            case "in" | "out":
                return operands["A"] + _IO_REGISTERS
            case "lds" | "sts":
                return operands["k"]
            case "push" | "pop":
                return _Slot(self.depth - (here.name == "pop"))
        moved = here.moved or _X
        base = {0: Z, 1: _Y}[operands["y"]] if "y" in operands else moved
        offset = operands.get("q", -here.decrements)
        pointer = self.registers[base : base + 2]
        if (address := _number(*pointer)) is not None:
            return address + offset
        below = _below(*pointer)
        return None if below is None else _Slot(below - offset)

    def _read(self, here: Decoded) -> _Value:
        """Return the known content of the byte that an instruction reads.

        Local variables may change through pointers, so of them only copies of SREG are known, and
        what else they got is assumed.
        """
        place = self._place(here)
        if isinstance(place, _Slot):
            value = self.slots.get(place.below)
            return value if here.name == "pop" or isinstance(value, _Assumed | frozenset) else None
        if place == _SREG:
            return self.flag
        return _Half(self.depth, place == _SPH) if place in {_SPL, _SPH} else None

    def number_in(self, register: int) -> int | None:
        """Return the number in a register pair, if known."""
        low, high = self.registers[register : register + 2]
        if isinstance(low, int) and isinstance(high, int):
            return high << 8 | low
        return None

    def _after_pointer_write(self, high: bool, value: _Value) -> State | None:
        """Return the state after half of the stack pointer was written."""
        halves = (self.pointer[0], value) if high else (value, self.pointer[1])
        low, top = halves
        if not isinstance(value, int | _Half):
            return None
        if low is None or top is None:
            return self._replace(pointer=halves)
        if isinstance(low, int) and isinstance(top, int):
            return self._replace(depth=0, pointer=(None, None), starts_anew=True, slots={})
        depth = _below(low, top)
        if depth is None:
            return None
        slots = {below: each for below, each in self.slots.items() if below < depth}
        return self._replace(depth=depth, pointer=(None, None), slots=slots)

    def _results(self, here: Decoded) -> dict[int, _Value]:
        """Return the registers that an instruction changes, with their known contents."""
        name, operands = here.name, here.operands
        results: dict[int, _Value] = {}
        if here.moved is not None:
            results |= self._moved(here.moved, 1 if here.decrements else -1)
        if name in READERS:
            return results
        if name in PRODUCTS:
            return {0: None, 1: None}
        if name in {"lpm", "elpm"} and "d" not in operands:
            return {0: None}
        target = operands["d"]
        if name == "movw":
            source = operands["r"]
            return {target: self.registers[source], target + 1: self.registers[source + 1]}
        if name in {"adiw", "sbiw"}:
            taken = operands["K"] if name == "sbiw" else -operands["K"]
            return self._moved(target, taken)
        return results | {target: self._result(here)}

    def _moved(self, register: int, by: int) -> dict[int, _Value]:
        """Return a pair of registers after a number was subtracted."""
        low, high = self.registers[register : register + 2]
        number = _number(low, high)
        if number is None:
            return {register: _lowered(low, by), register + 1: _lowered(high, by)}
        less = number - by
        return {register: _Assumed(less & 0xFF), register + 1: _Assumed(less >> 8 & 0xFF)}

    def _result(self, here: Decoded) -> _Value:  # noqa: PLR0911  (one per instruction)
        """Return the register contents after an instruction with one result."""
        name, operands = here.name, here.operands
        old = self.registers[operands["d"]]
        match name:
            case "ldi":
                return operands["K"]
            case "pop" | "in" | "lds" | "ld" | "ldd":
                return self._read(here)
            case "mov":
                return self.registers[operands["r"]]
            case "eor" if operands["d"] == operands["r"]:
                return 0
            case "and" | "andi" | "or" | "ori":
                other = operands["K"] if "K" in operands else self.registers[operands["r"]]
                decisive, neutral = (OFF, ON) if name in {"and", "andi"} else (ON, OFF)
                flags = _flag_in(old), _flag_in(other)
                both = flags[0] & flags[1]
                return decisive if decisive in flags else (flags[0] | flags[1]) - (neutral - both)
            case "dec" | "inc" if isinstance(old, _Half) and old.high:
                return _lowered(old, 256 if name == "dec" else -256)
            case "subi" | "sub" | "add":
                return _lowered(old, self._taken(here))
            case "sbci" | "sbc" | "adc" if self.carry is not None:
                return _lowered(old, self._taken(here), self.carry)
        return None

    def _taken(self, here: Decoded) -> int | None:
        """Return by how much adding to one byte of a stack address lowers the address."""
        operands = here.operands
        amount = operands["K"] if "K" in operands else self.registers[operands["r"]]
        old = self.registers[operands["d"]]
        if not isinstance(amount, int) or not isinstance(old, _Half):
            return None
        return (-amount if here.name in {"add", "adc"} else amount) * (256 if old.high else 1)


def _flag_in(value: _Value) -> frozenset[str]:
    """Return the interrupt flag that writing a byte to SREG would set."""
    if isinstance(value, _Assumed):
        value = value.number
    if isinstance(value, int):
        return ON if value >= _FLAG else OFF
    return value if isinstance(value, frozenset) else _ANY


def _joined_registers(mine: Registers, yours: Registers) -> Registers:
    """Return the known registers where two paths meet, which mostly differ in none or a few."""
    if mine == yours:
        return mine
    joined = [*mine]
    for number, value in enumerate(mine):
        if value != yours[number]:
            joined[number] = _joined(value, yours[number])
    return tuple(joined)


def _joined_slots(mine: Mapping[int, _Value], yours: Mapping[int, _Value]) -> Mapping[int, _Value]:
    """Return the known bytes on the stack where two paths meet."""
    if mine == yours:
        return mine
    return {below: _joined(mine[below], yours[below]) for below in mine.keys() & yours.keys()}


def _joined(mine: _Value, yours: _Value) -> _Value:
    """Return the known content of a byte where two paths meet."""
    if mine == yours:
        return mine
    both = _kept(mine), _kept(yours)
    return both[0] if both[0] == both[1] else _flag_in(mine) | _flag_in(yours)


def _kept(value: _Value) -> _Value:
    """Return the known content of a byte in a local variable."""
    if isinstance(value, int):
        return _Assumed(value)
    return value if isinstance(value, _Assumed) else _flag_in(value)


def _number(low: _Value, high: _Value) -> int | None:
    """Return the number in two bytes, if known or assumed."""
    low, high = _kept(low), _kept(high)
    if isinstance(low, _Assumed) and isinstance(high, _Assumed):
        return high.number << 8 | low.number
    return None


def _below(low: _Value, top: _Value) -> int | None:
    """Return how far an address on the stack is below the function's entry, from its bytes."""
    if not isinstance(low, _Half) or not isinstance(top, _Half) or low.high or not top.high:
        return None
    return _signed(top.below) if (low.below - top.below) % 256 == 0 else None


def _lowered(value: _Value, by: int | None, carry: int = 0) -> _Value:
    """Return a part of a stack address after the address was lowered."""
    if isinstance(value, _Half) and by is not None:
        return _Half((value.below + by + carry) % 0x10000, value.high)
    return None


def _signed(number: int) -> int:
    """Interpret a 16-bit number as signed."""
    return number - 0x10000 if number >= 0x8000 else number
