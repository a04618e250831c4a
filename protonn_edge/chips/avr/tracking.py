"""Follow the stack pointer and the interrupt flag through instructions.

Memory has no other content that is known, and of calls and branches nothing is stated here.
"""

from __future__ import annotations

from protonn_edge.chips.avr.bounded import BY_POINTER, NoBound
from protonn_edge.chips.avr.instructions import Decoded, written_by
from protonn_edge.chips.avr.program import LinkedProgram
from protonn_edge.chips.avr.semantics import (
    CARRY,
    INTERRUPTS,
    SREG,
    STACK_HIGH,
    STACK_LOW,
    Processor,
)
from protonn_edge.chips.avr.state import (
    OFF,
    UNWRITTEN,
    Half,
    Slot,
    StackAddresses,
    State,
    Value,
    below,
    flag_in,
    number,
)
from protonn_edge.system.errors import CheckFailed

_STACK_POINTER = (STACK_LOW, STACK_HIGH)


class StackTracker(Processor):
    """A chip of which the stack is known.

    Attributes
    ----------
    name : str
        The function that is followed, for messages.
    here : Decoded
        The instruction that is executed.
    flags : dict of int to frozenset of str
        Where the interrupt flag is set, to what (`state`).
    """

    here: Decoded

    def __init__(self, program: LinkedProgram, entry: int) -> None:
        self.program, self.arithmetic = program, StackAddresses()
        self.entry, self.name = entry, program.names.name_of(entry)
        self.flags: dict[int, frozenset[str]] = {}

    def address(self, low: Value, high: Value, offset: int = 0) -> int | Slot | None:
        """Return a data address or a place on the stack, if it is known."""
        if (known := number(low, high)) is not None:
            return known + offset
        distance = below(low, high)
        return None if distance is None else Slot(distance - offset)

    def moved(self, low: Value, high: Value, by: int) -> list[Value]:
        """Return the bytes of a pointer that is incremented or decremented."""
        flags: list[Value] = [None] * (INTERRUPTS + 1)
        low = self.arithmetic.sum(flags, low, 1, 0, by)
        return [low, self.arithmetic.sum(flags, high, 0, flags[CARRY], by)]

    def load(self, state: State, place: int | Slot | None) -> Value:
        """Return what is known of a byte."""
        if isinstance(place, Slot):
            return state.read(place)
        if place == SREG:
            return state.flag
        return Half(state.depth, place == STACK_HIGH) if place in _STACK_POINTER else None

    def store(self, state: State, place: int | Slot | None, value: Value) -> None:
        """Set a byte, if it is one of the stack, or a register."""
        if isinstance(place, Slot):
            if -self.program.core.return_bytes <= place.below < 0:
                raise NoBound(
                    "stack",
                    self.name,
                    f"overwrites its return address at 0x{self.here.address:x}",
                    "call functions by their names instead",
                )
            state.write(place, value)
        elif place in _STACK_POINTER:
            self._set_stack_pointer(state, value, high=place == STACK_HIGH)
        elif place == SREG:
            self.note(state, flag_in(value))
            state.flags = [None] * INTERRUPTS + [flag_in(value)]
        elif place is not None and place < len(state.registers):
            state.registers[place] = value

    def _set_stack_pointer(self, state: State, value: Value, *, high: bool) -> None:
        """Set half of the stack pointer; only the start-up code sets it to a number."""
        halves = (state.pointer[0], value) if high else (value, state.pointer[1])
        state.pointer = halves
        if not isinstance(value, int | Half):
            raise self.lost()
        if None in halves:
            return
        depth = below(*halves)
        if all(isinstance(each, int) for each in halves) and self.entry == 0:
            depth = 0
        if depth is None or depth < 0:
            raise self.lost()
        state.move(depth)
        state.pointer = UNWRITTEN

    def flash(self, *_: object) -> None:
        """Return nothing of what is in flash."""

    def push(self, state: State, value: Value) -> None:
        """Put a byte onto the stack."""
        state.push(value)

    def pop(self, state: State) -> Value:
        """Take a byte off the stack."""
        if state.depth == 0:
            raise self.lost()
        return state.pop()

    def set_bit(self, *_: object) -> None:
        """Leave I/O registers alone: those of the stack pointer and SREG have no such bits."""

    def bit(self, *_: object) -> None:
        """Return nothing of a bit of an I/O register."""

    def note(self, before: State, flag: frozenset[str]) -> None:
        """Note that an instruction sets the interrupt flag."""
        if not (flag == before.flag == OFF):
            self.flags[self.here.address] = flag

    def forget(self, state: State) -> None:
        """Forget what an instruction may change that is not stated."""
        if self.here.name in {"eijmp", "eicall"}:
            raise self.by_pointer()
        for register in written_by(self.here):
            state.registers[register] = None

    # ---- why there is no bound ----

    def by_pointer(self) -> CheckFailed:
        """Return that a call or jump goes to an unknown place."""
        return NoBound("stack", self.name, BY_POINTER, "call the function by its name")

    def lost(self) -> CheckFailed:
        """Return that the stack pointer is unknown."""
        return NoBound(
            "stack",
            self.name,
            f"moves the stack pointer at 0x{self.here.address:x} by an unknown number of "
            "bytes, or above its own stack",
            "give its arrays fixed sizes, and pop only what it pushed",
        )
