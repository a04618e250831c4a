"""The EEPROM of a chip under proof, which is read through I/O registers, and never written.

Its registers are those of the ATmega328P. What a proof does not put into `Machine.eeprom` is not
read. No byte is being written: this is a condition of the claim.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from protonn_edge.extensions.proof.forms import Unproven, Value
from protonn_edge.extensions.proof.state import ChipState

if TYPE_CHECKING:
    from protonn_edge.extensions.proof.machine import Machine

CONTROL, DATA, ADDRESS = 0x1F, 0x20, (0x21, 0x22)
"""I/O registers; a state has them in its memory, where no variables are."""
READ, WRITING = 0, 1  # bits of the first
_FIRST = 0x20  # the address of I/O register 0


def write(state: ChipState, register: int, value: Value) -> None:
    """Set a byte of the address."""
    state.memory[_FIRST + register] = value


def read(machine: Machine, state: ChipState) -> None:
    """Let the data register be the byte at the address."""
    place = machine.place(*(state.memory.pop(_FIRST + each, None) for each in ADDRESS))
    if not isinstance(place, int) or place not in machine.eeprom:
        raise Unproven("it reads the EEPROM at an unknown place")
    state.memory[_FIRST + DATA] = machine.eeprom[place]


def taken(state: ChipState) -> Value:
    """Return the byte in the data register, once."""
    if _FIRST + DATA not in state.memory:
        raise Unproven("it reads the EEPROM's data before an address")
    byte: Value = state.memory.pop(_FIRST + DATA)
    return byte
