"""What is known of the stack pointer at an instruction, and how the instruction changes it.

Compilers reserve local variables by computing with copies of the stack pointer, byte by byte. So a
`State` records for each register which part of which stack address it holds, if any.
"""

from __future__ import annotations

from typing import NamedTuple

from protonn_edge.avr import instructions
from protonn_edge.avr.instructions import Decoded

_Y, Z = 28, 30  # pointers
_IO_REGISTERS = 0x20  # where they begin, in data addresses
_SPL, _SPH, _SREG = 0x5D, 0x5E, 0x5F  # data addresses
_FLAG = 1 << instructions.INTERRUPT_FLAG
_ON = "on"  # a byte in which this bit is set


class _Half(NamedTuple):
    """One byte of an address on the stack."""

    below: int  # bytes from the address up to the stack pointer at the function's entry
    high: bool


_Value = int | _Half | str | None
"""What a register holds: a number, a part of an address on the stack, `_ON`, or anything."""

_KEPT_BY_CALLS = frozenset({*range(2, 18), _Y, _Y + 1})
_LOW_BYTE_SUMS = frozenset({"subi", "sub", "add"})
# Instructions that change no register, though they have one as an operand.
_READERS = frozenset(
    {"cp", "cpc", "cpi", "cpse", "std", "st", "sts", "push", "out", "sbrc", "sbrs", "sbic", "sbis"}
    | {"sbi", "cbi", "bst", "bset", "bclr", "brbs", "brbc", "nop", "wdr", "sleep", "break", "spm"}
)
# Those that leave the carry flag as it is.
_CARRY_KEEPERS = frozenset(
    {"ldi", "mov", "movw", "in", "out", "push", "pop", "swap", "nop"}
    | {"ld", "ldd", "lds", "st", "std", "sts", "lpm", "elpm"}
)


class State(NamedTuple):
    """The known registers and stack before an instruction."""

    depth: int = 0  # bytes on the stack below the function's return address
    # the contents of the 32 registers; at a function's entry r1 is 0
    registers: tuple[_Value, ...] = (None, 0, *[None] * 30)
    # the halves of a new stack pointer, low and high, while only one is written
    pointer: tuple[_Value, _Value] = (None, None)
    # how much the last addition to the low byte of a stack address took from it
    carry: int | None = None
    starts_anew: bool = False  # the stack pointer was set to a constant, as the start-up code does
    # the values of the last pushes that were not popped yet
    pushed: tuple[_Value, ...] = ()

    def merged(self, other: State) -> State:
        """Return the state where two paths meet: the larger depth, and registers equal in both."""
        if self == other:
            return self
        return State(
            max(self.depth, other.depth),
            tuple(
                mine if mine == yours else None
                for mine, yours in zip(self.registers, other.registers, strict=True)
            ),
            self.pointer if self.pointer == other.pointer else (None, None),
            self.carry if self.carry == other.carry else None,
            pushed=self.pushed if self.pushed == other.pushed else (),
        )

    def after_call(self) -> State:
        """Return the state after a function was called: it keeps the registers that it must."""
        registers = [
            value if number in _KEPT_BY_CALLS else None
            for number, value in enumerate(self.registers)
        ]
        registers[1] = 0
        return State(self.depth, tuple(registers), pushed=self.pushed)

    def after(self, here: Decoded) -> State | None:
        """Return the state after an instruction, or None if the stack pointer is lost."""
        name = here.name
        if (written := self._written(here)) is not None and written[0] in {_SPL, _SPH}:
            return self._after_pointer_write(written[0] == _SPH, written[1])
        depth = self.depth + (name == "push") - (name == "pop")
        carry = self.carry if name in _CARRY_KEEPERS else None
        changed = self._results(here)
        if name in _LOW_BYTE_SUMS:
            carry = self._taken(here)
        return State(
            depth,
            self._registers_with(changed),
            self.pointer,
            carry,
            pushed=self._pushed_after(here),
        )

    def enables_interrupts(self, here: Decoded) -> bool:
        """Return whether an instruction sets the interrupt flag, by SEI or by writing to SREG."""
        if here.name == "bset":
            return here.operands["s"] == instructions.INTERRUPT_FLAG
        address, value = self._written(here) or (None, None)
        return address == _SREG and (value == _ON or (isinstance(value, int) and value >= _FLAG))

    def _written(self, here: Decoded) -> tuple[int, _Value] | None:
        """Return the data address that an instruction writes to, if it is known, and the value."""
        operands = here.operands
        if here.name == "out":
            return operands["A"] + _IO_REGISTERS, self.registers[operands["r"]]
        if here.name == "sts":
            return operands["k"], self.registers[operands["d"]]
        base = self.number_in(_Y if operands["y"] else Z) if here.name == "std" else None
        return base if base is None else (base + operands["q"], self.registers[operands["d"]])

    def number_in(self, register: int) -> int | None:
        """Return the number in a register and the next one, if it is known."""
        low, high = self.registers[register : register + 2]
        if isinstance(low, int) and isinstance(high, int):
            return high << 8 | low
        return None

    def _registers_with(self, changed: dict[int, _Value]) -> tuple[_Value, ...]:
        if not changed:
            return self.registers
        registers = list(self.registers)
        for number, value in changed.items():
            registers[number] = value
        return tuple(registers)

    def _pushed_after(self, here: Decoded) -> tuple[_Value, ...]:
        if here.name == "push":
            return (*self.pushed, self.registers[here.operands["d"]])
        return self.pushed[:-1] if here.name == "pop" else self.pushed

    def _after_pointer_write(self, high: bool, value: _Value) -> State | None:
        """Return the state after half of the stack pointer was written."""
        halves = (self.pointer[0], value) if high else (value, self.pointer[1])
        low, top = halves
        if value is None:
            return None
        if low is None or top is None:
            return self._replace(pointer=halves)
        if isinstance(low, int) and isinstance(top, int):
            return self._replace(depth=0, pointer=(None, None), starts_anew=True, pushed=())
        if not isinstance(low, _Half) or not isinstance(top, _Half) or low.high or not top.high:
            return None
        if (low.below - top.below) % 256 != 0:
            return None
        return self._replace(depth=_signed(top.below), pointer=(None, None), pushed=())

    def _results(self, here: Decoded) -> dict[int, _Value]:
        """Return the registers that an instruction changes, with their known contents."""
        name, operands = here.name, here.operands
        results: dict[int, _Value] = {}
        if here.moved is not None:
            results |= {here.moved: None, here.moved + 1: None}
        if name in _READERS:
            return results
        if name in {"mul", "muls", "mulsu", "fmul", "fmuls", "fmulsu"}:
            return {0: None, 1: None}
        if name in {"lpm", "elpm"} and "d" not in operands:
            return {0: None}
        target = operands["d"]
        if name == "movw":
            source = operands["r"]
            return {target: self.registers[source], target + 1: self.registers[source + 1]}
        if name in {"adiw", "sbiw"}:
            taken = operands["K"] if name == "sbiw" else -operands["K"]
            pair = self.registers[target : target + 2]
            return {target: _lowered(pair[0], taken), target + 1: _lowered(pair[1], taken)}
        return results | {target: self._result(here)}

    def _result(self, here: Decoded) -> _Value:  # noqa: PLR0911  (one per instruction)
        """Return the register contents after an instruction with one result."""
        name, operands = here.name, here.operands
        old = self.registers[operands["d"]]
        match name:
            case "ldi":
                return operands["K"]
            case "pop":
                return self.pushed[-1] if self.pushed else None
            case "mov":
                return self.registers[operands["r"]]
            case "eor" if operands["d"] == operands["r"]:
                return 0
            case "in" if operands["A"] + _IO_REGISTERS in {_SPL, _SPH}:
                return _Half(self.depth, operands["A"] + _IO_REGISTERS == _SPH)
            case "or" | "ori" | "bld":
                sets = (
                    operands.get("K", _FLAG) >= _FLAG
                    and operands.get("b", 7) == instructions.INTERRUPT_FLAG
                )
                return _ON if sets else None
            case "dec" | "inc" if isinstance(old, _Half) and old.high:
                return _lowered(old, 256 if name == "dec" else -256)
            case "subi" | "sub" | "add":
                return _lowered(old, self._taken(here))
            case "sbci" | "sbc" | "adc" if self.carry is not None:
                return _lowered(old, self._taken(here), self.carry)
        return None

    def _amount(self, here: Decoded) -> int | None:
        """Return the second operand of a sum, if it is a known number."""
        operands = here.operands
        amount = operands["K"] if "K" in operands else self.registers[operands["r"]]
        return amount if isinstance(amount, int) else None

    def _taken(self, here: Decoded) -> int | None:
        """Return by how much a sum with one byte of a stack address lowers the address."""
        amount = self._amount(here)
        old = self.registers[here.operands["d"]]
        if amount is None or not isinstance(old, _Half):
            return None
        return (-amount if here.name in {"add", "adc"} else amount) * (256 if old.high else 1)


def _lowered(value: _Value, by: int | None, carry: int = 0) -> _Value:
    """Return a part of a stack address after the address was lowered."""
    if isinstance(value, _Half) and by is not None:
        return _Half((value.below + by + carry) % 0x10000, value.high)
    return None


def _signed(number: int) -> int:
    """Return a number of 16 bits as one with a sign."""
    return number - 0x10000 if number >= 0x8000 else number
