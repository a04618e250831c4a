"""What each instruction does to a chip, whatever its bytes are.

After the AVR Instruction Set Manual (DS40002198). `KnownNumbers` computes with numbers, and a
subclass with what it has in their place. A `Processor` has memory, calls and branches.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from typing import Any, Protocol

from protonn_edge.chips.avr.instructions import Decoded
from protonn_edge.chips.avr.program import LinkedProgram

CARRY, ZERO, NEGATIVE, OVERFLOW, SIGN, HALF, TRANSFER, INTERRUPTS = range(8)
Y, Z = 28, 30
"""Pointers, as X, by their lower registers."""
STACK_LOW, STACK_HIGH, SREG = 0x5D, 0x5E, 0x5F
"""Addresses of registers in the data space."""
IO_REGISTERS = 0x20
"""Where I/O registers begin there."""

Operands = Mapping[str, int]

Bits = Any
"""A byte or a flag: a number, None if nothing is known of it, or what a subclass has instead."""


class AnyState(Protocol):
    """A chip in front of an instruction; it has any bytes and flags."""

    registers: list[Bits]
    flags: list[Bits]


class KnownNumbers:
    """Bytes and flags that are numbers; of any others nothing is known, which is None.

    Subclasses know more. Flags are changed in place, in a list of all eight.
    """

    def sum(
        self, flags: list[Bits], a: Bits, b: Bits, carry: Bits, sign: int, *, chain: bool = False
    ) -> Bits:
        """Add two bytes, or subtract, and set flags; with `chain`, Z stays clear if it is."""
        if not _are_numbers(a, b, carry):
            flags[:TRANSFER] = [None] * TRANSFER
            return None
        total = a + sign * (b + carry)
        result = total & 255
        flags[CARRY] = total >> 8 & 1
        flags[HALF] = (a ^ b ^ result) >> 4 & 1
        flags[NEGATIVE] = negative = result >> 7
        flags[OVERFLOW] = over = ((a ^ result) & (b ^ result if sign > 0 else a ^ b)) >> 7
        flags[SIGN] = negative ^ over
        self.set_zero(flags, result, chain=chain)
        return result

    def set_zero(self, flags: list[Bits], result: Bits, *, chain: bool) -> None:
        """Set Z by a byte and, with `chain`, by those below it."""
        flags[ZERO] = flags[ZERO] if chain and result == 0 else int(result == 0)

    def product(self, flags: list[Bits], a: Bits, b: Bits, signed: tuple[bool, bool]) -> list[Bits]:
        """Return the bytes of a product, and set flags."""
        if not _are_numbers(a, b):
            flags[CARRY] = flags[ZERO] = None
            return [None, None]
        a, b = (each - (each >> 7 << 8) * of for each, of in zip((a, b), signed, strict=True))
        total = a * b & 0xFFFF
        flags[CARRY], flags[ZERO] = total >> 15, int(total == 0)
        return [total & 255, total >> 8]

    def halved(self, flags: list[Bits], value: Bits, above: Bits, *, signed: bool) -> Bits:
        """Shift a byte and a flag above it to the right, or its own sign, and set flags."""
        if not _are_numbers(value, above):
            flags[:HALF] = [None] * HALF
            return None
        result = value >> 1 | (value & 128 if signed else above << 7)
        self.set_signs(flags, result)
        flags[CARRY] = flags[SIGN] = value & 1
        flags[OVERFLOW] = result >> 7 ^ value & 1
        return result

    def set_signs(self, flags: list[Bits], result: Bits) -> None:
        """Set the flags of a result that has no carries."""
        if not _are_numbers(result):
            flags[ZERO:HALF] = [None] * (HALF - ZERO)
            return
        flags[ZERO], flags[OVERFLOW] = int(result == 0), 0
        flags[NEGATIVE] = flags[SIGN] = result >> 7

    def complement(self, value: Bits) -> Bits:
        """Return the bits that are not set."""
        return 255 - value if _are_numbers(value) else None

    def both(self, a: Bits, b: Bits) -> Bits:
        """Return the bits that are set in two bytes."""
        return a & b if _are_numbers(a, b) else None

    def either(self, a: Bits, b: Bits) -> Bits:
        """Return the bits that are set in one of two bytes."""
        return a | b if _are_numbers(a, b) else None

    def exclusive(self, a: Bits, b: Bits) -> Bits:
        """Return the bits that are set in one of two bytes, and not in both."""
        return a ^ b if _are_numbers(a, b) else None

    def swapped(self, value: Bits) -> Bits:
        """Return a byte whose halves are exchanged."""
        return value << 4 & 240 | value >> 4 if _are_numbers(value) else None

    def flag_of(self, value: Bits, number: int) -> Bits:
        """Return a bit of a byte."""
        return value >> number & 1 if _are_numbers(value) else None

    def with_flag(self, value: Bits, number: int, flag: Bits) -> Bits:
        """Return a byte with another bit."""
        return value & ~(1 << number) | flag << number if _are_numbers(value, flag) else None

    def equal(self, a: Bits, b: Bits) -> Bits:
        """Return whether two bytes are equal, as a flag."""
        return int(a == b) if _are_numbers(a, b) else None


def _are_numbers(*values: Bits) -> bool:
    return all(isinstance(each, int) for each in values)


class Processor(ABC):
    """A chip with a program; places in its data space are what `address` returns."""

    program: LinkedProgram
    arithmetic: KnownNumbers

    @abstractmethod
    def address(self, low: Bits, high: Bits, offset: int = 0) -> Bits:
        """Return the place that a pointer is at, and an offset behind it."""

    @abstractmethod
    def moved(self, low: Bits, high: Bits, by: int) -> list[Bits]:
        """Return the bytes of a pointer that is incremented or decremented."""

    @abstractmethod
    def load(self, state: Bits, place: Bits) -> Bits:
        """Return the byte at a place."""

    @abstractmethod
    def store(self, state: Bits, place: Bits, value: Bits) -> None:
        """Set the byte at a place."""

    @abstractmethod
    def flash(self, state: Bits, place: Bits) -> Bits:
        """Return a byte of flash."""

    @abstractmethod
    def push(self, state: Bits, value: Bits) -> None:
        """Put a byte onto the stack."""

    @abstractmethod
    def pop(self, state: Bits) -> Bits:
        """Take a byte off the stack."""

    @abstractmethod
    def target(self, state: Bits) -> int:
        """Return the place in code that Z has."""

    @abstractmethod
    def jump(self, state: Bits, target: int) -> Bits:
        """Go to a place."""

    @abstractmethod
    def enter(self, state: Bits, function: int, back: int) -> Bits:
        """Call a function."""

    @abstractmethod
    def leave(self, state: Bits) -> Bits:
        """Return from a function."""

    @abstractmethod
    def part(self, state: Bits, flag: Bits, taken: int, other: int) -> Bits:
        """Go to a place if a flag is set, else to another one."""

    @abstractmethod
    def set_bit(self, state: Bits, register: int, number: int, bit: int) -> None:
        """Set a bit of an I/O register."""

    @abstractmethod
    def bit(self, state: Bits, register: int, number: int) -> Bits:
        """Return a bit of an I/O register, as a flag."""


Action = Callable[[Bits, Bits, Operands, Decoded], Bits]
"""What an instruction does, given a `Processor` and an `AnyState` in front of the next one.

It returns what the method returns that decides where code goes on.
"""


def _sum(cpu: Processor, state: AnyState, o: Operands, here: Decoded) -> None:
    r, flags = state.registers, state.flags
    carry = flags[CARRY] if here.name == "adc" else 0
    r[o["d"]] = cpu.arithmetic.sum(flags, r[o["d"]], r[o["r"]], carry, 1)


def _difference(cpu: Processor, state: AnyState, o: Operands, here: Decoded) -> Bits:
    r, chain = state.registers, here.name.startswith(("sbc", "cpc"))
    a, b = r[o["d"]], r[o["r"]] if "r" in o else o["K"]
    if o.get("r") == o["d"]:
        a = b = 0
    carry = state.flags[CARRY] if chain else 0
    return cpu.arithmetic.sum(state.flags, a, b, carry, -1, chain=chain)


def _subtract(cpu: Processor, state: AnyState, o: Operands, here: Decoded) -> None:
    state.registers[o["d"]] = _difference(cpu, state, o, here)


def _compare(cpu: Processor, state: AnyState, o: Operands, here: Decoded) -> None:
    _difference(cpu, state, o, here)


def _neg(cpu: Processor, state: AnyState, o: Operands, _: Decoded) -> None:
    r = state.registers
    r[o["d"]] = cpu.arithmetic.sum(state.flags, 0, r[o["d"]], 0, -1)


def _com(cpu: Processor, state: AnyState, o: Operands, _: Decoded) -> None:
    result = state.registers[o["d"]] = cpu.arithmetic.complement(state.registers[o["d"]])
    cpu.arithmetic.set_signs(state.flags, result)
    state.flags[CARRY] = 1


def _increment(cpu: Processor, state: AnyState, o: Operands, here: Decoded) -> None:
    r, flags = state.registers, state.flags
    carry, half = flags[CARRY], flags[HALF]
    r[o["d"]] = cpu.arithmetic.sum(flags, r[o["d"]], 1, 0, 1 if here.name == "inc" else -1)
    flags[CARRY], flags[HALF] = carry, half


def _pair(cpu: Processor, state: AnyState, o: Operands, here: Decoded) -> None:
    r, flags, low = state.registers, state.flags, o["d"]
    half, sign = flags[HALF], 1 if here.name == "adiw" else -1
    r[low] = cpu.arithmetic.sum(flags, r[low], o["K"], 0, sign)
    r[low + 1] = cpu.arithmetic.sum(flags, r[low + 1], 0, flags[CARRY], sign, chain=True)
    flags[HALF] = half


def _bitwise(method: str) -> Action:
    """Return the action of AND, OR or EOR: a method of `KnownNumbers`, and flags."""

    def act(cpu: Processor, state: AnyState, o: Operands, _: Decoded) -> None:
        r = state.registers
        other = r[o["r"]] if "r" in o else o["K"]
        result = r[o["d"]] = getattr(cpu.arithmetic, method)(r[o["d"]], other)
        cpu.arithmetic.set_signs(state.flags, result)

    return act


_both, _either, _unlike = (_bitwise(each) for each in ("both", "either", "exclusive"))


def _exclusive(cpu: Processor, state: AnyState, o: Operands, here: Decoded) -> None:
    if o["d"] == o["r"]:  # 0, whatever it is
        state.registers[o["d"]] = 0
    _unlike(cpu, state, o, here)


def _shift(cpu: Processor, state: AnyState, o: Operands, here: Decoded) -> None:
    r, flags, signed = state.registers, state.flags, here.name == "asr"
    above = flags[CARRY] if here.name == "ror" else 0
    r[o["d"]] = cpu.arithmetic.halved(flags, r[o["d"]], above, signed=signed)


def _swap(cpu: Processor, state: AnyState, o: Operands, _: Decoded) -> None:
    state.registers[o["d"]] = cpu.arithmetic.swapped(state.registers[o["d"]])


def _bst(cpu: Processor, state: AnyState, o: Operands, _: Decoded) -> None:
    state.flags[TRANSFER] = cpu.arithmetic.flag_of(state.registers[o["d"]], o["b"])


def _bld(cpu: Processor, state: AnyState, o: Operands, _: Decoded) -> None:
    value, flag = state.registers[o["d"]], state.flags[TRANSFER]
    state.registers[o["d"]] = cpu.arithmetic.with_flag(value, o["b"], flag)


def _set_flag(_: Processor, state: AnyState, o: Operands, here: Decoded) -> None:
    state.flags[o["s"]] = int(here.name == "bset")


def _mul(cpu: Processor, state: AnyState, o: Operands, here: Decoded) -> None:
    r, signed = state.registers, (here.name != "mul", here.name == "muls")
    r[:2] = cpu.arithmetic.product(state.flags, r[o["d"]], r[o["r"]], signed)


def _mov(_: Processor, state: AnyState, o: Operands, __: Decoded) -> None:
    state.registers[o["d"]] = state.registers[o["r"]]


def _movw(_: Processor, state: AnyState, o: Operands, __: Decoded) -> None:
    r = state.registers
    r[o["d"] : o["d"] + 2] = r[o["r"] : o["r"] + 2]


def _ldi(_: Processor, state: AnyState, o: Operands, __: Decoded) -> None:
    state.registers[o["d"]] = o["K"]


def _address(cpu: Processor, state: AnyState, here: Decoded) -> Bits:
    """Return the place of a load or store, and move its pointer."""
    pointer, r = here.pointer, state.registers
    if pointer is None:
        return here.operands["k"]
    if here.moved is None:
        return cpu.address(r[pointer], r[pointer + 1], here.operands.get("q", 0))
    before = r[pointer], r[pointer + 1]
    after = r[pointer : pointer + 2] = cpu.moved(*before, -1 if here.decrements else 1)
    return cpu.address(*(after if here.decrements else before))


def _load(cpu: Processor, state: AnyState, o: Operands, here: Decoded) -> None:
    state.registers[o["d"]] = cpu.load(state, _address(cpu, state, here))


def _store(cpu: Processor, state: AnyState, o: Operands, here: Decoded) -> None:
    cpu.store(state, _address(cpu, state, here), state.registers[o["d"]])


def _lpm(cpu: Processor, state: AnyState, o: Operands, here: Decoded) -> None:
    state.registers[o.get("d", 0)] = cpu.flash(state, _address(cpu, state, here))


def _push(cpu: Processor, state: AnyState, o: Operands, _: Decoded) -> None:
    cpu.push(state, state.registers[o["d"]])


def _pop(cpu: Processor, state: AnyState, o: Operands, _: Decoded) -> None:
    state.registers[o["d"]] = cpu.pop(state)


def _in(cpu: Processor, state: AnyState, o: Operands, _: Decoded) -> None:
    state.registers[o["d"]] = cpu.load(state, IO_REGISTERS + o["A"])


def _out(cpu: Processor, state: AnyState, o: Operands, _: Decoded) -> None:
    cpu.store(state, IO_REGISTERS + o["A"], state.registers[o["r"]])


def _set_bit(cpu: Processor, state: AnyState, o: Operands, here: Decoded) -> None:
    cpu.set_bit(state, o["A"], o["b"], int(here.name == "sbi"))


def _jump(cpu: Processor, state: AnyState, o: Operands, _: Decoded) -> Bits:
    return cpu.jump(state, o["k"] if "k" in o else cpu.target(state))


def _call(cpu: Processor, state: AnyState, o: Operands, here: Decoded) -> Bits:
    return cpu.enter(state, o["k"] if "k" in o else cpu.target(state), here.end)


def _return(cpu: Processor, state: AnyState, _: Operands, __: Decoded) -> Bits:
    return cpu.leave(state)


def _branch(cpu: Processor, state: AnyState, o: Operands, here: Decoded) -> Bits:
    ways = (o["k"], here.end) if here.name == "brbs" else (here.end, o["k"])
    return cpu.part(state, state.flags[o["s"]], *ways)


def _skip(cpu: Processor, state: AnyState, o: Operands, here: Decoded) -> Bits:
    after, r = cpu.program.reached(here.end).end, state.registers
    if here.name == "cpse":
        flag = 1 if o["d"] == o["r"] else cpu.arithmetic.equal(r[o["d"]], r[o["r"]])
    elif "A" in o:
        flag = cpu.bit(state, o["A"], o["b"])
    else:
        flag = cpu.arithmetic.flag_of(r[o["d"]], o["b"])
    ways = (here.end, after) if here.name in ("sbrc", "sbic") else (after, here.end)
    return cpu.part(state, flag, *ways)


def _nop(*_: object) -> None:
    pass


_NAMES: Mapping[Action, str] = {
    _sum: "add adc",
    _subtract: "sub sbc subi sbci",
    _compare: "cp cpc cpi",
    _both: "and andi",
    _either: "or ori",
    _exclusive: "eor",
    _increment: "inc dec",
    _pair: "adiw sbiw",
    _shift: "lsr ror asr",
    _set_flag: "bset bclr",
    _mul: "mul muls mulsu",
    _load: "ld ldd lds",
    _store: "st std sts",
    _set_bit: "sbi cbi",
    _skip: "sbrc sbrs cpse sbic sbis",
    _branch: "brbs brbc",
    _jump: "rjmp jmp ijmp",
    _call: "call rcall icall",
    _return: "ret reti",
    _com: "com",
    _neg: "neg",
    _swap: "swap",
    _bst: "bst",
    _bld: "bld",
    _mov: "mov",
    _movw: "movw",
    _ldi: "ldi",
    _lpm: "lpm",
    _push: "push",
    _pop: "pop",
    _in: "in",
    _out: "out",
    _nop: "nop",
}
ACTIONS: Mapping[str, Action] = {
    name: action for action, names in _NAMES.items() for name in names.split()
}
"""By the names of instructions: all but ELPM, SPM, EIJMP, EICALL, SLEEP, WDR and BREAK."""

_ELSEWHERE = (_load, _store, _set_bit, _skip, _branch, _jump, _call, _return)
COMPUTING = ACTIONS.keys() - {"lpm", "push", "pop", "in", "out", "nop"}
COMPUTING -= {name for action in _ELSEWHERE for name in _NAMES[action].split()}
"""Instructions that change registers and flags alone."""
