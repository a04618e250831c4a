"""A chip whose bytes are parts of sums of tables: its memory, stack and program."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np

from protonn_edge.chips.avr.instructions import Decoded
from protonn_edge.chips.avr.program import LinkedProgram
from protonn_edge.extensions.proof.algebra import Algebra
from protonn_edge.extensions.proof.arithmetic import Arithmetic
from protonn_edge.extensions.proof.data_space import DataSpace, any_bit, anything
from protonn_edge.extensions.proof.forms import (
    Bit,
    Byte,
    Order,
    Root,
    Unproven,
    Value,
    same,
    variable,
)
from protonn_edge.extensions.proof.liveness import registers_of
from protonn_edge.extensions.proof.state import INTERRUPTS, ChipState
from protonn_edge.system.errors import CheckFailed

RETURN = 1 << 25
"""Where the outermost function returns to: no address of three bytes."""


class Fork(NamedTuple):
    """Where a program goes on: here if the bit is set, else there."""

    bit: Bit | Order
    taken: int
    other: int


_COMPUTING = {
    "add", "adc", "sub", "sbc", "subi", "sbci", "cp", "cpc", "cpi", "and", "andi", "or", "ori",
    "eor", "com", "neg", "inc", "dec", "adiw", "sbiw", "lsr", "ror", "asr", "swap", "mul", "muls",
    "mulsu", "bst", "bld",
}  # fmt: skip
"""Instructions that change registers and flags alone."""

Operands = Mapping[str, int]
Action = Callable[["Machine", ChipState, Operands, Decoded], Fork | None]


class Machine(DataSpace):
    """A chip with a program.

    Attributes
    ----------
    executed : dict of int to tuple
        The instructions that were executed, by their places.
    flash_read : set of int
        Places of tables in flash that were read.
    tables : dict of int to Value
        Bytes of flash that are others than the program's.
    eeprom : dict of int to Value
        The bytes of the EEPROM that may be read; without any, its registers may not be used.
    chooses : bool
        Whether each value that depends on a comparison of two sums gets a name where paths meet, as
        a rule about the largest scores or a counter needs it. Else only the larger of two bytes
        does: other programs have fewer states without names.
    """

    def __init__(
        self,
        program: LinkedProgram,
        actions: Mapping[str, Action],
        initial: Mapping[int, int] | None = None,
        algebra: Algebra | None = None,  # another one, such as that of a program to compare with
    ) -> None:
        self.program, self._actions = program, actions
        self.code = program.code
        super().__init__(algebra or Algebra(), initial or {})
        self.arithmetic = Arithmetic(self.algebra)
        self.flash_read: set[int] = set()  # places of tables
        self.tables: dict[int, Value] = {}
        self.eeprom: dict[int, Value] = {}
        self.chooses = False
        # the return address of the outermost call, which no program knows
        bytes_of_address = range(program.core.return_bytes)
        self.back = [Byte(variable(Root(f"back{k}", np.arange(256))), 0) for k in bytes_of_address]
        self.executed: dict[int, tuple[Action, Decoded]] = {}

    def step(self, state: ChipState) -> Fork | None:
        """Execute an instruction; return the ways on if inputs decide between two."""
        known = self.executed.get(state.place)
        if known is None:
            try:
                here = self.program.reached(state.place)
            except CheckFailed as failure:
                raise Unproven(str(failure)) from None
            if here.name not in self._actions:
                raise Unproven(f"the instruction {here.name}")
            known = self.executed[state.place] = self._actions[here.name], here
        action, here = known
        state.place = here.end
        self.algebra.facts, self.algebra.masks = state.facts, state.masks
        try:
            return action(self, state, here.operands, here)
        except Unproven as reason:
            if self.kept and here.name in _COMPUTING:
                self._leave_open(state, here)
                return None
            where = self.program.names.name_of(here.address)
            raise Unproven(f"{reason} ({here.name} at 0x{here.address:x}, {where})") from None

    def _leave_open(self, state: ChipState, here: Decoded) -> None:
        """Let all that an instruction computes be anything: it may be needed for counters alone."""
        for number in range(32):
            if registers_of(here)[1] >> number & 1:
                state.registers[number] = anything()
        state.flags[:INTERRUPTS] = [any_bit() for _ in range(INTERRUPTS)]

    def _move_stack(self, state: ChipState, by: int) -> None:
        low, high = state.stack
        state.stack = self.moved(low, high, by)

    def push(self, state: ChipState, value: object) -> None:
        """Put a byte onto the stack."""
        self._move_stack(state, -1)
        self.write(state, self.top(state) + 1, value)

    def pop(self, state: ChipState) -> Any:
        """Take a byte off the stack."""
        value = self.read(state, self.top(state) + 1)
        self._move_stack(state, 1)
        self.clear_below(state)
        return value

    def enter(self, state: ChipState, function: int, back: int | None = None) -> None:
        """Call a function, which returns to an address, or from the outermost call."""
        for number, byte in enumerate(self.back):
            self.push(state, byte if back is None else back >> 8 * number + 1 & 255)
        state.place = function

    def left(self, state: ChipState) -> int:
        """Return from a function; return where to, or RETURN."""
        popped = [self.pop(state) for _ in self.back][::-1]
        if all(same(*each) for each in zip(popped, self.back, strict=True)):
            return RETURN
        if not all(isinstance(each, int) for each in popped):
            raise Unproven("the return address is lost")
        return sum(byte << 8 * k + 1 for k, byte in enumerate(popped))
