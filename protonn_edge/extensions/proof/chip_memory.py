"""The memory, registers and stack of a chip under proof, and its tables in flash."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from protonn_edge.chips.avr.program import LinkedProgram
from protonn_edge.chips.avr.semantics import INTERRUPTS, IO_REGISTERS, SREG, STACK_HIGH, STACK_LOW
from protonn_edge.extensions.proof import eeprom
from protonn_edge.extensions.proof.algebra import Algebra
from protonn_edge.extensions.proof.arithmetic import Arithmetic
from protonn_edge.extensions.proof.data_space import DataSpace, Place
from protonn_edge.extensions.proof.forms import Unproven, Value, byte_of, single
from protonn_edge.extensions.proof.state import ChipState, Status


class ChipMemory(DataSpace):
    """What a program can read and write.

    Attributes
    ----------
    flash_read : set of int
        Places of tables in flash that were read.
    tables : dict of int to Value
        Bytes of flash that are others than the program's.
    eeprom : dict of int to Value
        The bytes of the EEPROM that may be read; without any, its registers may not be used.
    """

    def __init__(
        self, program: LinkedProgram, algebra: Algebra, initial: Mapping[int, int]
    ) -> None:
        super().__init__(algebra, initial)
        self.program, self.code = program, program.code
        self.arithmetic = Arithmetic(algebra)
        self.flash_read: set[int] = set()  # places of tables
        self.tables: dict[int, Value] = {}
        self.eeprom: dict[int, Value] = {}

    def load(self, state: ChipState, place: Place) -> Any:
        """Return the byte at an address, or in a register of the chip."""
        if not isinstance(place, int) or place > SREG:
            return super().load(state, place)
        if place in (STACK_LOW, STACK_HIGH):
            return state.stack[place - STACK_LOW]
        if place == SREG:
            return Status([*state.flags])
        return eeprom.taken(state) if place == eeprom.DATA else self.read(state, place)

    def store(self, state: ChipState, place: Place, value: Any) -> None:
        """Set the byte at an address, or in a register of the chip."""
        if not isinstance(place, int) or place > SREG:
            super().store(state, place, value)
        elif place in (STACK_LOW, STACK_HIGH):
            self._set_stack(state, place - STACK_LOW, value)
        elif place == SREG and isinstance(value, Status):
            state.flags = [*value.flags]
        elif place == SREG and value is not None:
            for number in range(INTERRUPTS + 1):
                state.flags[number] = self.arithmetic.flag_of(value, number)
        elif self.eeprom and place in eeprom.ADDRESS:
            state.memory[place] = value
        else:
            self.write(state, place, value)

    def _set_stack(self, state: ChipState, half: int, value: object) -> None:
        state.stack[half] = value
        if half == 0:
            self.clear_below(state)
            return
        behind = self.program.reached(state.place)
        if behind.name == "out" and behind.operands["A"] == SREG - IO_REGISTERS:
            behind = self.program.reached(behind.end)  # the next one is still undisturbed
        low_follows = behind.name == "out" and behind.operands["A"] == STACK_LOW - IO_REGISTERS
        if state.flags[INTERRUPTS] != 0 or not low_follows:
            raise Unproven("an interrupt may occur between the bytes of the stack pointer")

    def flash(self, state: ChipState, place: Place) -> Any:
        """Return a byte of flash."""
        code = self.code
        if isinstance(place, int):
            if place >= len(code):
                raise Unproven("it reads flash behind the program")
            self.flash_read.add(place)
            return self.tables.get(place, code[place])
        root, addresses = place
        mask, inside = state.reached(root), addresses < len(code)
        if not inside[mask].all():
            raise Unproven("it reads flash behind the program")
        values = np.frombuffer(code, np.uint8)[np.where(inside, addresses, 0)]
        self.flash_read.update(addresses[inside & mask].tolist())
        values = np.where(mask, values, values[np.argmax(mask)])
        return byte_of(single(root, values), 0)

    def set_bit(self, state: ChipState, register: int, number: int, bit: int) -> None:
        """Let the EEPROM be read; no other bit is set."""
        if (register, number, bit) != (eeprom.CONTROL, eeprom.READ, 1):
            raise Unproven(f"it writes I/O 0x{register:x}")
        eeprom.read(self, state, self.eeprom)

    def bit(self, _: ChipState, register: int, number: int) -> int:
        """Return that no byte of the EEPROM is being written; no other bit is read."""
        if not self.eeprom or (register, number) != (eeprom.CONTROL, eeprom.WRITING):
            raise Unproven(f"it reads I/O 0x{register:x}")
        return 0

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
