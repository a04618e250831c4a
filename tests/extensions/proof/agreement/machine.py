"""An AVR whose registers hold any kind of values: its state, and the arithmetic of its flags."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import NamedTuple, Protocol

from extensions.proof.agreement.values import Lanes, Value

from protonn_edge.chips.avr.instructions import Decoded, decode
from protonn_edge.extensions.proof.order import CallFrame

FLAGS = "CZNVSHTI"
Flag = Callable[[], Value]


class Memory(Protocol):
    """What a machine reads and writes; an address is a value of 16 bits."""

    def load(self, address: Value) -> Value:
        """Return a byte of the data space."""

    def store(self, address: Value, value: Value) -> None:
        """Set one."""

    def flash(self, address: Value) -> Value:
        """Return a byte of flash."""


class Carried(NamedTuple):
    """A flag from where ways met. It is gone where ways meet again: nothing has used it."""

    bit: Flag

    def __call__(self) -> Value:
        """Return its bit."""
        return self.bit()


class State:
    """A machine in front of an instruction."""

    def __init__(self, place: int, registers: list[Value], stack: int, memory: Memory) -> None:
        self.place = place
        self.registers = registers
        self.stack = stack
        self.memory = memory
        self.flags: dict[str, Flag] = {}
        # of the functions under way: how far they are, and where they were called
        self.frames: list[CallFrame] = []
        self.calls: list[int] = []

    def copy(self, registers: list[Value], memory: Memory) -> State:
        """Return a copy with other values, without flags."""
        state = State(self.place, registers, self.stack, memory)
        state.frames, state.calls = [each.copy() for each in self.frames], [*self.calls]
        return state

    def flag(self, name: str) -> Value:
        """Return the bit of a flag, which is computed when it is first asked for."""
        bit = self.flags[name]()
        self.flags[name] = lambda: bit
        return bit

    def carry(self, one: State, other: State, joined: Callable[[Value, Value], Value]) -> None:
        """Take the flags of two states that meet."""
        for name in one.flags.keys() & other.flags.keys():
            if name == "T":
                bit = joined(one.flag(name), other.flag(name))
                self.flags[name] = lambda bit=bit: bit
            elif not any(isinstance(each.flags[name], Carried) for each in (one, other)):
                self.flags[name] = Carried(lambda n=name: joined(one.flag(n), other.flag(n)))


@cache  # a function is called in many ways
def instruction_of(code: bytes, place: int) -> Decoded:
    """Return the instruction at a byte address of a program."""
    decoded = decode(code, place)
    assert decoded is not None, f"no instruction at 0x{place:x}"
    return decoded


class Machine:
    """A chip with a program in its flash."""

    def __init__(self, code: bytes, values: Lanes) -> None:
        self.code, self.values = code, values

    def instruction(self, place: int) -> Decoded:
        """Return the instruction at a byte address."""
        return instruction_of(self.code, place)

    # ---- flags ----

    def signs(self, state: State, result: Value, bits: int = 8) -> None:
        part, flags = self.values.part, state.flags
        flags["N"] = lambda: part(result, bits - 1, 1)
        flags["S"] = lambda: self.xor(state.flag("N"), state.flag("V"))
        flags["Z"] = lambda: self.values.equal(result, 0)

    def added(self, state: State, a: Value, b: Value, carry: Value) -> Value:
        v = self.values
        total = v.total(a, b, carry, 1)
        result, twice = v.part(total, 0, 8), a is b
        state.flags |= {
            "C": lambda: v.part(a, 7, 1) if twice else v.part(total, 8, 1),
            "H": lambda: v.part(a ^ b ^ result, 4, 1),
            "V": lambda: v.part((a ^ result) & (b ^ result), 7, 1),
        }
        self.signs(state, result)
        return result

    def carry(self, state: State) -> Value:
        """Return C. A compiler adds it where it is shifted out again, whatever it is."""
        state.flags.setdefault("C", self.values.unknown_bit)
        return state.flag("C")

    def subtracted(self, state: State, a: Value, b: Value, carry: Value, *, on: bool) -> Value:
        """Subtract; `on` says whether Z stays clear if it is, as behind lower bytes."""
        v = self.values
        total = v.total(a, b, carry, -1)
        result, before = v.part(total, 0, 8), state.flags.get("Z")
        state.flags |= {
            "C": lambda: v.part(total, 8, 1),
            "H": lambda: v.part(a ^ b ^ result, 4, 1),
            "V": lambda: v.part((a ^ b) & (a ^ result), 7, 1),
        }
        self.signs(state, result)
        if on:
            assert before is not None
            state.flags["Z"] = lambda: self.both(v.equal(result, 0), before())
        return result

    def both(self, a: Value, b: Value) -> Value:
        """Return bits that are set in two values of a size."""
        for one, other in ((a, b), (b, a)):
            if isinstance(one, int) and one == 0:
                return 0
            if one is other:
                return one
        return a & b

    def xor(self, a: Value, b: Value) -> Value:
        """Return bits that differ."""
        for one, other in ((a, b), (b, a)):
            if isinstance(one, int) and one == 0:
                return other
        return a ^ b

    def set_bit(self, value: Value, number: int, bit: Value) -> Value:
        """Return the value with a bit, which was clear."""
        if isinstance(bit, int):
            return value | bit << number if bit else value
        return value | self.values.zext(bit, 8) << number

    def pair(self, state: State, low: int) -> Value:
        """Return a pair of registers."""
        return self.values.joined(state.registers[low + 1], state.registers[low])

    def set_pair(self, state: State, low: int, value: Value) -> None:
        """Set one."""
        part = self.values.part
        state.registers[low : low + 2] = part(value, 0, 8), part(value, 8, 8)
